"""Behind ``Selfright.examine``: a turn watched through its own ports. Behind ``models check``: the bench it runs on."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from selfright.domain.answers import Answer, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.budget import Meter
from selfright.domain.chat import Job
from selfright.domain.composing import MARKER
from selfright.domain.errors import ModelError
from selfright.domain.flags import Flags
from selfright.domain.passages import DEFAULT_COLLECTION, Hit, Passage, Strip
from selfright.domain.ports import Generator
from selfright.domain.text import sentence_spans
from selfright.domain.traces import Examination, Judge, WatchedPass
from selfright.domain.turns import DEFAULT_USER, Scope, ScopedRetriever, TurnOptions
from selfright.flow.run import Turn
from selfright.settings import Settings
from selfright.telemetry.taps import PortCall, intercept
from selfright.wiring.engine import Engine
from selfright.wiring.roles import OfflineRoles, Roles, with_models
from selfright.wiring.turns import TurnService

_PLENTY = 1_000_000_000
_MOST_SECONDS = 86_400.0


@dataclass(slots=True)
class Bench:
    """``name`` is the model's; ``writer`` writes with it with no offline writer behind it. ``failed``:
    replies that a role could make nothing of, beside those that the meter counts."""

    name: str
    offline: OfflineRoles
    model: Roles
    writer: Generator
    retriever: ScopedRetriever
    meter: Meter
    failed: int = 0


@contextmanager
def open_bench(settings: Settings, documents: Path, nothing: Generator) -> Iterator[Bench]:
    """A bench over an index of ``documents``, which ``settings`` name; ``nothing`` stands behind the writer."""
    from selfright.ingest.pipeline import ingest
    from selfright.ingest.reading import discover
    from selfright.retrieval.stores.opening import words_first
    from selfright.roles.generate.citation_check import CitationChecker
    from selfright.roles.generate.llm import ModelGenerator

    engine = Engine(settings)
    try:
        store = engine.index.open(create=True)
        ingest(discover([documents]), writer=words_first(store), library=store, collection=DEFAULT_COLLECTION)
        meter = Meter(_PLENTY, _PLENTY, _MOST_SECONDS)
        chat = engine.models.chat(meter)
        offline = engine.offline
        yield Bench(
            name=engine.models.names[Job.GRADE],
            offline=offline,
            model=with_models(offline, chat, frozenset(Job), "always"),
            writer=ModelGenerator(chat, nothing, CitationChecker(offline.analyzer)),
            retriever=engine.index.retriever(Scope(DEFAULT_USER, None)),
            meter=meter,
        )
    finally:
        engine.close()


BEST = 10
"""The hits of a search that count as found: what a person would read of a list."""


async def examine(engine: Engine, question: str, options: TurnOptions, judge: Judge) -> Examination:
    """Runs one turn and watches it; then asks ``judge`` for a judgement that does not depend on the preset."""
    if judge == "model":
        engine.judge(Flags(), judge)  # whether there is one should be heard before a turn is paid for
    notes = _Notes()
    answer = await TurnService(engine, watch=notes.watch).ask(question, options)
    flags = notes.flags
    examined = Examination(answer, tuple(notes.passes), flags, final=notes.final)
    if judge == "none":
        return examined
    evaluator, meter = engine.judge(flags, judge)
    try:
        judged = await evaluator.evaluate(_request(examined))
    except ModelError:
        judged = None  # a judge that fails says nothing, and what it cost is still counted
    return replace(examined, judged=judged, judge_cost=meter.cost())


@dataclass(slots=True)
class _Notes:
    """The tap that writes down what a turn sees. ``coming`` is the pass whose draft has not been asked for yet."""

    flags: Flags = field(default_factory=Flags)
    passes: list[WatchedPass] = field(default_factory=list)
    coming: WatchedPass = field(default_factory=WatchedPass)
    final: str = ""

    def watch(self, turn: Turn) -> Turn:
        """The turn, with everyone overheard through whose hands an answer goes."""
        tools, self.flags = turn.tools, turn.tools.flags
        heard: Any = {
            name: intercept(getattr(tools, name), self, name)
            for name in ("grader", "generator", "strategy", "abstainer")
        }
        retriever = tools.retriever.over(lambda inner: intercept(inner, self, "retriever"))
        return replace(turn, tools=replace(tools, retriever=retriever, **heard))

    @contextmanager
    def around(self, call: PortCall) -> Iterator[list[Any]]:
        """See ``Tap``. The abstainer is asked about the draft that was chosen."""
        asked: Any = call.arguments[0]
        if call.port == "grader":
            self.coming.graded = _union(self.coming.graded, call.arguments[1])
        if call.port == "generator":
            self._begin(asked)
        if call.port == "abstainer":
            self.final = _draft_text(call.arguments[2].draft)
        current = self.passes[-1] if self.passes else WatchedPass()
        replied: list[Any] = []
        yield replied
        reply = replied[0]
        if call.port == "retriever":
            self.coming.found = _union(self.coming.found, reply.hits[:BEST])
        if call.port == "generator":
            current.draft = _draft_text(reply)
        if call.port == "strategy":
            seen = (*asked.get("retrieved_docs", ()), *asked.get("web_docs", ()))
            current.passages = _union(current.passages, seen)
            # Repairing claims asks the judge once more about a pass that has been judged.
            current.evaluation = current.evaluation or reply.get("evaluation")

    def _begin(self, request: GenerationRequest) -> None:
        current, self.coming = self.coming, WatchedPass()
        current.passages = _union((), request.strips)
        current.strips = tuple(strip.text for strip in request.strips)
        self.passes.append(current)


def _union(passages: Sequence[Passage], seen: Iterable[Hit | Strip]) -> tuple[Passage, ...]:
    """Each passage once, in the order in which they came."""
    return tuple(dict.fromkeys((*passages, *(one.passage for one in seen))))


def _draft_text(draft: Draft) -> str:
    return "" if draft.refused else draft.text


def _request(examined: Examination) -> EvaluationRequest:
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
