"""Values of a turn as JSON, and back: what a port replies by the type that its protocol declares.

What comes back is of these types alone, so a file can make nothing run.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from selfright.domain import errors
from selfright.domain.answers import Message
from selfright.domain.chat import Finish
from selfright.domain.errors import SelfrightError
from selfright.domain.slots import Profile
from selfright.telemetry.taps import TAPPED

MODEL, WEB = "model", "web"
ModelReply = tuple[str, Finish, str | dict[str, Any] | None, int | None, int | None, int]
"""Text, finish, arguments, tokens sent and received, characters left out: see ``llm.backend.RawReply``."""

_START: Mapping[str, TypeAdapter[Any]] = {
    "messages": TypeAdapter(tuple[Message, ...]),
    "given_profile": TypeAdapter(Profile),
}
"""What a turn starts from, as far as it is no plain value."""


@cache
def _reply_type(call: str) -> TypeAdapter[Any]:
    port, _, method = call.partition(".")
    kind: Any = ModelReply if port == MODEL else get_type_hints(getattr(TAPPED[port][0], method))["return"]
    return TypeAdapter(kind)


def dump_reply(call: str, reply: object) -> Any:
    """What ``port.method`` replied, for ``json``. Raises ``ValueError`` for what is of another type."""
    return _reply_type(call).dump_python(reply, mode="json", warnings="error")


def read_reply(call: str, form: Any) -> Any:
    """The reply again. Raises ``ValueError`` for what is of another type, and ``KeyError`` for an unknown port."""
    return _reply_type(call).validate_python(form)


def dump_start(start: Mapping[str, Any]) -> dict[str, Any]:
    """What a turn starts from, for ``json``."""
    return {
        name: _START[name].dump_python(value, mode="json") if name in _START else value for name, value in start.items()
    }


def read_start(form: Mapping[str, Any]) -> dict[str, Any]:
    """What a turn started from. Raises ``ValueError`` for what is of another type."""
    return {name: _START[name].validate_python(value) if name in _START else value for name, value in form.items()}


def digest(value: object) -> str:
    """SHA-256 (hex, 32 digits of it) of a value of records and plain values, the same in every process."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


_DETAILS = ("status", "retry_after", "called", "requests")
_LONGEST = 500


class RecordedError(Exception):
    """An error of another library, of which the recording has the name alone: its text may quote anything."""


def error_form(error: Exception) -> dict[str, Any]:
    """The class of the domain that an error is of, with its words and details; of all other errors just the name."""
    kind = next((base for base in type(error).__mro__ if vars(errors).get(base.__name__) is base), None)
    if kind is None:
        return {"name": type(error).__name__}
    details = {name: getattr(error, name) for name in _DETAILS if hasattr(error, name)}
    return {"name": kind.__name__, "message": str(error)[:_LONGEST], "details": details}


def error_of(form: Mapping[str, Any]) -> Exception:
    """The error again. Raises ``ValueError`` for what is no error's form."""
    match form:
        case {"name": str(name), "message": str(message), "details": {**details}}:
            kind = vars(errors).get(name)
            if not (isinstance(kind, type) and issubclass(kind, SelfrightError)):
                raise ValueError("a recording holds an error of no known kind")
            error: Exception = kind.__new__(kind, message)  # with the words it ended up with, whatever it is made of
            for detail in _DETAILS:
                if isinstance(value := details.get(detail), bool | int | float | None) and detail in details:
                    setattr(error, detail, value)
            return error
        case {"name": "NotImplementedError"}:  # what a model's library says of a mode that it cannot do
            return NotImplementedError()
        case {"name": str(name)} if name.isidentifier():
            return RecordedError(name)
    raise ValueError("a recording holds an error of no known form")
