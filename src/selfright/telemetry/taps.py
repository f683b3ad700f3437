"""A tap: what stands between a port and its user, and notes each call or answers it.

It sees calls as values: the port, what was asked, with which arguments. It asks the port itself, or knows the reply.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


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

    @property
    def observer(self) -> "Tap | None":
        """A tap for what is always decided anew, as by a role that asks a model: it sees calls and answers none."""
        ...

    async def call(self, call: PortCall, ask: Callable[[], Awaitable[T]]) -> T:
        """The reply to a call; ``ask`` gets it from the port itself."""
        ...

    def call_now(self, call: PortCall, ask: Callable[[], T]) -> T:
        """``call`` for ports that do not wait."""
        ...
