"""Turns watched through their own ports: nothing of the flow is changed, and an answer comes out as it always does."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from selfright.assembly.engine import Engine
from selfright.assembly.turns import TurnService
from selfright.domain.answers import Answer, Attempt, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.chat import Say
from selfright.domain.composing import MARKER
from selfright.domain.errors import ModelError
from selfright.domain.events import TurnFinished
from selfright.domain.examining import Examined, Judge, WatchedPass
from selfright.domain.flags import Flags
from selfright.domain.judgements import Grading, QueryClass
from selfright.domain.passages import Hit, Language, Passage, Retrieval
from selfright.domain.ports import Abstainer, Generator, Grader, RefineStrategy, Retriever
from selfright.domain.scopes import Scope
from selfright.domain.text import sentence_spans
from selfright.domain.turns import TurnOptions
from selfright.flow.run import Turn

BEST = 10
"""The hits of a search that count as found: what a person would read of a list."""


async def examine(engine: Engine, question: str, options: TurnOptions, judge: Judge) -> Examined:
    """Runs one turn and watches it; then asks ``judge`` for a judgement that does not depend on the preset."""
    if judge == "model":
        engine.judge(Flags(), judge)  # whether there is one should be heard before a turn is paid for
    watched = _Watched(engine)
    answer = await _answer(TurnService(cast(Engine, watched)), question, options)
    flags = watched.notes.flags
    examined = Examined(answer, tuple(map(_watched, watched.notes.passes)), flags, final=watched.notes.final)
    if judge == "none":
        return examined
    evaluator, meter = engine.judge(flags, judge)
    try:
        judged = await evaluator.evaluate(_request(examined))
    except ModelError:
        judged = None  # a judge that fails says nothing, and what it cost is still counted
    return replace(examined, judged=judged, judge_cost=meter.cost())


async def _answer(service: TurnService, question: str, options: TurnOptions) -> Answer:
    async with aclosing(service.stream(question, options, listen=False)) as events:
        async for event in events:
            if isinstance(event, TurnFinished):
                return event.answer
    raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize


@dataclass(slots=True)
class _Pass:
    passages: list[Passage] = field(default_factory=list)
    evaluation: Any = None
    found: list[Passage] = field(default_factory=list)
    graded: list[Passage] = field(default_factory=list)
    strips: tuple[str, ...] = ()
    draft: str = ""


@dataclass(slots=True)
class _Notes:
    """``coming`` is the pass whose draft has not been asked for yet."""

    flags: Flags = field(default_factory=Flags)
    passes: list[_Pass] = field(default_factory=list)
    coming: _Pass = field(default_factory=_Pass)
    final: str = ""


def _watched(one: _Pass) -> WatchedPass:
    found, graded = tuple(dict.fromkeys(one.found)), tuple(dict.fromkeys(one.graded))
    return WatchedPass(tuple(one.passages), one.evaluation, found, graded, one.strips, one.draft)


class _Watched:
    """The same engine in all, but that its turns write down what they see."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.notes = _Notes()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def turn(self, preset_name: str | None, flags: Mapping[str, object], scope: Scope, *, listen: bool = False) -> Turn:
        """As the engine makes it, with everyone overheard through whose hands an answer goes."""
        turn = self._engine.turn(preset_name, flags, scope, listen=listen)
        self.notes.flags = turn.tools.flags
        tools = replace(
            turn.tools,
            retriever=turn.tools.retriever.over(lambda inner: _HeardRetriever(inner, self.notes)),
            grader=_HeardGrader(turn.tools.grader, self.notes),
            generator=_HeardGenerator(turn.tools.generator, self.notes),
            strategy=_HeardStrategy(turn.tools.strategy, self.notes),
            abstainer=_HeardAbstainer(turn.tools.abstainer, self.notes),
        )
        return replace(turn, tools=tools)


@dataclass(frozen=True, slots=True)
class _HeardRetriever:
    retriever: Retriever
    notes: _Notes

    async def search(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        found = await self.retriever.search(query, k, collections)
        self.notes.coming.found += [hit.passage for hit in found.hits[:BEST]]
        return found


@dataclass(frozen=True, slots=True)
class _HeardGrader:
    grader: Grader
    notes: _Notes

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        self.notes.coming.graded += [hit.passage for hit in hits]
        return await self.grader.grade(question, hits)


@dataclass(frozen=True, slots=True)
class _HeardAbstainer:
    abstainer: Abstainer
    notes: _Notes

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        self.notes.final = _said(best.draft)
        return self.abstainer.should_abstain(question, query_class, best, flags)

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        return self.abstainer.refusal(question, language, best, hits)


@dataclass(frozen=True, slots=True)
class _HeardGenerator:
    generator: Generator
    notes: _Notes

    @property
    def needs_documents(self) -> bool:
        return self.generator.needs_documents

    async def generate(self, request: GenerationRequest, say: Say | None = None) -> Draft:
        current, self.notes.coming = self.notes.coming, _Pass()
        current.passages = list(dict.fromkeys(strip.passage for strip in request.strips))
        current.strips = tuple(strip.text for strip in request.strips)
        self.notes.passes.append(current)
        draft = await self.generator.generate(request, say)
        current.draft = _said(draft)
        return draft


@dataclass(frozen=True, slots=True)
class _HeardStrategy:
    strategy: RefineStrategy
    notes: _Notes

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        update = await self.strategy.refine(state)
        current = self.notes.passes[-1] if self.notes.passes else _Pass()
        seen = (hit.passage for hit in (*state.get("retrieved_docs", ()), *state.get("web_docs", ())))
        current.passages = list(dict.fromkeys((*current.passages, *seen)))
        # Repairing claims asks the judge once more about a pass that has been judged.
        current.evaluation = current.evaluation or update.get("evaluation")
        return update

    def should_retrieve(self, state: Mapping[str, Any]) -> bool:
        return self.strategy.should_retrieve(state)

    def get_strategy_name(self) -> str:
        return self.strategy.get_strategy_name()

    def get_metrics(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return self.strategy.get_metrics(state)


def _said(draft: Draft) -> str:
    """What a draft says; nothing when it is a refusal."""
    return "" if draft.refused else draft.text


def _request(examined: Examined) -> EvaluationRequest:
    """The final answer as a draft, against all passages that its turn looked at, the last pass first."""
    answer = examined.answer
    seen = dict.fromkeys(passage for one in reversed(examined.passes) for passage in one.passages)
    return EvaluationRequest(
        question=answer.question,
        draft=draft_of(answer),
        language=answer.language,
        hits=tuple(Hit(passage, 0.0) for passage in seen),
    )


def draft_of(answer: Answer) -> Draft:
    """A finished answer as its sentences, without markers; empty for one that abstained."""
    text = "" if answer.abstained else MARKER.sub("", answer.answer)
    said = tuple(Sentence(text[start:end].strip()) for start, end in sentence_spans(text))
    return Draft(text, said, answer.citations, refused=answer.abstained)
