"""Turns watched: their traces kept, their calls recorded, their spans told."""

import asyncio
import logging
import platform
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

from selfright.domain.answers import Step
from selfright.domain.errors import UsageError
from selfright.domain.events import NodeFinished, TurnEvent, TurnFinished
from selfright.domain.traces import Trace, TurnSetup
from selfright.domain.turns import Scope, TurnOptions
from selfright.flow.presets import Preset
from selfright.flow.run import Turn
from selfright.settings import FLAG_NAMES
from selfright.telemetry.outline import broken, finished_trace
from selfright.telemetry.recording import Recorder
from selfright.telemetry.taps import Tap
from selfright.wiring.engine import Engine

if TYPE_CHECKING:
    from selfright.memory.traces import TraceStore
    from selfright.telemetry.spans import Spans, TurnSpans

OnEvent = Callable[[TurnEvent], Awaitable[None]]

_FILE = "traces.sqlite"
_MOST_LISTED = 10_000
_MOST_STEPS = 2_000

log = logging.getLogger(__name__)


class TraceService:
    """Watches the turns of an engine, as far as the settings ``traces`` and ``otel`` say."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def store(self) -> "TraceStore":
        """Where traces are kept: a file in the home folder, or the database that is set."""
        from selfright.memory.traces import TraceStore
        from selfright.storage.rows import DatabaseRows

        settings, database = self._engine.settings, self._engine.database
        if database is None:
            return TraceStore.in_file(settings.home / _FILE, settings.max_traces, settings.trace_bytes)
        return TraceStore(DatabaseRows(database), settings.max_traces, settings.trace_bytes)

    def watch(self, preset: Preset, options: TurnOptions) -> "TurnWatch":
        """What watches one turn with these options."""
        settings = self._engine.settings
        full = settings.traces == "full" or bool(options.get("record"))
        return TurnWatch(
            store=self.store if full or settings.traces != "off" else None,
            recorder=Recorder(self.store.largest) if full else None,
            spans=self._spans.turn(preset.name) if self._spans else None,
            origins=partial(self._origins, options.get("flags") or {}),
        )

    def traces(self, limit: int, scope: Scope) -> list[Trace]:
        """The kept traces that ``scope`` may see, the newest first."""
        if not 0 < limit <= _MOST_LISTED:
            raise UsageError(f"limit must lie between 1 and {_MOST_LISTED:,}, but is {limit}")
        seen = (trace for trace in self.store.traces(scope.user) if scope.covers(trace.collections))
        return list(islice(seen, limit))

    def close(self) -> None:
        """Sends the spans that are still waiting, and closes the file of the traces."""
        if store := self.__dict__.pop("store", None):
            store.close()
        if spans := self.__dict__.pop("_spans", None):
            spans.close()

    @cached_property
    def _spans(self) -> "Spans | None":
        settings = self._engine.settings
        if not settings.otel:
            return None
        from selfright.telemetry.spans import Spans

        return Spans.open(content=settings.otel_content)

    def _origins(self, given: Mapping[str, object], turn: Turn) -> TurnSetup:
        index, models = self._engine.index, self._engine.models
        flags = {name: getattr(turn.tools.flags, name) for name in FLAG_NAMES}
        return TurnSetup(
            preset=turn.preset.name,
            flags=flags,
            chosen={name: flags[name] for name in self._engine.explicit_flags(given)},
            models=models.names,
            modes=models.modes,
            worse=sorted(models.worse),
            versions=_versions(),
            index={"embedder": index.embedder.name if index.embedder else "none", "tokenizer": index.tokenizer.name},
            web=turn.tools.web is not None,
        )


@dataclass(frozen=True, slots=True)
class TurnWatch:
    """Watches one turn; ``store`` is None where no trace is stored, ``recorder`` where no call is recorded."""

    store: "TraceStore | None"
    recorder: Recorder | None
    spans: "TurnSpans | None"
    origins: Callable[[Turn], TurnSetup]

    @property
    def tap(self) -> Tap | None:
        """What sees the turn's calls; None if nobody looks at them."""
        return self.spans.tap(self.recorder) if self.spans else self.recorder

    def with_spans(self, turn: Turn) -> Turn:
        """The turn with a span around each node, where there are spans."""
        return replace(turn, tools=replace(turn.tools, visiting=self.spans.node)) if self.spans else turn

    @asynccontextmanager
    async def around(self, turn: Turn, scope: Scope, start: Mapping[str, Any] | None) -> AsyncGenerator[OnEvent, None]:
        """Around the turn's run; gives what has to hear of each event. A turn that fails leaves a trace, too.

        Without ``start`` the turn goes on where it was broken off, and is not recorded: its beginning is not there.
        """
        spans, recorder = self.spans, self.recorder if start is not None else None
        origins = self.origins(turn) if self.store is not None else TurnSetup(turn.preset.name, {})
        at, began, steps = time.time(), time.monotonic(), list[Step]()
        if recorder and start is not None:
            recorder.begin(start)
        if spans:
            spans.begin(start)

        async def store(trace: Trace) -> None:
            if self.store is not None:
                full = replace(trace, kind="full") if self.recorder else trace
                await asyncio.to_thread(self.store.write, full, recorder.lines if recorder else ())

        async def on_event(event: TurnEvent) -> None:
            if isinstance(event, NodeFinished) and len(steps) < _MOST_STEPS:
                steps.append(Step(event.node, event.seconds, event.outcome))
            if not isinstance(event, TurnFinished):
                return
            if spans:
                spans.finish(event.answer)
                spans.end()  # here, for who has the answer may never come back for the end of the events
            content = self.recorder is not None  # the trace is stored before anybody hears of the end
            await store(finished_trace(event.answer, at, scope, origins, content=content))

        try:
            yield on_event
        except Exception as error:
            if spans:
                spans.fail(error)
            await store(broken(turn.trace_id, at, scope, origins, steps, time.monotonic() - began, error))
            raise
        finally:
            if spans:
                spans.end()


@cache
def _versions() -> dict[str, str]:
    return {"selfright": version("selfright"), "python": platform.python_version()}
