"""A tap: what stands between a port and its user, and notes each call or answers it.

It sees calls as values: the port, what was asked, with which arguments. It asks the port itself, or knows the reply.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, TypeVar, cast

from selfright.domain import ports
from selfright.domain.flags import Flags

T = TypeVar("T")
P = TypeVar("P")

# What a replay cannot decide again from the recording: the index, the web, what is stored of a user. Roles decide anew.
RECORDED = ("retriever", "router", "web", "profiles")
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
"""By the name that recordings know a port by: its protocol, and the methods that pass a tap."""


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

    async def call(self, call: PortCall, ask: Callable[[], Awaitable[T]]) -> T:
        """The reply to a call; ``ask`` gets it from the port itself."""

    def call_now(self, call: PortCall, ask: Callable[[], T]) -> T:
        """``call`` for ports that do not wait."""


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
                _through: Callable[..., Any] = tap.call if waits else tap.call_now,
                **named: Any,
            ) -> Any:
                call = PortCall(name, _method, (*_recorded_arguments(_signature, given, named), *inside))
                return _through(call, partial(getattr(port, _method), *given, **named))

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
    """The arguments that a result depends on: not who listens to it, and of the flags whether one may abstain."""
    bound = signature.bind(*given, **named)
    bound.apply_defaults()
    return [_plain(value) for parameter, value in bound.arguments.items() if parameter != "say"]


def _plain(value: Any) -> Any:
    if isinstance(value, Flags):
        return value.abstention_enabled
    return tuple(value) if isinstance(value, list | tuple) else value
