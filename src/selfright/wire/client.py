"""The client of the service: what the page, and a script that asks and uploads, need to talk to it over HTTP.

>>> with Client("http://127.0.0.1:8000") as client:      # doctest: +SKIP
...     print(client.ask("How do I install it?").answer)
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter, ValidationError

from selfright.domain.errors import MissingExtra, ServiceError, ServiceUnreachable
from selfright.domain.text import several
from selfright.domain.traces import Rating
from selfright.schemas import AnswerReply
from selfright.wire import answers, user_data

if TYPE_CHECKING:
    import httpx

__all__ = ["Client", "Rating", "ServiceError", "ServiceUnreachable", "forwarding_header"]

DEFAULT_URL = "http://127.0.0.1:8000"
TIMEOUT_S = 330.0  # longer than a turn may take
_ASK, _PROFILE = "/v1/ask", "/v1/profiles/me"
_CONNECT_S = 5.0
R = TypeVar("R")
File = str | Path | tuple[str, bytes]
"""A file to send: where it is, or its name and its content."""


class Client:
    """Talks to the service at ``url`` with an API ``key``, where it asks for one. Close it when done.

    ``transport`` is one of httpx's, for tests and proxies. Every call raises ``ServiceError`` for a request that was
    turned down, and ``ServiceUnreachable`` when there is no answer.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        MissingExtra.check("what the client needs", "server", "httpx")
        import httpx

        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout_s, connect=_CONNECT_S),
            transport=transport,
            trust_env=False,  # a proxy has no business between a page and the service of the same machine
        )

    def ask(self, question: str, **options: Any) -> AnswerReply:
        """The answer to a question; ``options`` are those of ``AskRequest``."""
        return self._send(AnswerReply, "POST", _ASK, _ask_body(question, options))

    def stream(self, question: str, **options: Any) -> Generator[answers.TurnEvent, None, None]:
        """The turn as it happens, up to ``DoneEvent``; the turn is broken off when this is closed before."""
        body = _body(_ask_body(question, options, stream=True))
        with _reachable(), self._http.stream("POST", _ASK, json=body) as response:
            if response.status_code != 200:
                raise _refusal(response.status_code, response.read(), response.headers)
            for event in _events(response.iter_lines()):
                yield event
                if isinstance(event, answers.DoneEvent):
                    return
        raise ServiceUnreachable("the stream broke off before the answer was complete; ask again", code="broken_off")

    def documents(self, after: str = "", limit: int = 100, named: str = "") -> answers.DocumentsReply:
        """A page of the documents; with ``named`` of those that have it in their title or id."""
        page = {"after": after, "limit": limit, "named": named}
        return self._send(answers.DocumentsReply, "GET", "/v1/documents", params=page)

    def upload(self, files: File | Iterable[File], collection: str | None = None) -> answers.UploadReply:
        """Adds files to the index, into ``collection`` or the one that the key is for."""
        form = {"collection": collection} if collection else {}
        return self._send(answers.UploadReply, "POST", "/v1/documents", files=_parts(files), data=form)

    def delete_document(self, document_id: str) -> None:
        """Removes a document."""
        self._send(user_data.DeletedReply, "DELETE", f"/v1/documents/{_quote(document_id)}")

    def collections(self) -> list[answers.CollectionLine]:
        """The collections that may be searched."""
        return self._send(answers.CollectionsReply, "GET", "/v1/collections").collections

    def sessions(self) -> list[user_data.SessionInfo]:
        """The conversations that are kept, the one used last first."""
        return self._send(user_data.SessionsReply, "GET", "/v1/sessions").sessions

    def session(self, name: str) -> user_data.SessionReply:
        """What was said in a conversation."""
        return self._send(user_data.SessionReply, "GET", f"/v1/sessions/{_quote(name)}")

    def forget(self, name: str) -> int:
        """Deletes a conversation; gives back how many there were."""
        return self._send(user_data.DeletedReply, "DELETE", f"/v1/sessions/{_quote(name)}").deleted

    def profile(self, language: str = "en") -> user_data.ProfileReply:
        """What is remembered of one, with its summary in a language."""
        return self._send(user_data.ProfileReply, "GET", _PROFILE, params={"language": language})

    def correct_profile(self, facts: Mapping[str, Any]) -> user_data.ProfileReply:
        """Corrects a profile: what is given for a kind takes the place of what stood; an empty value ends it."""
        return self._send(user_data.ProfileReply, "PATCH", _PROFILE, user_data.Facts(facts=dict(facts)))

    def erase_profile(self) -> int:
        """Erases a profile for good; gives back how many facts went."""
        return self._send(user_data.DeletedReply, "DELETE", _PROFILE).deleted

    def rate(self, trace_id: str, rating: Rating | None) -> user_data.RatingReply:
        """Says whether an answer helped; None takes it back."""
        path = f"/v1/traces/{_quote(trace_id)}/rating"
        return self._send(user_data.RatingReply, "POST", path, user_data.RatingRequest(rating=rating))

    def me(self) -> user_data.WhoReply:
        """Who one is to the service, and what it offers."""
        return self._send(user_data.WhoReply, "GET", "/v1/me")

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _send(self, reply: type[R], method: str, path: str, body: BaseModel | None = None, **content: Any) -> R:
        if body is not None:
            content["json"] = _body(body)
        with _reachable():
            response = self._http.request(method, path, **content)
        if response.status_code >= 300:
            raise _refusal(response.status_code, response.content, response.headers)
        try:
            return TypeAdapter(reply).validate_json(response.content)
        except ValidationError as error:
            message = f"the reply of {path} has not the form of this version ({error.error_count()} differences)"
            raise ServiceError(message, status=response.status_code) from None


