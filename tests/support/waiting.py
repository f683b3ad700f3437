"""Waiting for what happens elsewhere, in another process or on another thread; and a clock that need not wait."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


def wait_for(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Until it is true; fails when that takes too long."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


@dataclass
class Clock:
    """A clock that stands still until somebody moves it, or sleeps by it."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
