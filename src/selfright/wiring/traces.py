"""Turns watched: their traces kept, their calls recorded, their spans told."""

import asyncio
import logging
import platform
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

from selfright.domain.answers import Step
from selfright.domain.errors import InputError
from selfright.domain.events import NodeFinished, TurnEvent, TurnFinished
from selfright.domain.traces import Origins, Rating, Replay, ReplayOptions, Trace
from selfright.domain.turns import Scope, TurnOptions
from selfright.flow.presets import find_preset
from selfright.flow.run import Turn, run
from selfright.settings import FLAG_NAMES
from selfright.telemetry.outline import broken, finished_trace
from selfright.telemetry.recording import Recorder, Visits
from selfright.telemetry.store import TraceKeeper
from selfright.telemetry.taps import Tap
from selfright.wiring.engine import Engine
from selfright.wiring.persistence import open_traces

if TYPE_CHECKING:
    from selfright.telemetry.spans import Spans, TurnSpans

_MOST_LISTED = 10_000
_MOST_STEPS = 2_000

log = logging.getLogger(__name__)


class TraceService:
    """Watches the turns of an engine, as far as the settings ``traces`` and ``otel`` say."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def store(self) -> TraceKeeper:
        """Where traces are kept."""
        return open_traces(self._engine.settings, self._engine.database)

    def watched(self, options: TurnOptions, scope: Scope, *, listen: bool) -> "Watched":
        """A turn with these options, ready to run and watched."""
        settings = self._engine.settings
        preset = find_preset(options.get("preset") or settings.preset)
        given = options.get("flags") or {}
        full = settings.traces == "full" or bool(options.get("record"))
        recorder = Recorder(self.store.largest) if full else None
        spans = self._spans.turn(preset.name) if self._spans else None
        tap: Tap | None = spans.tap(recorder) if spans else recorder
        if tap is None:
            turn = self._engine.turn(preset.name, given, scope, listen=listen)
        else:
            turn = self._engine.tapped_turn(preset, self._engine.flags(preset.name, given), scope, tap, listen=listen)
            turn = replace(turn, tools=replace(turn.tools, visiting=_visiting(spans)))
        kept = self.store if full or settings.traces != "off" else None
        return Watched(turn, scope, kept, recorder, spans, lambda: self._origins(turn, given))

    def traces(self, limit: int, scope: Scope) -> list[Trace]:
        """The kept traces that ``scope`` may see, the newest first."""
        if not 0 < limit <= _MOST_LISTED:
            raise InputError(f"limit must lie between 1 and {_MOST_LISTED:,}, but is {limit}")
        seen = (trace for trace in self.store.traces(scope.user) if scope.covers(trace.collections))
        return list(islice(seen, limit))

    def trace(self, trace_id: str, scope: Scope) -> Trace:
        """One trace. Raises ``InputError`` when ``scope`` sees none of that id."""
        return self.store.find(trace_id, scope)[0]

    def rate(self, trace_id: str, scope: Scope, rating: Rating | None) -> Trace:
        """Keeps what a reader said of an answer with its trace."""
        return self.store.rate(trace_id, scope, rating)

    def forget(self, scope: Scope, trace_id: str | None) -> int:
        """Deletes the traces that ``scope`` may see, or one of them; gives back how many."""
        return self.store.forget(scope, trace_id)

    async def replay(self, trace_id: str, options: ReplayOptions, scope: Scope) -> Replay:
        """A recorded turn, run again."""
        from selfright.wiring.replays import replay

        trace, lines = await asyncio.to_thread(self.store.find, trace_id, scope)
        return await replay(self._engine, trace, lines, options)

    def close(self) -> None:
        """Sends the spans that are still waiting."""
        if spans := self.__dict__.pop("_spans", None):
            spans.close()

    @cached_property
    def _spans(self) -> "Spans | None":
        settings = self._engine.settings
        if not settings.otel:
            return None
        from selfright.telemetry.spans import Spans

        return Spans.open(content=settings.otel_content)

    def _origins(self, turn: Turn, given: Mapping[str, object]) -> Origins:
        index, models = self._engine.index, self._engine.models
        flags = {name: getattr(turn.tools.flags, name) for name in FLAG_NAMES}
        return Origins(
            preset=turn.preset.name,
            flags=flags,
            chosen={name: flags[name] for name in self._engine.flags_said(given)},
            models=models.names,
            modes=models.modes,
            worse=sorted(models.worse),
            versions=_versions(),
            index={"embedder": index.embedder.name if index.embedder else "none", "tokenizer": index.tokenizer.name},
            web=turn.tools.web is not None,
        )


@dataclass(frozen=True, slots=True)
class Watched:
    """A turn and what watches it; ``store`` is None where no trace is kept."""

    turn: Turn
    scope: Scope
    store: TraceKeeper | None
    recorder: Recorder | None
    spans: "TurnSpans | None"
    origins: Callable[[], Origins]

    async def run(self, turn: Turn, start: Mapping[str, Any] | None) -> AsyncGenerator[TurnEvent, None]:
        """The turn's events; its trace is kept before anybody hears of the end.

        ``turn`` is the watched one, perhaps with a thread of its own; without ``start`` it goes on where it was broken
        off, and is then not recorded, for its beginning is not there.
        """
        notes = _Notes(turn, time.time(), time.monotonic(), self.origins() if self.store else None, start)
        if self.recorder and start is not None:
            self.recorder.begin(start)
        if self.spans:
            self.spans.begin(start)
        try:
            async with aclosing(run(turn, start)) as events:
                async for event in events:
                    if isinstance(event, NodeFinished) and len(notes.steps) < _MOST_STEPS:
                        notes.steps.append(Step(event.node, event.seconds, event.outcome))
                    elif isinstance(event, TurnFinished):
                        await self._finish(notes, event)
                    yield event
        except Exception as error:
            await self._fail(notes, error)
            raise
        finally:
            if self.spans:
                self.spans.end()

    async def _finish(self, notes: "_Notes", event: TurnFinished) -> None:
        if self.spans:
            self.spans.finish(event.answer)
            self.spans.end()  # here, for who has the answer may never come back for the end of the events
        if self.store is None or notes.origins is None:
            return
        trace = finished_trace(event.answer, notes.at, self.scope, notes.origins, content=self.recorder is not None)
        await asyncio.to_thread(self.store.write, trace, self._lines(notes))

    async def _fail(self, notes: "_Notes", error: Exception) -> None:
        if self.spans:
            self.spans.fail(error)
        if self.store is None or notes.origins is None:
            return
        seconds = time.monotonic() - notes.began
        trace = broken(notes.turn.trace_id, notes.at, self.scope, notes.origins, notes.steps, seconds, error)
        if self.recorder:
            trace = replace(trace, kind="full")
        await asyncio.to_thread(self.store.write, trace, self._lines(notes))

    def _lines(self, notes: "_Notes") -> tuple[str, ...]:
        """The recording; nothing of a turn whose beginning is not in it."""
        return self.recorder.lines if self.recorder and notes.start is not None else ()


class _Notes:
    """What is known of a turn while it runs."""

    def __init__(
        self, turn: Turn, at: float, began: float, origins: Origins | None, start: Mapping[str, Any] | None
    ) -> None:
        self.turn, self.at, self.began, self.origins, self.start = turn, at, began, origins, start
        self.steps: list[Step] = []


def _visiting(spans: "TurnSpans | None") -> Callable[[str], AbstractContextManager[None]]:
    visits = Visits()

    @contextmanager
    def visiting(node: str) -> Iterator[None]:
        with ExitStack() as around:
            around.enter_context(visits.visiting(node))
            if spans:
                around.enter_context(spans.node(node))
            yield

    return visiting


@cache
def _versions() -> dict[str, str]:
    return {"selfright": version("selfright"), "python": platform.python_version()}
