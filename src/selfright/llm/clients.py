"""What client libraries have in common: one client for each event loop, and what they raise, in our words.

Each library has errors of its own, and they change between versions; so they are told apart by what they carry (a
status, headers, a code), found on the error itself or on what caused it. A provider's own words never get into a
message: they can quote the key or the prompt. They stay in the cause.
"""

import asyncio
import logging
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.resilience import retry_after, seconds_in

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Kept(Generic[T]):
    value: T
    guard: AsyncGenerator[None, None]
    guarded: bool = False


class PerLoop(Generic[T]):
    """Makes a value for each running event loop, and closes it with the loop.

    An asynchronous HTTP client keeps connections open, and they belong to the loop that opened them: a client that
    served one ``asyncio.run`` fails in the next. ``make`` runs on a thread, for it may import a large library;
    ``close`` runs on the value's own loop. Safe to share between threads.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._kept: dict[asyncio.AbstractEventLoop, _Kept[T]] = {}
        self._lock = threading.Lock()

    async def get(self) -> T:
        """The running loop's value. Raises what ``make`` raises."""
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        if kept is None:
            kept = await asyncio.to_thread(self._make_client, loop)
        if not kept.guarded:
            kept.guarded = True
            await anext(kept.guard)
        return kept.value

    async def aclose(self) -> None:
        """Closes the running loop's value; another is made when it is asked for again."""
        kept = self._kept.get(asyncio.get_running_loop())
        if kept is not None:
            await kept.guard.aclose()

    def _make_client(self, loop: asyncio.AbstractEventLoop) -> _Kept[T]:
        with self._lock:
            for closed in [known for known in self._kept if known.is_closed()]:
                del self._kept[closed]
            if loop not in self._kept:
                value = self._make()
                self._kept[loop] = _Kept(value, self._until_the_end(loop, value))
            return self._kept[loop]

    async def _until_the_end(self, loop: asyncio.AbstractEventLoop, value: T) -> AsyncGenerator[None, None]:
        """Waits in a ``yield``: a loop that ends in order (``asyncio.run`` does) closes its generators, and so this."""
        try:
            yield
        finally:
            self._kept.pop(loop, None)
            try:
                await self._close(value)
            except Exception as error:  # the loop ends, and must not fail at that
                log.debug("what an event loop used could not be closed (%s)", type(error).__name__)


_DEPTH = 8  # causes followed
_LATER = (408, 409, 425, 429)  # 4xx that another try can cure
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_NETWORK = ("connect", "network", "protocolerror", "readerror", "writeerror")  # in the names of errors
_WRONG_KEY = ("invalid_api_key", "api_key_invalid")
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")
_OVERFLOW = re.compile(r"context (length|window|size)|maximum context|too many tokens|token limit", re.IGNORECASE)
_WANTS_TLS = re.compile(r"to (?:an )?HTTPS (?:server|port)")  # what Go's servers and nginx say to plain HTTP
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]{1,60}")  # a word such as model_not_found, and nothing that could be a secret
_PARAMETERS = {
    "temperature": "temperature",
    "max_tokens": "limit",
    "max_completion_tokens": "limit",
    "max_output_tokens": "limit",
    "num_predict": "limit",
    "stream_options": "usage",
    "include_usage": "usage",
}
_NAMED = re.compile("|".join(rf"\b{name}\b" for name in _PARAMETERS))


def translate_error(
    error: BaseException, model: str = "the language model", key: str = "the provider's key"
) -> ModelUnavailable | ModelRejected:
    """What ``error`` means; ``model`` names the model and ``key`` the variable of its key in the message.

    An error that nobody knows is taken for "out of reach": a bug in somebody's model must not end a turn.
    """
    if isinstance(error, ModelUnavailable | ModelRejected):
        return error
    status, code = _status(error), _code(error)
    is_no = status is not None and 400 <= status < 500 and status not in _LATER
    if is_no or code in _NO_CREDIT or _too_long(error, code):  # the same call would be turned down again
        told = ", ".join(part for part in (f"status {status}" if status else "", code) if part)
        why = (
            f"{model} turned the call down ({told or type(error).__name__}): {_advice(error, status, code, key, model)}"
        )
        return ModelRejected(why, status=status)
    return ModelUnavailable(_absence(error, status, model), status=status, retry_after=_retry_after(error))


def find_refused_parameter(error: BaseException) -> str | None:
    """Which of our parameters a provider would not have: ``temperature``, ``limit`` (of tokens) or ``usage``.

    None when it named none of them, or when what it minds is the length of the prompt.
    """
    if _status(error) not in (400, 422) or _too_long(error, _code(error)):
        return None
    for one in _chain(error):
        named = getattr(one, "param", None)
        if isinstance(named, str):
            found = _NAMED.search(named)
            return _PARAMETERS[found.group()] if found else None
    found = _NAMED.search(_words(error))
    return _PARAMETERS[found.group()] if found else None


def _advice(error: BaseException, status: int | None, code: str, key: str, model: str) -> str:
    if code in _NO_CREDIT or status == 402:
        return "the account has no credit left; check its plan and billing"
    if _too_long(error, code) or status == 413:
        return "the prompt is too long for it; lower top_k or history_limit, or use a model that reads more"
    if code in _WRONG_KEY or status == 401:
        return f"the key is missing or wrong; check {key}"
    if status == 403:
        return f"{key} gives no access to it; check the account's permissions, or use another model"
    return _advice_on_address(error, status, model)


