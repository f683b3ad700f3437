"""One client for each event loop."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

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
            kept = await asyncio.to_thread(self._made, loop)
        if not kept.guarded:
            kept.guarded = True
            await anext(kept.guard)
        return kept.value

    async def aclose(self) -> None:
        """Closes the running loop's value; another is made when it is asked for again."""
        kept = self._kept.get(asyncio.get_running_loop())
        if kept is not None:
            await kept.guard.aclose()

    def _made(self, loop: asyncio.AbstractEventLoop) -> _Kept[T]:
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
