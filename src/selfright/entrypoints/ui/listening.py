"""A turn's events as they come, with a pause in between now and then: what waits can then be told to stop."""

import queue
import threading
from collections.abc import Generator
from contextlib import closing

from selfright.entrypoints.client import ServiceError, TurnEvent

_WAITING = 64
_TICK_S = 0.3
_Heard = TurnEvent | ServiceError | None


def heard(stream: Generator[TurnEvent, None, None]) -> Generator[TurnEvent | None, None, None]:
    """The events of ``stream``, and None whenever none came for a moment. Raises what it raises of ``ServiceError``.

    The stream is read in a thread of its own. When this is closed before the end the thread closes the stream with
    the next event, and so breaks the turn off.
    """
    waiting: queue.Queue[_Heard] = queue.Queue(_WAITING)
    left = threading.Event()
    threading.Thread(target=_read, args=(stream, waiting, left), daemon=True).start()
    try:
        while True:
            try:
                event = waiting.get(timeout=_TICK_S)
            except queue.Empty:
                yield None
                continue
            if event is None:
                return
            if isinstance(event, ServiceError):
                raise event
            yield event
    finally:
        left.set()


def _read(stream: Generator[TurnEvent, None, None], waiting: "queue.Queue[_Heard]", left: threading.Event) -> None:
    try:
        with closing(stream):
            for event in stream:
                if not _put(waiting, event, left):
                    return
        _put(waiting, None, left)
    except ServiceError as error:
        _put(waiting, error, left)


def _put(waiting: "queue.Queue[_Heard]", event: _Heard, left: threading.Event) -> bool:
    """Whether it was put; not when nobody listens any more."""
    while not left.is_set():
        try:
            waiting.put(event, timeout=_TICK_S)
        except queue.Full:
            continue
        return True
    return False
