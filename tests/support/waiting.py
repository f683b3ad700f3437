"""Waiting for what happens elsewhere: in another process, or on another thread."""

import time
from collections.abc import Callable


def wait_for(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Until it is true; fails when that takes too long."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)
