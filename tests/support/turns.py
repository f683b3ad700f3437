"""Scripted roles and a way to run a preset with them: what a turn does is then decided by the test alone."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.answers import (
    Answer,
    Attempt,
    Citation,
    Draft,
    EvaluationRequest,
    Focus,
    GenerationRequest,
    Message,
    RewriteRequest,
    Sentence,
)
from selfright.domain.budget import Meter
from selfright.domain.chat import OnText
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.flags import Flags
from selfright.domain.judgements import (
    AnswerQuality,
    Claim,
    ClaimStatus,
    Evaluation,
    EvaluationSource,
    Grade,
    Grading,
    QueryClass,
    Verdict,
)
from selfright.domain.packs import NoSlots
from selfright.domain.passages import FilteredHits, Hit, Passage, Refinement, Retrieval, Strip, WebFinding
from selfright.domain.ports import Evaluator
from selfright.domain.tools import Tools
from selfright.domain.turns import Scope, ScopedRetriever
from selfright.flow import run as flow
from selfright.flow.compile import compile_preset
from selfright.flow.presets import Preset
from selfright.flow.state import AgentState
from selfright.flow.strategies import create_strategy
from selfright.memory.profiles import RowProfiles


def passage(document: str, text: str, n: int = 0, **fields: Any) -> Passage:
    return Passage(f"{document}#{n}", document, document.title(), text, 0, len(text), **fields)


def hit(document: str, text: str, rank: int = 1) -> Hit:
    return Hit(passage(document, text), 1 / (60 + rank))


def evaluation(
    score: float,
    quality: AnswerQuality = AnswerQuality.ADEQUATE,
    *,
    confidence: float = 0.9,
    source: EvaluationSource = EvaluationSource.LOCAL,
    missing: Sequence[str] = (),
    claims: Sequence[Claim] = (),
) -> Evaluation:
    return Evaluation(
        score, score, score, quality, confidence, source, missing_info=tuple(missing), claims=tuple(claims)
    )


class Judge:
    """An evaluator that gives what it is told to, in order; the last one again and again. Errors are raised."""

    def __init__(self, *script: Evaluation | Exception | Callable[[], Evaluation]) -> None:
        self._script = list(script)
        self.requests: list[EvaluationRequest] = []

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        self.requests.append(request)
        step = self._script[min(len(self.requests), len(self._script)) - 1]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Evaluation) else step()


class Library:
    """A retriever that answers each search with the next list of hits."""

    def __init__(self, *results: Sequence[Hit]) -> None:
        self._results = results or ((hit("a", "alpha is one"),),)
        self.queries: list[str] = []

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        self.queries.append(query)
        return Retrieval(tuple(self._results[min(len(self.queries), len(self._results)) - 1])[:k])


class FreshLibrary:
    """A retriever that never brings the same passage twice."""

    def __init__(self) -> None:
        self.searches = 0

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        self.searches += 1
        return Retrieval((hit(f"d{self.searches}", f"text number {self.searches}"),))


class Everything:
    """An evidence filter that leaves nothing out."""

    async def hits(self, question: str, hits: Sequence[Hit]) -> FilteredHits:
        return FilteredHits(tuple(hits))

    async def strips(self, question: str, strips: Sequence[Strip], hits: Sequence[Hit] = ()) -> tuple[Strip, ...]:
        return tuple(strips)

    def on_subject(self, question: str, strips: Sequence[Strip]) -> tuple[Strip, ...]:
        return tuple(strips)

    async def cap_verdict(self, question: str, found: FilteredHits, grading: Grading) -> Grading:
        return grading


@dataclass
class Scripted:
    """Every other role, scripted by a value."""

    query_class: QueryClass = QueryClass.QUESTION
    verdict: Verdict | Exception = Verdict.CORRECT
    probability: float = 0.9
    web_probability: float = 0.95
    offline_generator: bool = True
    abstain: bool = False
    fell_back: bool = False
    slow: float = 0.0
    from_conversation: bool = False
    calls: list[str] = field(default_factory=list)
    written: Iterator[str] | None = None

    @property
    def needs_documents(self) -> bool:
        return self.offline_generator

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        return self.query_class

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        return self.from_conversation

    async def restate(self, text: str, history: Sequence[Message]) -> None:
        return None

    async def summarize(self, summary: str, messages: Sequence[Message], language: str) -> str:
        return f"{summary} {len(messages)} messages".strip()

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        if isinstance(self.verdict, Exception):
            raise self.verdict
        web = bool(hits) and hits[0].passage.origin == "web"
        probability = self.web_probability if web else self.probability
        return Grading(self.verdict, probability, tuple(Grade(h.passage.id, probability) for h in hits))

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        self.calls.append("refine begins")
        await asyncio.sleep(self.slow)
        self.calls.append("refine ends")
        strips = tuple(Strip(h.passage, h.passage.start, h.passage.end, h.passage.text, 0.8) for h in hits)
        return Refinement(strips, 0.0, self.fell_back)

    async def prompts(self, question: str, *_: Any) -> tuple[str, str]:
        return "system", question

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        self.calls.append("generate")
        text = next(self.written) if self.written else f"draft {self.calls.count('generate')}"
        cited = tuple(
            Citation(n, s.passage.id, s.passage.document_id, s.passage.title, "", s.start, s.end, s.text)
            for n, s in enumerate(request.strips, start=1)
        )
        numbers = tuple(c.n for c in cited)
        return Draft(text, (Sentence(text, numbers),), cited)

    async def rewrite(self, request: RewriteRequest) -> str:
        return f"{request.question} {request.iteration}"

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        return question

    async def focus(self, message: str, follows: bool = False) -> Focus:
        return Focus(message, message)

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        return f"{question} (about {history[-1].content})"

    async def meanings(self, asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
        return ()

    async def settles(self, asked: str, question: str, hits: Sequence[Hit]) -> bool:
        return False

    async def likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        return next(iter(found))

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        return self.abstain

    def refusal(self, question: str, language: str, best: Attempt, hits: Sequence[Hit]) -> Draft:
        return Draft("nothing to support an answer", refused=True)


class Web:
    """A web that has one page for everything, and notes when it was asked."""

    def __init__(self, role: Scripted, *, pages: int = 1, error: Exception | None = None) -> None:
        self._role = role
        self._pages = pages
        self._error = error

    async def search(self, query: str, k: int) -> WebFinding:
        self._role.calls.append("web begins")
        await asyncio.sleep(self._role.slow)
        self._role.calls.append("web ends")
        if self._error:
            raise self._error
        found = [
            passage(f"https://web{n}", f"web text {n}", origin="web", url=f"https://web{n}") for n in range(self._pages)
        ]
        return WebFinding(tuple(found), "static", 1)


def claim(text: str, status: ClaimStatus) -> Claim:
    return Claim(text, status)


@dataclass
class Turn:
    """A finished turn: the end state, and what the tools saw."""

    state: AgentState
    visits: list[str]


def run_turn(preset: Preset, judge: Evaluator, *, messages: Sequence[Message] = (), **values: Any) -> Turn:
    """Runs one turn of a preset with scripted tools; ``values`` are those of ``tools_of``."""
    state = asyncio.run(_run(preset, tools_of(preset, judge, **values), messages))
    return Turn(state, [step.node for step in state["trace"]])


def tools_of(
    preset: Preset,
    judge: Evaluator,
    *,
    role: Scripted | None = None,
    retriever: Any = None,
    web: Any = None,
    flags: Flags | None = None,
    fallback: Evaluator | None = None,
    meter: Meter | None = None,
    referee: Evaluator | None = None,
    listen: bool = False,
    **values: Any,
) -> Tools:
    """Scripted tools for a turn of the preset."""
    role = role or Scripted()
    flags = (flags or Flags()).with_values({**preset.flags, **values})
    return Tools(
        flags=flags,
        meter=meter or Meter(flags.max_llm_calls, flags.max_tokens, flags.deadline_s),
        retriever=ScopedRetriever(retriever or FreshLibrary(), Scope("u")),
        classifier=role,
        evidence_filter=Everything(),
        grader=role,
        refiner=role,
        prompter=role,
        generator=role,
        strategy=create_strategy(flags, judge, (fallback or Judge(evaluation(0.3)),), preset.routing),
        rewriter=role,
        slots=NoSlots(),
        profiles=RowProfiles.in_file(None, {}),
        abstainer=role,
        summarizer=role,
        referee=referee or Judge(evaluation(0.3)),
        web=web,
        emit=(lambda _event: None) if listen else None,
    )


def start_of(preset: Preset, messages: Sequence[Message] = (), text: str = "What is alpha?") -> Any:
    """The state that a turn begins with."""
    known = {"user_text": text, "mode": preset.mode, "messages": tuple(messages), "user": "u"}
    return {**known, "iteration_count": 0, "retry_count": 0}


def events_of(preset: Preset, tools: Tools, messages: Sequence[Message] = ()) -> list[TurnEvent]:
    """All that a turn tells while it runs."""

    async def all_of() -> list[TurnEvent]:
        turn = flow.Turn(preset, compile_preset(preset), tools)
        return [event async for event in flow.run(turn, start_of(preset, messages))]

    return asyncio.run(all_of())


def answer_of(preset: Preset, tools: Tools, messages: Sequence[Message] = ()) -> Answer:
    """What a turn ends with."""
    last = events_of(preset, tools, messages)[-1]
    assert isinstance(last, TurnFinished)
    return last.answer


async def _run(preset: Preset, tools: Tools, messages: Sequence[Message]) -> AgentState:
    start = start_of(preset, messages)
    limit = preset.max_visits(tools.flags) + 1
    state: AgentState = await compile_preset(preset).ainvoke(start, config={"recursion_limit": limit}, context=tools)
    assert flow.outcome(state, preset.name, tools.meter, "t").stop_reason == state["stop_reason"]
    return state
