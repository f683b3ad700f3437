"""Errors as the service tells them: one form, OpenAI's, and no word about the machine it runs on."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from selfright.domain import errors
from selfright.domain.errors import SelfrightError, UnknownName, UnreadableFile
from selfright.domain.tables import read_table
from selfright.schemas import fault_of
from selfright.wire.answers import ErrorBody, ErrorReply

MOST_MESSAGE = 500
_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


class Refused(HTTPException):
    """A request that is turned down: ``code`` is for programs, the message for people.

    ``retry_after`` are the seconds after which it may be tried again, ``headers`` more of the reply's.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        headers = dict(headers or {})
        if retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(retry_after)))
        if code == "overloaded":
            headers["Connection"] = "close"  # a new one may reach another worker
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(status, message, headers or None)
        self.code = code
        self.param = param

    def body(self) -> ErrorBody:
        """The error as it is sent."""
        kind = _TYPES.get(self.status_code) or ("server_error" if self.status_code >= 500 else "invalid_request_error")
        return ErrorBody(message=self.detail[:MOST_MESSAGE], type=kind, code=self.code, param=self.param)

    def response(self) -> Response:
        """ASCII JSON with the error's status and headers."""
        content = json.dumps(ErrorReply(error=self.body()).model_dump(), ensure_ascii=True).encode()
        return Response(content, self.status_code, self.headers, media_type="application/json")


# What an operator must put right is told without the message: that names files of this machine.
_TOLD: tuple[tuple[type[SelfrightError], int, str, str | None, float | None], ...] = (
    (errors.SessionBusy, 409, "session_busy",
     "another turn of this session is running; wait for it, then try again", 1),
    (errors.SessionLost, 409, "session_lost", "another turn took this session over; look at it, then ask again", 1),
    (errors.StoreUnavailable, 503, "database_unavailable",
     "what the service keeps cannot be reached now; try again", 2),
    (errors.IndexBusy, 503, "index_busy", "the index is being written by another program; try again in a moment", 5),
    (errors.IndexNotFound, 404, "index_not_found", "there is nothing to search yet; upload a document first", None),
    (errors.StoreError, 503, "store_unusable", "what the service keeps cannot be used now; its log says why", 30),
    (errors.UsageError, 400, "bad_request", None, None),
    (errors.InputError, 400, "bad_request", None, None),
    (errors.ModelUnavailable, 503, "model_unavailable", "the language model cannot be reached now; try again", 5),
    (errors.EmbeddingFailed, 503, "model_unavailable", "the embedding model cannot be reached now; try again", 5),
    (errors.ModelRejected, 502, "model_rejected",
     "the language model turned the call down; the service's log says why", None),
    (errors.BudgetSpent, 503, "budget_spent", "the limits of a turn leave no room for an answer; raise them", 30),
    (errors.ModelError, 502, "model_failed", "the reply of a model could not be used; try again", 1),
    (errors.WebError, 502, "web_failed", "the web could not be searched; try again", 1),
)  # fmt: skip


def refusal_of(error: SelfrightError) -> Refused:
    """What a caller is told of an error of ours."""
    if isinstance(error, UnknownName) and error.kind == "collection":
        return Refused(404, "collection_not_found", "there is no such collection", param="collections")
    if isinstance(error, UnreadableFile):  # without its path
        return Refused(422, "unreadable", error.why)
    for kind, status, code, message, retry_after in _TOLD:
        if isinstance(error, kind):
            return Refused(status, code, message or str(error), retry_after=retry_after)
    return Refused(500, "internal", "the service is not set up for this; its log says why")


def no_session(session: str) -> Refused:
    """What a caller is told of a session that there is not for its key."""
    message = f"there is no session '{session}'; a question under that name begins one"
    return Refused(404, "session_not_found", message, param="session")


def unusable_body(found: Sequence[Mapping[str, Any]]) -> Refused:
    """The first thing that is wrong with a request, with its place."""
    if not found:
        return Refused(400, "bad_request", "the request cannot be used; compare it with /openapi.json")
    first = found[0]
    if first["type"] == "json_invalid":
        return Refused(400, "bad_json", f"JSON was expected, but it breaks off or is none: {first['ctx']['error']}")
    if isinstance(first.get("input"), bytes):  # what came under another type is not read
        told = "JSON was expected, but the body is of another type; add 'Content-Type: application/json'"
        return Refused(415, "no_json", told, param="body")
    place = ".".join(map(str, first["loc"][1:])) or "body"  # behind "body", "query" or "path"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Refused(400, "bad_request", f"'{place}': {fault_of(first)}{more}", param=place[:100])


DOCUMENTED: dict[int | str, dict[str, Any]] = {
    int(status): {"model": ErrorReply, "description": description}
    for status, description in read_table(__package__, "errors")["documented"].items()
}
