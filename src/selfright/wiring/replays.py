"""A recorded turn run again: with other flags or another preset, from the beginning or from a node on.

For the world stand models of which only a recording is left, and stores that do not change.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, cast

from selfright.domain.answers import Answer, Cost
from selfright.domain.budget import Meter
from selfright.domain.chat import ChatRequest, Job, OnText
from selfright.domain.errors import InputError, UnknownName, UsageError
from selfright.domain.events import TurnFinished
from selfright.domain.flags import Flags, by_their_names
from selfright.domain.passages import WebFinding
from selfright.domain.ports import ProfileMemory, ProfileStore
from selfright.domain.slots import Kinds, Profile, Slot
from selfright.domain.traces import Replay, ReplayOptions, Trace, TurnSetup
from selfright.domain.turns import Scope
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn, run
from selfright.flow.state import AgentState
from selfright.flow.walk import walk
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.llm.calling import CallPolicy
from selfright.llm.structured import Capabilities
from selfright.resilience import Breaker
from selfright.settings import OFFLINE
from selfright.telemetry.recording import Player, Recording
from selfright.telemetry.taps import MODEL, WEB, intercept
from selfright.wiring.engine import Engine
from selfright.wiring.models import Models

_LOCAL_WEB = ("static",)


async def replay(engine: Engine, trace: Trace, lines: Sequence[Mapping[str, Any]], options: ReplayOptions) -> Replay:
    """The turn again. Nothing is remembered or kept of it.

    Raises ``InputError`` for a trace without a recording, ``UnknownName`` and ``UsageError`` for a preset, flag or node
    that does not fit, ``IndexNotFound`` when what must be asked anew has no index.
    """
    recording = Recording(lines)
    if recording.start is None:
        raise InputError(
            f'trace {trace.id} holds no recording; ask again with --record, or set traces = "full" for every turn'
        )
    again = ReplayRun(engine, trace, recording, options)
    answer, fresh = await again.run(dict(recording.start))
    player = again.player
    return Replay(
        of=trace,
        answer=answer,
        fresh=fresh,
        reused=dict(player.reused),
        asked=dict(player.asked),
        missing=tuple(dict.fromkeys(player.missing)),
        notes=tuple(again.notes()),
    )


class ReplayRun:
    """One replay under way."""

    def __init__(self, engine: Engine, trace: Trace, recording: Recording, options: ReplayOptions) -> None:
        self._engine = engine
        self._trace = trace
        self._recording = recording
        self._options = options
        self._before = find_preset(trace.origins.preset)
        self._scope = Scope(trace.user, trace.collections)
        self._preset = find_preset(given) if (given := options.get("preset")) else self._before
        said = {**trace.origins.chosen, **by_their_names(options.get("flags") or {})}
        self._flags = Flags().with_values({**self._preset.flags, **said})
        self._models = ReplayedModels(trace.origins, engine.models if options.get("live") else None)
        self.player = Player(recording, self._may_ask)

    async def run(self, start: dict[str, Any]) -> tuple[Answer, Cost]:
        """The answer, with what the replay cost; and what it would have cost without a recording."""
        place = self._options.get("start_at")
        if place is None:
            turn = self._turn(self._preset, self._flags)
            state: Mapping[str, Any] = {**start, "mode": self._preset.mode}
        else:
            turn, state = await self._from(start, place)
        meter = turn.tools.meter
        async with aclosing(run(turn, state)) as events:
            async for event in events:
                if isinstance(event, TurnFinished):
                    asked = self.player.asked
                    tokens = (meter.prompt_tokens, meter.completion_tokens) if asked[MODEL] else (0, 0)
                    cost = Cost(asked[MODEL], *tokens, asked[WEB], meter.seconds)
                    return replace(event.answer, cost=cost), meter.cost()
        raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize

    def notes(self) -> list[str]:
        """What is not as it was when the turn was recorded."""
        notes = []
        if self._recording.damaged:
            notes.append(f"{self._recording.damaged} lines of the recording are damaged and were left out")
        if self._recording.cut:
            notes.append("the turn was larger than one recording may be, so its later calls were not recorded")
        embedder, before = self._engine.index.embedder, self._trace.origins.index.get("embedder")
        if self.player.asked and (embedder.name if embedder else "none") != before:
            notes.append("the index is of another embedder than when the turn was recorded")
        return notes

    def _may_ask(self, port: str) -> bool:
        if self._options.get("live"):
            return True
        settings = self._engine.settings
        if port == WEB:
            pages = settings.web_folder  # a file in its place lists addresses, which would be fetched
            return settings.web_providers == _LOCAL_WEB and pages is not None and pages.is_dir()
        if port in ("retriever", "router"):
            return ":" not in settings.embedder
        return port != MODEL

    def _turn(self, preset: Preset, flags: Flags) -> Turn:
        """A turn with a web exactly where the recorded one had one, and with profiles that are only read."""
        turn = self._engine.turn(preset, flags, self._scope, tap=self.player, models=self._models)
        web = turn.tools.web or intercept(AbsentWeb(), self.player, "web")
        profiles: ProfileMemory = ReadProfiles(self._engine.profiles, turn.tools.pack.kinds_by_name)
        tools = replace(
            turn.tools,
            web=web if self._trace.origins.web else None,
            profiles=intercept(profiles, self.player, "profiles"),
        )
        return replace(turn, tools=tools)

    async def _from(self, start: dict[str, Any], place: str) -> tuple[Turn, Mapping[str, Any]]:
        """The turn from a node on, and the state in which the recorded turn came there."""
        from selfright.flow.compile import compile_preset

        node, time = _place(place, self._before, self._preset)
        first = self._turn(self._before, Flags().with_values(self._trace.origins.flags))
        state, nodes, spent = await self._state_before(first, start, node, time)
        turn = self._turn(self._preset, self._flags)
        meter = turn.tools.meter
        for name in ("llm_calls", "prompt_tokens", "completion_tokens", "web_requests", "degraded", "started"):
            setattr(meter, name, getattr(spent, name))
        meter.troubles.update(spent.troubles)
        return replace(turn, graph=compile_preset(self._preset, nodes)), {**state, "mode": self._preset.mode}

    async def _state_before(
        self, turn: Turn, start: dict[str, Any], node: str, time: int
    ) -> tuple[AgentState, list[str], Meter]:
        """The state before a node's ``time``-th visit, the nodes that ran side by side there, and what was spent.

        The recording has been played up to there.
        """
        state, group, visits = cast("AgentState", start), [], 0
        spent, back = _copy(turn.tools.meter), self.player.mark()
        async with aclosing(walk(turn.preset, state, turn.tools, turn.recursion_limit)) as parts:
            async for kind, part in parts:
                if kind == "updates":
                    group += list(part)
                    continue
                visits += node in group
                if visits == time:
                    back()
                    return state, group, spent
                state, group = part, []
                spent, back = _copy(turn.tools.meter), self.player.mark()
        raise UsageError(f"the recorded turn came to '{node}' {visits} times, so it cannot go on from visit {time}")


def _copy(meter: Meter) -> Meter:
    spent = copy(meter)
    spent.troubles = dict(meter.troubles)
    return spent


def _place(place: str, before: Preset, preset: Preset) -> tuple[str, int]:
    node, colon, time = place.partition(":")
    for one in (before, preset):
        if node not in one.edges:
            raise UnknownName(f"node of preset '{one.name}'", node, one.edges)
    if colon and not (time.isascii() and time.isdigit() and len(time) < 4 and int(time)):
        raise UsageError(f"--from takes NODE or NODE:VISIT, for example retrieve:2, but got '{place}'")
    return node, int(time or 1)


@dataclass(frozen=True, slots=True)
class AbsentBackend:
    """A model of which only the recording is left: its name and provider, and that it cannot be asked."""

    name: str
    provider: str

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """Never called: a player answers, or says that the call is missing."""
        raise NotImplementedError


class ReplayedModels(Models):
    """The models of a recording, by job; ``living`` are those that may be asked for what it does not hold.

    What was known of each when the turn began decides what is asked: how it gives objects, and where it is no better
    than the offline role. Nothing is learnt from a replay, and nothing waited for unless it is live.
    """

    def __init__(self, origins: TurnSetup, living: Models | None) -> None:
        self._by_job = {Job(job): _living(Job(job), name, living) for job, name in origins.models.items()}
        self._patient = living is not None
        self._worse = frozenset(map(Job, origins.worse))
        capabilities = Capabilities()
        for name, mode in origins.modes.items():
            capabilities.learn(name, Mode(mode))
        self._shared = CallPolicy(), defaultdict(Breaker), capabilities

    @property
    def worse(self) -> frozenset[Job]:
        """The jobs in which a check had found so when the turn began."""
        return self._worse

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds if self._patient else 0)


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
