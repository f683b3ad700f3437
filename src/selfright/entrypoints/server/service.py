"""What the endpoints work with: the opened Selfright, the limits, the metrics."""

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from starlette.requests import Request

from selfright.domain.errors import IndexNotFound
from selfright.entrypoints.server.admission import TurnLimiter
from selfright.entrypoints.server.callers import Caller
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.limits import Limits
from selfright.entrypoints.server.metrics import Metrics
from selfright.entrypoints.server.readiness import Readiness

if TYPE_CHECKING:
    from selfright.api import Selfright

P = ParamSpec("P")
T = TypeVar("T")
_UPLOADS_WAITING = 8


@dataclass(slots=True)
class Service:
    """One running service; ``draining`` from the moment it is told to end."""

    selfright: "Selfright"
    limits: Limits
    limiter: TurnLimiter
    metrics: Metrics
    started: float = field(default_factory=time.time)
    draining: bool = False
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    uploads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_UPLOADS_WAITING))

    readiness: Readiness = field(init=False)

    def __post_init__(self) -> None:
        self.readiness = Readiness(self._look)

    async def _look(self) -> None:
        await in_thread(self.collections)
        await self.selfright.areachable()

    @asynccontextmanager
    async def taking_in(self) -> AsyncIterator[None]:
        """The right to change the index, one at a time. Raises ``Refused`` (503) where too many wait for it."""
        if self.uploads.locked():
            raise Refused(503, "uploads_waiting", "too many uploads are waiting; try again in a moment", retry_after=10)
        async with self.uploads, self.writing:
            yield

    def collections(self) -> list[str]:
        """The names of the collections that exist; none where there is no index yet."""
        with suppress(IndexNotFound):
            return [collection.name for collection in self.selfright.collections()]
        return []

    async def within(self, caller: Caller, wanted: list[str]) -> tuple[str, ...]:
        """Where to search for the caller; empty means everywhere. Raises ``Refused``."""
        there = await in_thread(self.collections) if wanted or caller.collections else []
        return caller.within(wanted, there)


def service_of(request: Request) -> Service:
    """The service that this request came to."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``work`` gives, on a thread, so that others are served meanwhile."""
    return await asyncio.to_thread(functools.partial(work, *args, **kwargs))
