"""The box that carries a turn's ports, flags and meter from node to node."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from selfright.domain.budget import Meter
from selfright.domain.events import TurnEvent
from selfright.domain.flags import Flags
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.ports import (
    Abstainer,
    Classifier,
    Evaluator,
    Generator,
    Grader,
    ProfileStore,
    Prompter,
    Refiner,
    RefineStrategy,
    Rewriter,
    Router,
    SlotExtractor,
    Summarizer,
    WebSearch,
)
from selfright.domain.scopes import ScopedRetriever


@dataclass(frozen=True, slots=True)
class Tools:
    """All that a node may touch in one turn. ``emit`` tells what happens, and is None when nobody listens.

    ``floor``: who writes from documents alone where a model's answer fails its checks, and who judges both; None where
    no model writes. ``visiting`` is what is put around the run of each node, given its name; None where nobody watches.
    """

    flags: Flags
    meter: Meter
    retriever: ScopedRetriever
    classifier: Classifier
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    strategy: RefineStrategy
    rewriter: Rewriter
    slots: SlotExtractor
    profiles: ProfileStore
    abstainer: Abstainer
    summarizer: Summarizer
    floor: tuple[Generator, Evaluator] | None = None
    web: WebSearch | None = None
    router: Router | None = None
    emit: Callable[[TurnEvent], None] | None = None
    pack: DomainPack = GENERAL
    visiting: Callable[[str], AbstractContextManager[object]] | None = None
