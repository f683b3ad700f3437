"""What stands in for the world in a replay: models of which only a recording is left, and stores that do not change."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfright.domain.budget import Meter
from selfright.domain.chat import ChatRequest, Job, OnText
from selfright.domain.errors import UsageError
from selfright.domain.passages import WebFinding
from selfright.domain.ports import ChatModel, ProfileStore
from selfright.domain.slots import Kinds, Profile, Slot
from selfright.domain.traces import Origins
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.settings import OFFLINE
from selfright.telemetry.taps import Tap
from selfright.wiring.models import Models, chat_of, tap_models


@dataclass(frozen=True, slots=True)
class AbsentBackend:
    """A model of which only the recording is left: its name and provider, and that it cannot be asked."""

    name: str
    provider: str

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """Never called: a player answers, or says that the call is missing."""
        raise NotImplementedError


class ReplayedModels:
    """The models of a recording, by job; ``living`` are those that may be asked for what it does not hold.

    What was known of each when the turn began decides what is asked: how it gives objects, and where it is no better
    than the offline role.
    """

    def __init__(self, origins: Origins, living: Models | None) -> None:
        self._by_job: dict[Job, Backend | None] = {
            Job(job): _living(Job(job), name, living) for job, name in origins.models.items()
        }
        self._modes = {name: Mode(mode) for name, mode in origins.modes.items()}
        self.names: Mapping[str, str] = origins.models
        self.worse = frozenset(map(Job, origins.worse))
        self._patient = living is not None

    @property
    def jobs(self) -> frozenset[Job]:
        """The jobs that a model did."""
        return frozenset(self._by_job)

    def chat(self, meter: Meter, tap: Tap | None = None) -> ChatModel:
        """The models within a replayed turn; nothing is learnt from it, and nothing waited for unless it is live."""
        from selfright.llm.calling import CallPolicy
        from selfright.llm.structured import Capabilities
        from selfright.resilience import Breakers

        capabilities = Capabilities()
        for name, mode in self._modes.items():
            capabilities.learn(name, mode)
        sleep = asyncio.sleep if self._patient else lambda _seconds: asyncio.sleep(0)
        by_job = tap_models(self._by_job, tap) if tap else self._by_job
        return chat_of(by_job, meter, CallPolicy(), Breakers(), capabilities, sleep)


def _living(job: Job, name: str, living: Models | None) -> Backend:
    if living is None:
        return AbsentBackend(name, name.partition(":")[0])
    backend = living.backend(job)
    if backend is None or backend.name != name:
        named = backend.name if backend else OFFLINE
        raise UsageError(
            f"the recording had {name} for '{job}', and the settings name {named}; set llm={name} to replay it live"
        )
    return backend


class AbsentWeb:
    """A web of which only the recording is left."""

    async def search(self, query: str, k: int) -> WebFinding:
        """Nothing: there is nobody to ask any more."""
        del query, k
        return WebFinding((), "none", 0)


@dataclass(frozen=True, slots=True)
class ReadProfiles:
    """Profiles that are read; what is said in a replay is remembered for the replay alone."""

    inner: ProfileStore
    kinds: Kinds

    @property
    def ephemeral(self) -> bool:
        """As the store itself."""
        return self.inner.ephemeral

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """The profile as it would stand."""
        return (await self.inner.profile(user)).with_slots(slots, self.kinds)