def _ask_body(question: str, options: Mapping[str, Any], *, stream: bool = False) -> answers.AskRequest:
    named = {"collections": list(several(options.get("collections", ())))}
    return answers.AskRequest.model_validate({"question": question, "stream": stream, **options, **named})


def _body(body: BaseModel) -> dict[str, Any]:
    return body.model_dump(mode="json", exclude_unset=True)


def _events(lines: Iterable[str]) -> Iterator[answers.TurnEvent]:
    """The events of a stream. Raises ``ServiceError`` for one that tells of an error."""
    for line in lines:
        if not line.startswith("data:"):  # the data of an event is one line
            continue
        try:
            event = answers.read_event(line.removeprefix("data:"))
        except ValueError:
            raise ServiceError("the stream has an event that this version does not know; update the client") from None
        if isinstance(event, answers.ErrorReply):
            raise ServiceError(event.error.message, code=event.error.code)
        yield event


def _refusal(status: int, content: bytes, headers: Mapping[str, str]) -> ServiceError:
    """The error that a reply without success tells of, whoever sent it."""
    message, code = f"status {status} came instead of an answer; is this the address of a Selfright service?", ""
    with suppress(ValidationError):
        error = answers.ErrorReply.model_validate_json(content).error
        message, code = error.message, error.code
    wait = headers.get("retry-after", "")
    return ServiceError(message, status=status, code=code, retry_after=float(wait) if wait.isdigit() else None)


def _quote(name: str) -> str:
    """The name as one part of a path; dots alone would lead out of it."""
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def _parts(files: File | Iterable[File]) -> list[tuple[str, tuple[str, bytes]]]:
    """The parts of a form that sends files; one file may come alone."""
    match files:
        case str() | Path():
            return [("files", (Path(files).name, Path(files).read_bytes()))]
        case (str(name), bytes(content)):
            return [("files", (name, content))]
    return [part for each in files for part in _parts(each)]


_PROXIES = frozenset(
    "forwarded via x-real-ip x-client-ip true-client-ip client-ip x-cluster-client-ip x-proxyuser-ip cdn-loop "
    "x-host x-scheme x-url-scheme".split()
)
_FROM_PROXIES = (
    "x-forwarded",
    "x-original-",
    "x-envoy-",
    "x-amz",
    "x-azure-",
    "x-appengine-",
    "cf-",
    "fly-",
    "fastly-",
)


def forwarding_header(names: Iterable[str]) -> str | None:
    """The first of these names of headers that only a proxy, a balancer or a CDN sends, in lower case."""
    lower = (name.lower() for name in names)
    return next((name for name in lower if name in _PROXIES or name.startswith(_FROM_PROXIES)), None)


@contextmanager
def _reachable() -> Generator[None, None, None]:
    """Errors of the connection as one of ours."""
    import httpx

    try:
        yield
    except httpx.TransportError as error:
        raise ServiceUnreachable(
            f"the service did not answer ({type(error).__name__}); check its address, and that it runs",
            code="unreachable",
        ) from error
