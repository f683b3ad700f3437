"""A service looks for garbage more often than a command does."""

import gc
import weakref

from selfright.server.running import settle_memory


class Knot:
    """Holds itself, as a closed connection of asyncio does."""

    def __init__(self) -> None:
        self.self = self


def test_what_holds_itself_goes_within_ten_thousand_objects() -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(50_000)
        settle_memory()
        left = weakref.ref(Knot())
        kept = [[] for _ in range(10_000)]
        assert len(kept) == 10_000
        assert left() is None
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
