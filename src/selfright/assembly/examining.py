"""Turns watched through their own ports: nothing of the flow is changed, and an answer comes out as it always does."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from selfright.assembly.engine import Engine
from selfright.assembly.turns import TurnRoom
from selfright.domain.answers import Answer, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.chat import Say
from selfright.domain.composing import MARKER
from selfright.domain.errors import ModelError
from selfright.domain.events import TurnFinished
from selfright.domain.examining import Examined, Judge, WatchedPass
from selfright.domain.flags import Flags
from selfright.domain.passages import Hit, Passage
from selfright.domain.ports import Generator, RefineStrategy
from selfright.domain.scopes import Scope
from selfright.domain.text import sentence_spans
from selfright.domain.turns import TurnOptions
from selfright.flow.run import Turn


async def examine(engine: Engine, question: str, options: TurnOptions, judge: Judge) -> Examined:
    """Runs one turn and watches it; then asks ``judge`` for a judgement that does not depend on the preset."""
    if judge == "model":
        engine.judge(Flags(), judge)  # whether there is one should be heard before a turn is paid for
    watched = _Watched(engine)
    answer = await _answer(TurnRoom(cast(Engine, watched)), question, options)
    passes = tuple(WatchedPass(tuple(one.passages), one.evaluation) for one in watched.notes.passes)
    flags = watched.notes.flags
    examined = Examined(answer, passes, flags)
    if judge == "none":
        return examined
    evaluator, meter = engine.judge(flags, judge)
    try:
        judged = await evaluator.evaluate(_request(examined))
    except ModelError:
        judged = None  # a judge that fails says nothing, and what it cost is still counted
    return replace(examined, judged=judged, judge_cost=meter.cost())


async def _answer(room: TurnRoom, question: str, options: TurnOptions) -> Answer:
    async with aclosing(room.stream(question, options, listen=False)) as events:
        async for event in events:
            if isinstance(event, TurnFinished):
                return event.answer
    raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize


@dataclass(slots=True)
class _Pass:
    passages: list[Passage]
    evaluation: Any = None


@dataclass(slots=True)
class _Notes:
    flags: Flags = field(default_factory=Flags)
    passes: list[_Pass] = field(default_factory=list)


class _Watched:
    """The same engine in all, but that its turns write down what they see."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.notes = _Notes()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def turn(self, preset_name: str | None, flags: Mapping[str, object], scope: Scope, *, listen: bool = False) -> Turn:
        """As the engine makes it, with generator and strategy overheard."""
        turn = self._engine.turn(preset_name, flags, scope, listen=listen)
        self.notes.flags = turn.tools.flags
        tools = replace(
            turn.tools,
            generator=_HeardGenerator(turn.tools.generator, self.notes),
            strategy=_HeardStrategy(turn.tools.strategy, self.notes),
        )
        return replace(turn, tools=tools)


@dataclass(frozen=True, slots=True)
class _HeardGenerator:
    generator: Generator
    notes: _Notes

    @property
    def needs_documents(self) -> bool:
        return self.generator.needs_documents

    async def generate(self, request: GenerationRequest, say: Say | None = None) -> Draft:
        self.notes.passes.append(_Pass(list(dict.fromkeys(strip.passage for strip in request.strips))))
        return await self.generator.generate(request, say)


@dataclass(frozen=True, slots=True)
class _HeardStrategy:
    strategy: RefineStrategy
    notes: _Notes

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        update = await self.strategy.refine(state)
        current = self.notes.passes[-1] if self.notes.passes else _Pass([])
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
