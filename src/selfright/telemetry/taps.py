"""A tap: what stands between a port and its user, and notes each call or answers it.

It sees calls as values: the port, what was asked, with which arguments. It asks the port itself, or knows the reply.
Replies are written as JSON, and read, by the type that the port's protocol declares: what comes back is of these types
alone, so a file can make nothing run.
"""

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, TypeVar, cast, get_type_hints

from pydantic import TypeAdapter

from selfright.domain import errors, ports
from selfright.domain.answers import Message
from selfright.domain.chat import Finish
from selfright.domain.errors import SelfrightError
from selfright.domain.slots import Profile

T = TypeVar("T")
P = TypeVar("P")

MODEL, WEB = "model", "web"
ModelReply = tuple[str, Finish, int | None, int | None, int]
"""Text, finish, tokens sent and received, characters left out: see ``llm.backend.RawReply``."""

TAPPED: dict[str, tuple[type, tuple[str, ...]]] = {
    "retriever": (ports.Retriever, ("search",)),
    "router": (ports.Router, ("route", "suffices")),
    "web": (ports.WebSearch, ("search",)),
    "profiles": (ports.ProfileMemory, ("remember",)),
    "grader": (ports.Grader, ("grade",)),
    "generator": (ports.Generator, ("generate",)),
    "strategy": (ports.RefineStrategy, ("refine",)),
    "abstainer": (ports.Abstainer, ("should_abstain",)),
}
"""By name: a port's protocol, and the methods that pass a tap. The first four a replay cannot decide again from the
recording: the index, the web, what is stored of a user. Roles decide anew, and are tapped by evaluations."""


@dataclass(frozen=True, slots=True)
class PortCall:
    """One call of a port. ``arguments`` are all that the result depends on, flags that act inside included."""

    port: str
    method: str
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """``port.method``."""
        return f"{self.port}.{self.method}"


class Tap(Protocol):
    """Stands between a port and its user."""

    def around(self, call: PortCall) -> AbstractContextManager[list[Any]]:
        """Around a call: a list with the reply, or an empty one, into which the port's own reply is put."""


async def through(tap: Tap, call: PortCall, ask: Callable[[], Awaitable[T]]) -> T:
    """The reply to a call; ``ask`` gets it from the port itself."""
    with tap.around(call) as replied:
        if not replied:
            replied.append(await ask())
    return cast("T", replied[0])


def through_now(tap: Tap, call: PortCall, ask: Callable[[], T]) -> T:
    """Like ``through``, for a method that is no coroutine."""
    with tap.around(call) as replied:
        if not replied:
            replied.append(ask())
    return cast("T", replied[0])


def intercept(port: P, tap: Tap, name: str, inside: tuple[Any, ...] = ()) -> P:
    """The port, with the tap on the methods that ``TAPPED`` has for ``name``; its other methods are as they were.

    ``inside``: what else results depend on, such as the flags that a search was made for.
    """
    return cast("P", _Tapped(port, tap, name, inside))


class _Tapped:
    """A port as its users see it: what the protocol has, and no more."""

    def __init__(self, port: Any, tap: Tap, name: str, inside: tuple[Any, ...]) -> None:
        self._port = port
        self._protocol, methods = TAPPED[name]
        for method in methods:
            signature, waits = _declaration(self._protocol, method)

            def called(
                *given: Any,
                _method: str = method,
                _signature: inspect.Signature = signature,
                _through: Callable[..., Any] = through if waits else through_now,
                **named: Any,
            ) -> Any:
                call = PortCall(name, _method, (*_recorded_arguments(_signature, given, named), *inside))
                return _through(tap, call, partial(getattr(port, _method), *given, **named))

            setattr(self, method, called)

    def __getattr__(self, name: str) -> Any:
        if name not in vars(self._protocol):
            raise AttributeError(f"{self._protocol.__name__} has no '{name}'")
        return getattr(self._port, name)


@cache
def _declaration(protocol: type, method: str) -> tuple[inspect.Signature, bool]:
    """What a method of a protocol takes, and whether one waits for it."""
    declared = getattr(protocol, method)
    return inspect.signature(partial(declared, None)), inspect.iscoroutinefunction(declared)


def _recorded_arguments(signature: inspect.Signature, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    bound = signature.bind(*given, **named)
    bound.apply_defaults()
    return [tuple(value) if isinstance(value, list | tuple) else value for value in bound.arguments.values()]


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
