"""Work beside the event loop: a loop in the background for callers that run none, and threads for what takes long."""

import asyncio
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing
from functools import wraps
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, TypeVar

from selfright.domain.errors import UsageError

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")

CLOSED = "this object is closed and can answer no more; open another one"
_SHORT = 2_000  # characters that reading by rules goes through in some ten milliseconds at most


async def run_in_thread(length: int, work: Callable[[], T]) -> T:
    """What ``work`` on a text of ``length`` characters gives: in a thread, unless handing over would take longer."""
    return work() if length <= _SHORT else await asyncio.to_thread(work)


class Deadline:
    """How long work on a thread may go on: so many seconds, or until somebody calls it off."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._off = threading.Event()

    @property
    def left(self) -> float:
        """The seconds that are left; 0 when it is over."""
        return 0.0 if self._off.is_set() else max(0.0, self._until - time.monotonic())

    def call_off(self) -> None:
        """Ends it now."""
        self._off.set()

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, on a thread; when nobody waits any more it is called off, and its end waited for."""
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self.call_off()
            await asyncio.gather(task, return_exceptions=True)
            raise


class LoopThread:
    """An event loop on a thread of its own, so that the sync door also works where a loop is running already.

    Raises ``UsageError`` when it is used after ``close``.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives; it is cancelled when waiting for it is interrupted."""
        try:
            loop = self._start()
        except UsageError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def started(self) -> bool:
        """Whether anything has run here yet."""
        return self._loop is not None

    def iterate(self, source: AsyncGenerator[T, None]) -> Iterator[T]:
        """What the generator yields, one by one; its work is cancelled when the caller stops early."""
        items: SimpleQueue[tuple[T] | None] = SimpleQueue()  # bounded by the generator, which ends by itself

        async def pump() -> None:
            # One task from beginning to end: time-outs inside a generator belong to the task that entered them.
            try:
                async with aclosing(source):
                    async for item in source:
                        items.put((item,))
            finally:
                items.put(None)

        loop = self._start()
        future = asyncio.run_coroutine_threadsafe(pump(), loop)
        try:
            while (item := items.get()) is not None:
                yield item[0]
            future.result()
        finally:
            if not future.done():
                future.cancel()
                while items.get() is not None:
                    pass

    def close(self) -> None:
        """Stops the loop, if it was ever started."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            self._closed = True
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise UsageError(CLOSED)
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="selfright", daemon=True)
                self._thread.start()
            return self._loop


def blocking(method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[S, P], T]:
    """The method ``aname`` of an object with a ``LoopThread`` in ``_loop``, as ``name``, for callers without a loop."""
    name = method.__name__

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = self._loop.run(getattr(self, name)(*args, **kwargs))
        return result

    call.__name__ = name.removeprefix("a")
    call.__qualname__ = method.__qualname__.removesuffix(name) + call.__name__
    return call


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_cancel_all(asyncio.all_tasks(loop)))
        loop.run_until_complete(loop.shutdown_asyncgens())  # what waits in a generator for the loop's end is closed
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _cancel_all(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
