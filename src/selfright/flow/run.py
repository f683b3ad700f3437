"""Runs one turn: events as they happen, and the answer for the user at the end."""

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from selfright.domain.answers import Answer, Draft, WebUse
from selfright.domain.budget import Meter
from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, NodeFinished, TurnEvent, TurnFinished
from selfright.domain.judgements import StopReason, Verdict
from selfright.domain.tools import Tools
from selfright.domain.turns import TurnCheckpoint
from selfright.flow.finishing import broken_off
from selfright.flow.packing import pack
from selfright.flow.presets import Preset
from selfright.flow.state import AgentState, texts_in
from selfright.flow.walk import Part, first_checkpoint, next_checkpoint, walk

if TYPE_CHECKING:
    from selfright.flow.compile import Graph


def outcome(state: AgentState, preset: str, meter: Meter, trace_id: str) -> Answer:
    """The answer with its evidence and history."""
    draft, best = state["draft"], state.get("best")
    evaluation = state.get("evaluation")
    iterations = state.get("iterations", ())
    uncovered, lacks_meaning = _uncovered_items(state), state.get("lacks_meaning", False)
    return Answer(
        question=state["question"],
        answer=draft.text,
        abstained=state.get("abstained", False),
        language=state["language"],
        citations=draft.citations,
        evaluation=evaluation,
        verdict=state.get("verdict"),
        stop_reason=state.get("stop_reason") or StopReason.ERROR,
        preset=preset,
        degraded=meter.degraded or lacks_meaning or state.get("stop_reason") is StopReason.DEGRADED,
        iterations=iterations,
        removed_claims=state.get("removed_claims", ()),
        notes=tuple(
            dict.fromkeys((*_lacking(uncovered, state), *state.get("notes", ()), *_notes(draft, state, meter)))
        ),
        cost=meter.cost(),
        trace_id=trace_id,
        trace=state.get("trace", ()),
        web=_web_use(state, draft),
        strips=best.strips if best else state.get("strips") or (),
        uncovered=uncovered,
        verdict_confidence=_verdict_confidence(state),
    )


def _verdict_confidence(state: AgentState) -> float | None:
    """Of the verdict that the answer rests on, if a judge gave it."""
    best = state.get("best")
    known = (best.grading if best else None, state.get("grading"))  # the best attempt's may count the web's passages
    return next((one.confidence for one in known if one and one.verdict is state.get("verdict")), None)


def _web_use(state: AgentState, draft: Draft) -> WebUse | None:
    """What the web contributed to ``draft``, from the verdict on the index and the citations."""
    if not any(step.node == "web_search" for step in state.get("trace", ())):
        return None
    passages, cited = len(state.get("web_docs", ())), sum(one.from_web for one in draft.citations)
    if not cited or state.get("abstained", False):
        return WebUse(passages, 0, "unused" if passages else "nothing found")
    grading = state.get("grading")
    unable = grading is not None and grading.verdict is Verdict.INCORRECT
    return WebUse(passages, cited, "rescued" if unable and cited == len(draft.citations) else "added")


def _uncovered_items(state: AgentState) -> tuple[str, ...]:
    """What the answer does not cover; nothing for refusals, which say it, and concerns, which have their own note."""
    evaluation = state.get("evaluation")
    if evaluation is None or state.get("abstained", False):
        return ()
    told = {concern.text for concern in state.get("concerns", ())} | {_without_mark(state["question"])}
    return tuple(item for item in evaluation.lacking if item not in told and _without_mark(item) not in told)


def _without_mark(question: str) -> str:
    return question.strip().rstrip(".!?。？！ ")


def _lacking(uncovered: tuple[str, ...], state: AgentState) -> list[str]:
    words, evaluation = texts_in(state["language"])["notes"], state.get("evaluation")
    if evaluation and uncovered:
        return [words["lacking"].format(items=evaluation.listed(uncovered[:_MOST_LACKING]))]
    if evaluation is None or state.get("abstained", False) or not evaluation.missing_info:
        return []
    concerns = {concern.text for concern in state.get("concerns", ())}
    return [] if concerns.issuperset(evaluation.missing_info) else [words["unsure"]]


def _notes(draft: Draft, state: AgentState, meter: Meter) -> list[str]:
    words = texts_in(state["language"])["notes"]
    notes = [words["degraded"]] if meter.degraded else []
    if state.get("lacks_meaning"):
        notes.append(words["lacks_meaning"])
    if meter.troubles:
        counted = ", ".join(f"{_term(kind, state)} ×{times}" for kind, times in sorted(meter.troubles.items()))
        notes.append(words["troubles"].format(troubles=counted))
    if draft.stands_in and not draft.refused:
        notes.append(words["stands_in"])
    if meter.left_out:
        counted = ", ".join(f"{_term(job, state)} {characters:,}" for job, characters in sorted(meter.left_out.items()))
        notes.append(words["left_out"].format(counted=counted))
    if waiting := state.get("waiting"):
        kind = "waiting" if waiting.total else "waiting_here"
        notes.append(words[kind].format(passages=waiting.passages, total=waiting.total))
    if draft.dropped_citations:
        notes.append(words["dropped"].format(count=draft.dropped_citations))
    return notes


