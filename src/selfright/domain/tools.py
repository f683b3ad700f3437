"""The ports, flags and meter of a turn, passed to every node."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from selfright.domain.budget import Meter
from selfright.domain.events import TurnEvent
from selfright.domain.flags import Flags
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.passages import Language
from selfright.domain.ports import (
    Abstainer,
    Classifier,
    Evaluator,
    EvidenceFilter,
    Generator,
    Grader,
    ProfileMemory,
    Prompter,
    Refiner,
    RefineStrategy,
    Rewriter,
    Router,
    SlotExtractor,
    Summarizer,
    WebSearch,
)
from selfright.domain.turns import ScopedRetriever

Visiting = Callable[[str], AbstractContextManager[Callable[[NodeOutcome], None] | None]]


@dataclass(frozen=True, slots=True)
class Tools:
    """Everything that a node may use in one turn. ``emit`` receives the events; None without a listener.

    ``evidence_filter`` leaves out what may not be evidence. ``referee`` is the local evaluator: it compares drafts that
    different judges scored. ``fallback_generator`` is the offline one, for answers of a model that fail their checks;
    None if no model writes. ``passed_over`` is the model that is not asked to write because a check found it bad at
    that; empty if there is none. ``visiting`` returns a context manager around the run of the named node, which may
    take what the node decided; None if nobody observes the turn. ``main_language`` is what most documents are in.
    """

    flags: Flags
    meter: Meter
    retriever: ScopedRetriever
    classifier: Classifier
    evidence_filter: EvidenceFilter
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    strategy: RefineStrategy
    rewriter: Rewriter
    slots: SlotExtractor
    profiles: ProfileMemory
    abstainer: Abstainer
    summarizer: Summarizer
    referee: Evaluator
    fallback_generator: Generator | None = None
    passed_over: str = ""
    web: WebSearch | None = None
    router: Router | None = None
    emit: Callable[[TurnEvent], None] | None = None
    pack: DomainPack = GENERAL
    visiting: Visiting | None = None
    main_language: Callable[[], Language] = lambda: "en"
