"""What the endpoints work with: the opened Selfright, the limits, the metrics, its readiness, and who asks."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request

from selfright.background import ChoreThread, Deadline
from selfright.domain.errors import IndexNotFound, SelfrightError
from selfright.domain.text import compose_name
from selfright.domain.turns import DEFAULT_USER, Scope
from selfright.server.admission import LOCAL_KEY, Limits, TurnLimiter, UploadLimiter
from selfright.server.errors import Refused
from selfright.server.metrics import Metrics

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.wiring.uploads import UploadReport


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, or the user of this machine. No ``collections`` means that all may be searched.

    A key changes documents in the collections that it names; where it names none, only an admin's does.
    """

    key: str
    user: str
    collections: tuple[str, ...] = ()
    admin: bool = False

    @property
    def scope(self) -> Scope:
        """What the caller may see of its own turns."""
        return Scope(self.user, self.collections or None)

    @property
    def overseen(self) -> Scope:
        """What the caller may see of all turns: an admin everybody's, anybody else its own."""
        return Scope(None if self.admin else self.user, self.collections or None)

    def sees(self, collection: str) -> bool:
        """Whether it may search and read there."""
        return not self.collections or collection in self.collections

    def changes(self, collection: str) -> bool:
        """Whether it may add and delete documents there."""
        return collection in self.collections if self.collections else self.admin

    def within(self, wanted: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
        """Where to search for the caller: the ``wanted`` collections, or all it may see. Empty means everywhere.

        ``there`` are the collections that exist. What the caller may not see is told like what does not exist.
        """
        wanted = tuple(map(compose_name, wanted))
        for name in wanted:
            if not (self.sees(name) and name in there):
                raise Refused(404, "collection_not_found", f"there is no collection '{name}'", param="collections")
        if wanted or not self.collections:
            return tuple(dict.fromkeys(wanted))
        mine = tuple(name for name in self.collections if name in there)
        if not mine:
            raise Refused(404, "index_not_found", "there is nothing to search yet; upload a document first")
        return mine


LOCAL = Caller(LOCAL_KEY, DEFAULT_USER, (), True)


def caller_of(request: Request) -> Caller:
    """The caller that the authenticator found for this request."""
    caller = request.scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller


_KEPT_S = 1.0
_LOOK_S = 10.0


class Readiness:
    """What ``look`` found within the last second. Anybody may ask, and looking is what costs."""

    def __init__(self, look: Callable[[], Awaitable[None]], clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock = look, clock
        self._lock = asyncio.Lock()
        self._until = 0.0
        self._trouble: SelfrightError | Refused | None = None

    async def check(self) -> None:
        """Raises what keeps turns from being taken: an error of the stores, or ``Refused`` when they do not answer."""
        async with self._lock:
            if self._clock() >= self._until:
                self._trouble = await self._find_trouble()
                self._until = self._clock() + _KEPT_S
        if self._trouble is not None:
            raise self._trouble.with_traceback(None)

    async def _find_trouble(self) -> SelfrightError | Refused | None:
        try:
            async with asyncio.timeout(_LOOK_S):
                await self._look()
        except SelfrightError as error:
            return error
        except TimeoutError:
            return Refused(503, "not_ready", "what the service keeps does not answer now; try again", retry_after=5)
        return None


log = logging.getLogger(__name__)

_AGAIN_S = 60.0  # after a failure


def vector_thread(selfright: "Selfright") -> ChoreThread:
    """Makes the vectors of uploads while the service answers, one batch after the other; ended, it breaks off within
    some texts, and waits until what was made is stored."""

    def embed() -> float | None:
        try:
            left = not thread.ending.is_set() and selfright.embed(stop=thread.ending.is_set)
        except IndexNotFound:
            return None
        except SelfrightError as error:
            log.warning("the vectors of new passages cannot be made now: %s", error)
            return _AGAIN_S
        return _AGAIN_S if left else None

    thread = ChoreThread("selfright-vectors", embed)
    return thread


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Service:
    """One running service; ``writing`` is the right to change the index, which one at a time has."""

    selfright: "Selfright"
    limits: Limits
    started: float = field(default_factory=time.time)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    uploads: UploadLimiter = field(default_factory=UploadLimiter)
    limiter: TurnLimiter = field(init=False)
    metrics: Metrics = field(init=False)
    readiness: Readiness = field(init=False)
    vectors: ChoreThread = field(init=False)

    def __post_init__(self) -> None:
        self.vectors = vector_thread(self.selfright)
        self.limiter = TurnLimiter(self.limits)
        self.metrics, self.readiness = Metrics(self.limiter), Readiness(self._look)

    async def _look(self) -> None:
        await in_thread(self.collections)
        await self.selfright.areachable()

    async def take_in(
        self, caller: Caller, path: Path, name: str, collection: str, deadline: Deadline
    ) -> "UploadReport":
        """Adds one file that was sent, of an upload that was let in; the index waits for it only while it is stored,
        and in a folder its vectors are made later.

        When it is cancelled, nothing of the file stays. Raises ``UnreadableFile``.
        """
        where: Any = {"collection": collection, "apart": bool(caller.collections)}
        async with self.uploads.working[caller.key], self.uploads.readers:
            upload = await deadline.run(partial(self.selfright.read_upload, path, name, deadline))
        with closing(upload):
            async with self.writing:
                report = await deadline.run(partial(self.selfright.store_upload, upload, **where))
        self.vectors.wake()
        return report

    def collections(self) -> list[str]:
        """The names of the collections that exist; none where there is no index yet."""
        with suppress(IndexNotFound):
            return [collection.name for collection in self.selfright.collections()]
        return []

    async def within(self, caller: Caller, wanted: list[str]) -> tuple[str, ...]:
        """Where to search for the caller; empty means everywhere. Raises ``Refused``."""
        there = await in_thread(self.collections) if wanted or caller.collections else []
        return caller.within(wanted, there)


class _Name(PathConvertor):
    regex = "(?s:.*)"  # that of ``path`` stops at a line break, and takes "a" for "a\n"


NAME = "name"
"""How a path has the name of a document, a session or a user: any characters, slashes and line breaks among them."""
register_url_convertor(NAME, _Name())


def service_of(request: Request) -> Service:
    """The service that this request came to."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``work`` gives, on a thread, so that others are served meanwhile."""
    return await asyncio.to_thread(partial(work, *args, **kwargs))