def _term(name: str, state: AgentState) -> str:
    """What the meter counts, in the language of the question."""
    if state["language"] == "en":
        return name
    korean = texts_in("ko")["troubles"]
    return korean.get(name) or " ".join(korean.get(word, word) for word in name.split())


_MOST_LACKING = 6


Store = Callable[[AgentState, Answer], Awaitable[None]]
Keep = Callable[[TurnCheckpoint], Awaitable[None]]
Start = Mapping[str, Any] | TurnCheckpoint
"""The state that a turn begins with, or how far it came before it was broken off."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A preset and the tools of one turn.

    ``graph`` is the preset's compiled graph, where LangGraph is to run the turn: to tell callbacks of the nodes.
    ``keep`` is awaited with each checkpoint, before the nodes that are next in it; ``store`` with the end state and the
    answer, before the last event.
    """

    preset: Preset
    graph: "Graph | None"
    tools: Tools
    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    keep: Keep | None = None
    store: Store | None = None

    @property
    def recursion_limit(self) -> int:
        """How many steps the turn's visits may take."""
        return self.preset.max_visits(self.tools.flags) + 1


async def run(turn: Turn, start: Start) -> AsyncGenerator[TurnEvent, None]:
    """Runs the turn; from a checkpoint, continues after the last nodes that an interrupted run finished.

    An error after the first draft ends the turn with the best draft so far.
    """
    state = cast("AgentState", start.state if isinstance(start, TurnCheckpoint) else start)
    meter, heard = turn.tools.meter, _Heard()
    try:
        async with aclosing(_parts(turn, start)) as parts:
            async for kind, part in parts:
                if kind == "values":
                    state = part
                    continue
                for event in _events(kind, part):
                    heard.hear(event)
                    yield event
    except Exception as error:
        if state.get("draft") is None:
            raise
        state = broken_off(state, turn.tools, error)
    answer = outcome(state, turn.preset.name, meter, turn.trace_id)
    if turn.store is not None:
        await turn.store(state, answer)
    if turn.tools.emit is not None and (last := heard.still_to_say(answer.answer)):
        yield last
    yield TurnFinished(answer)


def _parts(turn: Turn, start: Start) -> AsyncGenerator[Part, None]:
    if turn.graph is None or isinstance(start, TurnCheckpoint):
        parts = walk(turn.preset, start, turn.tools, turn.recursion_limit)
    else:
        parts = turn.graph.astream(  # type: ignore[assignment]  # several stream modes come as pairs
            cast("AgentState", start),
            config={"recursion_limit": turn.recursion_limit},
            context=turn.tools,
            stream_mode=["updates", "values", "custom"],
        )
    return parts if turn.keep is None else _kept(turn.preset, start, parts, turn.keep)


async def _kept(
    preset: Preset, start: Start, parts: AsyncGenerator[Part, None], keep: Keep
) -> AsyncGenerator[Part, None]:
    """The parts, each passed on when what it ends is kept: a step, or one of several nodes in a step."""
    at = start if isinstance(start, TurnCheckpoint) else first_checkpoint(preset, start)
    async with aclosing(parts):
        async for kind, part in parts:
            if kind == "updates":
                at = replace(at, ended={**at.ended, **part})
                if len(at.ended) < len(at.names):
                    await keep(pack(at))
            elif kind == "values":
                at = next_checkpoint(preset, at) if len(at.ended) == len(at.names) else at
                await keep(pack(replace(at, state=part)))
            yield kind, part


def _events(kind: str, part: Any) -> list[TurnEvent]:
    if kind == "custom":
        return [part]
    steps = (step for update in part.values() for step in update["trace"])
    return [NodeFinished(step.node, step.seconds, step.outcome) for step in steps]


class _Heard:
    """The part of the answer that the listener has received so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def hear(self, event: TurnEvent) -> None:
        if isinstance(event, AnswerToken):
            self._pieces.append(event.text)
        elif isinstance(event, DraftWithdrawn):
            self._pieces.clear()

    def still_to_say(self, answer: str) -> AnswerToken | AnswerCorrected | None:
        """The event that completes the listener's text: the whole answer, a correction, or None."""
        if not self._pieces:
            return AnswerToken(answer)
        return None if "".join(self._pieces).strip() == answer.strip() else AnswerCorrected(answer)