def _advice_on_address(error: BaseException, status: int | None, model: str) -> str:
    if status == 404:
        return (
            "there is no such model or address; check the model's name, and write the full address as the server's "
            "manual has it, with /chat/completions"
        )
    if "@http://" in model and _WANTS_TLS.search(_words(error)):
        return "it speaks https; write the address with https://"
    return "it would not take the request; check that it is a chat model, and what it can do"


def _absence(error: BaseException, status: int | None, model: str) -> str:
    kind = type(error).__name__
    if status == 429:
        return f"{model} is asked too often (status 429); wait, or ask for a higher limit"
    if status is not None and status >= 400:
        return f"{model} should have answered, but failed with status {status}; try again later"
    causes = list(_chain(error))
    names = " ".join(type(one).__name__.lower() for one in causes)
    if advice := _of_scheme(causes, names, model):
        return f"{model} cannot be reached ({kind}); {advice}"
    if "timeout" in names:
        return f"{model} did not answer in time ({kind}); try again, or allow it more time"
    if any(isinstance(one, OSError) for one in causes) or any(word in names for word in _NETWORK):
        return f"{model} cannot be reached ({kind}); check that the server runs, and its address"
    return f"{model} should have answered, but gave something else or failed ({kind}); try again, or another model"


def _of_scheme(causes: Sequence[BaseException], names: str, model: str) -> str | None:
    """What to write when a connection fails as one does whose ends speak http and https."""
    if "certverif" in names:
        return "its certificate is not trusted: set SSL_CERT_FILE to the file of who issued it"
    tls = "@https://" in model
    signs = ("sslerror", "connecttimeout") if tls else ("readerror", "protocolerror", "connectionreset")
    refused = any(isinstance(one, ConnectionRefusedError) for one in causes)
    if refused or not (tls or "@http://" in model) or not any(sign in names for sign in signs):
        return None
    other = "http" if tls else "https"
    return f"check that the server runs, and write the address with {other}:// if it speaks {other}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, nearest first; of a group its first member."""
    current: BaseException | None = error
    for _ in range(_DEPTH):
        if current is None:
            return
        yield current
        if isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        else:
            current = current.__cause__ or current.__context__


def _status(error: BaseException) -> int | None:
    """The HTTP status of the nearest error that has one; a status of success is none."""
    for one in _chain(error):
        response = getattr(one, "response", None)
        amazons = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
        values = [
            amazons.get("HTTPStatusCode") if isinstance(amazons, Mapping) else None,
            getattr(one, "status_code", None),
            getattr(response, "status_code", None),
            *(getattr(one, name, None) for name in ("status", "http_status", "code")),
        ]
        for given in values:  # OpenAI's client makes text of the codes that other servers give
            value = int(given) if isinstance(given, str) and len(given) == 3 and given.isdecimal() else given
            if isinstance(value, int) and not isinstance(value, bool) and 300 <= value < 600:
                return value
    return None


def _code(error: BaseException) -> str:
    """The provider's word for what went wrong, in lower case: ``model_not_found``; empty when it gave none."""
    for one in _chain(error):
        body = getattr(one, "body", None) or getattr(one, "details", None)
        for value in (getattr(one, "code", None), *_codes(body), getattr(one, "type", None)):
            if isinstance(value, str) and _CODE.fullmatch(value):
                return value.lower()
    return ""


def _codes(body: object) -> Iterator[object]:
    """Codes in a JSON body as OpenAI (``{"error": {"code"}}``) and Google (``details``, ``status``) write it."""
    if not isinstance(body, Mapping):
        return
    inner = body.get("error", body)
    if isinstance(inner, Mapping):
        for detail in _details(inner):
            yield detail.get("reason")
        yield from (inner.get("code"), inner.get("type"), inner.get("status"))


def _details(inner: Mapping[object, object]) -> Iterator[Mapping[object, object]]:
    details = inner.get("details")
    if isinstance(details, list):
        yield from (detail for detail in details[:_DEPTH] if isinstance(detail, Mapping))


def _too_long(error: BaseException, code: str) -> bool:
    """Whether the prompt did not fit."""
    if code in _TOO_LONG or any("contextoverflow" in type(one).__name__.lower() for one in _chain(error)):
        return True
    return _status(error) == 400 and bool(_OVERFLOW.search(_words(error)))


def _words(error: BaseException) -> str:
    """What the provider said: to look for names in, never to be shown."""
    return " ".join(str(one)[:2_000] for one in _chain(error))


def _retry_after(error: BaseException) -> float | None:
    """Seconds that the provider asked to wait, 0 or more; None when it asked for nothing that can be read."""
    for one in _chain(error):
        headers = getattr(getattr(one, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            seconds = retry_after({str(name).lower(): str(value) for name, value in headers.items()})
            if seconds is not None:
                return seconds
        body = getattr(one, "details", None)
        inner = body.get("error", body) if isinstance(body, Mapping) else None
        for detail in _details(inner) if isinstance(inner, Mapping) else ():  # Google says it there: "34s"
            delay = detail.get("retryDelay")
            if isinstance(delay, str) and (seconds := seconds_in(delay.removesuffix("s"))) is not None:
                return seconds
    return None
