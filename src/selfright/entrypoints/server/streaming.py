"""Server-sent events: frames as they come, a heartbeat while none comes, and an end when the caller hangs up."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from selfright.entrypoints.server.middleware import ClientGone

T = TypeVar("T")
_HEARTBEAT = b": still at work\n\n"
_WAITING_FRAMES = 64


def frame(data: dict[str, Any] | str, event: str | None = None) -> bytes:
    """One event of the stream; ``data`` is sent as one line of JSON."""
    line = data if isinstance(data, str) else json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return (f"event: {event}\n" if event else "").encode() + f"data: {line}\n\n".encode()


class EventStream(Response):
    """Sends what ``frames`` yields; ``at_end`` is called once, however it ends.

    The frames are made in one task from beginning to end, for time-outs inside belong to the task that entered them.
    """

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes, None], at_end: Callable[[], None], heartbeat_s: float) -> None:
        super().__init__()
        self._frames, self._at_end, self._heartbeat_s = frames, at_end, heartbeat_s
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream. Raises ``ClientGone`` when the caller hangs up."""
        del scope
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING_FRAMES)
        maker = asyncio.create_task(self._make(queue))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await unless_gone(receive, self._pass_on(queue, send))
            await maker
        finally:
            maker.cancel()
            with suppress(asyncio.CancelledError):
                await maker
            self._at_end()

    async def _make(self, queue: "asyncio.Queue[bytes | None]") -> None:
        async with aclosing(self._frames):
            async for each in self._frames:
                await queue.put(each)
        await queue.put(None)

    async def _pass_on(self, queue: "asyncio.Queue[bytes | None]", send: Send) -> None:
        while True:
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    each = await queue.get()
            except TimeoutError:
                each = _HEARTBEAT
            await send({"type": "http.response.body", "body": each or b"", "more_body": each is not None})
            if each is None:
                return


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives; when the caller hangs up it is cancelled, and ``ClientGone`` raised."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
