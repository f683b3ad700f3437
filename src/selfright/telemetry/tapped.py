"""The ports with a tap: the same port to whoever uses it, while every call passes a ``Tap``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selfright.domain.answers import (
    Attempt,
    Draft,
    EvaluationRequest,
    Focus,
    GenerationRequest,
    Message,
    Restated,
    RewriteRequest,
)
from selfright.domain.chat import Say
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation, Grading, QueryClass
from selfright.domain.packs import DomainPack
from selfright.domain.passages import Hit, Language, Refinement, Retrieval, WebFinding
from selfright.domain.ports import (
    Abstainer,
    Classifier,
    Evaluator,
    Generator,
    Grader,
    ProfileStore,
    Refiner,
    Retriever,
    Rewriter,
    Router,
    SlotExtractor,
    Summarizer,
    WebSearch,
)
from selfright.domain.routing import RoutingDecision
from selfright.domain.slots import Fact, Profile, Slot
from selfright.telemetry.taps import PortCall, Tap


@dataclass(frozen=True, slots=True)
class TappedRetriever:
    """``flags`` are those that the search behind the port was made for."""

    inner: Retriever
    tap: Tap
    flags: tuple[Any, ...] = ()

    async def search(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        """As ``Retriever``."""
        call = PortCall("retriever", "search", (query, k, tuple(collections), self.flags))
        return await self.tap.call(call, lambda: self.inner.search(query, k, collections))


@dataclass(frozen=True, slots=True)
class TappedRouter:
    """As ``Router``."""

    inner: Router
    tap: Tap

    async def route(self, question: str, kind: QueryClass | None = None, slots: Sequence[Slot] = ()) -> RoutingDecision:
        """As ``Router``."""
        call = PortCall("router", "route", (question, kind, tuple(slots)))
        return await self.tap.call(call, lambda: self.inner.route(question, kind, slots))

    def suffices(self, question: str, hits: Sequence[Hit]) -> bool:
        """As ``Router``."""
        call = PortCall("router", "suffices", (question, tuple(hits)))
        return self.tap.call_now(call, lambda: self.inner.suffices(question, hits))


@dataclass(frozen=True, slots=True)
class TappedWeb:
    """As ``WebSearch``."""

    inner: WebSearch
    tap: Tap

    async def search(self, query: str, k: int) -> WebFinding:
        """As ``WebSearch``."""
        return await self.tap.call(PortCall("web", "search", (query, k)), lambda: self.inner.search(query, k))


@dataclass(frozen=True, slots=True)
class TappedClassifier:
    """As ``Classifier``."""

    inner: Classifier
    tap: Tap

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """As ``Classifier``."""
        call = PortCall("classifier", "classify", (text, tuple(history)))
        return await self.tap.call(call, lambda: self.inner.classify(text, history))

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """As ``Classifier``."""
        call = PortCall("classifier", "conversational", (text, tuple(history)))
        return await self.tap.call(call, lambda: self.inner.conversational(text, history))

    async def restated(self, text: str, history: Sequence[Message]) -> Restated | None:
        """As ``Classifier``; it is all in the conversation, so there is nothing to record."""
        return await self.inner.restated(text, history)


@dataclass(frozen=True, slots=True)
class TappedGrader:
    """As ``Grader``."""

    inner: Grader
    tap: Tap

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """As ``Grader``."""
        call = PortCall("grader", "grade", (question, tuple(hits)))
        return await self.tap.call(call, lambda: self.inner.grade(question, hits))


@dataclass(frozen=True, slots=True)
class TappedRefiner:
    """As ``Refiner``."""

    inner: Refiner
    tap: Tap

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """As ``Refiner``."""
        call = PortCall("refiner", "refine", (question, tuple(hits), grading))
        return await self.tap.call(call, lambda: self.inner.refine(question, hits, grading))


@dataclass(frozen=True, slots=True)
class TappedGenerator:
    """As ``Generator``; a draft that the tap knows is not said while it is written, for nobody writes it."""

    inner: Generator
    tap: Tap

    @property
    def needs_documents(self) -> bool:
        """As ``Generator``."""
        return self.inner.needs_documents

    async def generate(self, request: GenerationRequest, say: Say | None = None) -> Draft:
        """As ``Generator``."""
        call = PortCall("generator", "generate", (request,))
        return await self.tap.call(call, lambda: self.inner.generate(request, say))


@dataclass(frozen=True, slots=True)
class TappedEvaluator:
    """As ``Evaluator``; ``name`` tells the judge from the heuristic that stands in for it."""

    inner: Evaluator
    tap: Tap
    name: str = "evaluator"

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """As ``Evaluator``."""
        return await self.tap.call(PortCall(self.name, "evaluate", (request,)), lambda: self.inner.evaluate(request))


@dataclass(frozen=True, slots=True)
class TappedRewriter:
    """As ``Rewriter``."""

    inner: Rewriter
    tap: Tap

    async def rewrite(self, request: RewriteRequest) -> str:
        """As ``Rewriter``."""
        return await self.tap.call(PortCall("rewriter", "rewrite", (request,)), lambda: self.inner.rewrite(request))

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        """As ``Rewriter``."""
        call = PortCall("rewriter", "for_web", (question, tuple(missing_info)))
        return await self.tap.call(call, lambda: self.inner.for_web(question, missing_info))

    async def focused(self, message: str, pack: DomainPack, follows: bool = False) -> Focus:
        """As ``Rewriter``; it is worked out offline every time, and need not be recorded."""
        return await self.inner.focused(message, pack, follows)

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        """As ``Rewriter``."""
        call = PortCall("rewriter", "standalone", (question, tuple(history), summary))
        return await self.tap.call(call, lambda: self.inner.standalone(question, history, summary))


@dataclass(frozen=True, slots=True)
class TappedSummarizer:
    """As ``Summarizer``."""

    inner: Summarizer
    tap: Tap

    async def summarize(self, summary: str, messages: Sequence[Message], language: Language) -> str:
        """As ``Summarizer``."""
        call = PortCall("summarizer", "summarize", (summary, tuple(messages), language))
        return await self.tap.call(call, lambda: self.inner.summarize(summary, messages, language))


@dataclass(frozen=True, slots=True)
class TappedSlots:
    """As ``SlotExtractor``."""

    inner: SlotExtractor
    tap: Tap

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """As ``SlotExtractor``."""
        return await self.tap.call(PortCall("slots", "extract", (text, turn)), lambda: self.inner.extract(text, turn))


@dataclass(frozen=True, slots=True)
class TappedAbstainer:
    """As ``Abstainer``. How a refusal is worded is no judgement, and is always made anew."""

    inner: Abstainer
    tap: Tap

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        """As ``Abstainer``."""
        call = PortCall("abstainer", "should_abstain", (question, query_class, best, flags.abstention_enabled))
        return self.tap.call_now(call, lambda: self.inner.should_abstain(question, query_class, best, flags))

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        """As ``Abstainer``."""
        return self.inner.refusal(question, language, best, hits)


@dataclass(frozen=True, slots=True)
class TappedProfiles:
    """As ``ProfileStore``; only what a turn asks of it passes the tap."""

    inner: ProfileStore
    tap: Tap

    @property
    def ephemeral(self) -> bool:
        """As ``ProfileStore``."""
        return self.inner.ephemeral

    async def profile(self, user: str) -> Profile:
        """As ``ProfileStore``."""
        return await self.tap.call(PortCall("profiles", "profile", (user,)), lambda: self.inner.profile(user))

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """As ``ProfileStore``."""
        call = PortCall("profiles", "remember", (user, tuple(slots)))
        return await self.tap.call(call, lambda: self.inner.remember(user, slots))

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """As ``ProfileStore``."""
        return await self.inner.correct(user, name, slots)

    async def history(self, user: str) -> tuple[Fact, ...]:
        """As ``ProfileStore``."""
        return await self.inner.history(user)

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """As ``ProfileStore``."""
        return await self.inner.forget(user, name, value)

    async def users(self) -> tuple[str, ...]:
        """As ``ProfileStore``."""
        return await self.inner.users()

    async def close(self) -> None:
        """As ``ProfileStore``."""
        await self.inner.close()
