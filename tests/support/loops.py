"""One event loop for tests that await many small things one after the other; making a loop for each is slow."""

import asyncio
import atexit
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_runner = asyncio.Runner()
atexit.register(_runner.close)


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine gives."""
    return _runner.run(work)
