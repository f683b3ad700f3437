"""Work beside the event loop: a loop in the background for callers that run none, and threads for what takes long.

What threads have found is shared in ``Recent``.
"""

import asyncio
import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from contextvars import ContextVar
from functools import partial, wraps
from queue import SimpleQueue
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from selfright.domain.errors import UsageError

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")

CLOSED = "this object is closed and can answer no more; open another one"
_THREADS = 32
_SHORT = 2_000  # characters that reading by rules goes through in some ten milliseconds at most


# Whose work it is that is handed to a thread; empty for the service's own, which waits for nobody.
working_for: ContextVar[str] = ContextVar("working_for", default="")


class FairThreads(ThreadPoolExecutor):
    """Threads of an event loop that serves several keys.

    Of one key as many jobs run at once as there are cores, and only its share of them while others have jobs, too. The
    key that runs the fewest comes first.
    """

    def __init__(self, cores: int) -> None:
        super().__init__(_THREADS, thread_name_prefix="selfright-turn")
        self._cores, self._lock = cores, threading.Lock()
        self._waiting: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        self._running: Counter[str] = Counter()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Takes a job of the key in ``working_for``; raises ``RuntimeError`` after ``shutdown``."""
        if not (key := working_for.get()):
            return super().submit(fn, *args, **kwargs)
        future: Future[T] = Future()
        with self._lock:
            self._waiting.setdefault(key, deque()).append((future, partial(fn, *args, **kwargs)))
        self._start()
        return future

    def _start(self) -> None:
        while (job := self._next()) is not None:
            try:
                super().submit(self._work, *job)
            except RuntimeError:  # it is shut down
                job[1].cancel()

    def _next(self) -> "tuple[str, Future[Any], Callable[[], Any]] | None":
        with self._lock:
            share = max(1, self._cores // max(1, len(self._waiting.keys() | self._running.keys())))
            able = [key for key in self._waiting if self._running[key] < share]
            if not able:
                return None
            key = min(able, key=self._running.__getitem__)
            future, work = self._waiting[key].popleft()
            if not self._waiting[key]:
                del self._waiting[key]
            self._running[key] += 1
            return key, future, work

    def _work(self, key: str, future: "Future[Any]", work: Callable[[], Any]) -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
        with self._lock:
            self._running[key] -= 1
            self._running += Counter()  # without zeros
        self._start()


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
        """What ``work`` gives, on a thread; when nobody waits any more it is called off, and its end waited for.

        It keeps no place from its key's other work: who takes long is bounded elsewhere.
        """
        before = working_for.set("")
        task = asyncio.ensure_future(asyncio.to_thread(work))
        working_for.reset(before)
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

    def iterate(self, source: AsyncGenerator[T, None]) -> Generator[T, None, None]:
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


class ChoreThread:
    """Does ``work`` at its beginning, when it is woken, and after the seconds that it gives (None: only when woken).

    Its thread keeps no program from ending; ``ending`` is set to end it.
    """

    def __init__(self, name: str, work: Callable[[], float | None]) -> None:
        self._name, self._work = name, work
        self._woken, self.ending, self._starting = threading.Event(), threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts the thread, if it does not run."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()

    def end(self, patience_s: float | None = None) -> None:
        """Ends the thread, after what is due at once."""
        self.ending.set()
        self.wake()
        if self._thread is not None:
            self._thread.join(patience_s)

    def _run(self) -> None:
        wait: float | None = 0.0
        while True:
            self._woken.wait(wait)
            self._woken.clear()
            is_last = self.ending.is_set()
            wait = self._work()
            if is_last and wait != 0:
                return


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
    with asyncio.Runner(loop_factory=lambda: loop) as runner:  # which ends its tasks, generators and threads
        runner.get_loop().run_forever()


Item = TypeVar("Item")
Found = TypeVar("Found")


class Recent(Generic[Item, Found]):
    """What was found last of ``size`` items, in the place of what was used longest ago. Safe to share between
    threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[Item, Found] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, items: Iterable[Item]) -> dict[Item, Found]:
        """What is known of these items."""
        with self._lock:
            known = {item: self._found[item] for item in items if item in self._found}
            for item in known:
                self._found.move_to_end(item)
        return known

    def keep(self, found: Iterable[tuple[Item, Found]]) -> None:
        """Keeps what was found."""
        with self._lock:
            self._found.update(found)
            while len(self._found) > self._size:
                self._found.popitem(last=False)

    def complete(self, items: Iterable[Item], make: Callable[[Sequence[Item]], Iterable[Found]]) -> list[Found]:
        """What was found of each item, in order; ``make`` is asked once, for those that are not known."""
        items = list(items)
        found = self.find(items)
        if missing := [item for item in dict.fromkeys(items) if item not in found]:
            fresh = list(zip(missing, make(missing), strict=True))
            self.keep(fresh)
            found.update(fresh)
        return [found[item] for item in items]
