"""What a listener hears of a turn: in the end it always has the answer, whatever was said on the way."""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, TypedDict

from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, GenerationRequest, Message, Sentence, Step
from selfright.domain.chat import OnText
from selfright.domain.errors import JudgeFailed
from selfright.domain.events import (
    AnswerCorrected,
    AnswerToken,
    DraftWithdrawn,
    TurnEvent,
    TurnFinished,
    VerdictReached,
)
from selfright.domain.judgements import AnswerQuality, StopReason
from selfright.flow.presets import PRESETS
from tests.support.turns import Judge, Scripted, evaluation, events_of, tools_of


class Talking(Scripted):
    """A writer that says each draft in pieces; what it says may be other than the draft."""

    def say_of(self, spoken: Sequence[str], drafts: Sequence[str]) -> "Talking":
        self._spoken, self._drafts, self.told = list(spoken), list(drafts), 0
        return self

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        at = min(self.told, len(self._drafts) - 1)
        self.told += 1
        for piece in self._spoken[at].split("|"):
            if on_text is not None:
                on_text(piece)
        text = self._drafts[at]
        return Draft(text, (Sentence(text),))


def heard(role: Scripted, judge: Judge, preset: str = "full", listen: bool = True, **values: Any) -> list[TurnEvent]:
    chosen = PRESETS[preset]
    return events_of(chosen, tools_of(chosen, judge, role=role, listen=listen, **values))


def text_of(events: Sequence[TurnEvent]) -> str:
    """What is on a listener's screen in the end."""
    text = ""
    for event in events:
        match event:
            case AnswerToken():
                text += event.text
            case DraftWithdrawn():
                text = ""
            case AnswerCorrected():
                text = event.text
    return text


def answer_of(events: Sequence[TurnEvent]) -> str:
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last.answer.answer


PIECES = st.text("ab |", min_size=1, max_size=8)


@given(
    spoken=st.lists(PIECES, min_size=1, max_size=3),
    drafts=st.lists(st.sampled_from(["one", "two", "a b"]), min_size=3, max_size=3),
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=3),
    preset=st.sampled_from(sorted(PRESETS)),
    abstain=st.booleans(),
)
def test_in_the_end_a_listener_has_the_answer(
    spoken: list[str], drafts: list[str], scores: list[float], preset: str, abstain: bool
) -> None:
    judge = Judge(
        *(evaluation(score, AnswerQuality.HALLUCINATION if score < 0.5 else AnswerQuality.ADEQUATE) for score in scores)
    )
    role = Talking(offline_generator=False, abstain=abstain).say_of([*spoken, "c", "d"][:3], drafts)
    events = heard(role, judge, preset)
    assert text_of(events).strip() == answer_of(events).strip()


def test_a_draft_that_does_not_hold_is_withdrawn_and_the_next_one_told() -> None:
    judge = Judge(evaluation(0.2, AnswerQuality.NEEDS_DOCS), evaluation(0.9))
    events = heard(Talking().say_of(["wr|ong", "ri|ght"], ["wrong", "right"]), judge)
    kinds = [
        (type(event).__name__, getattr(event, "text", ""))
        for event in events
        if isinstance(event, AnswerToken | DraftWithdrawn | AnswerCorrected)
    ]
    assert kinds == [
        ("AnswerToken", "wr"),
        ("AnswerToken", "ong"),
        ("DraftWithdrawn", ""),
        ("AnswerToken", "ri"),
        ("AnswerToken", "ght"),
    ]
    assert [event.iteration for event in events if isinstance(event, AnswerToken)] == [0, 0, 1, 1]
    assert sum(isinstance(event, VerdictReached) for event in events) == 2


def test_the_best_draft_takes_the_place_of_a_worse_one_that_was_heard_last() -> None:
    judge = Judge(evaluation(0.45, AnswerQuality.NEEDS_DOCS), evaluation(0.2, AnswerQuality.NEEDS_DOCS))
    events = heard(Talking().say_of(["good", "bad"], ["good", "bad"]), judge)
    assert [event.text for event in events if isinstance(event, AnswerCorrected)] == ["good"]


def test_nobody_listening_nothing_is_said() -> None:
    role = Talking().say_of(["x"], ["x"])
    events = heard(role, Judge(evaluation(0.9)), listen=False)
    assert not any(isinstance(event, AnswerToken | DraftWithdrawn | VerdictReached) for event in events)


def test_a_heuristic_that_stands_in_for_a_judge_finds_nothing_adequate() -> None:
    from selfright.domain.judgements import EvaluationSource

    fallback = Judge(evaluation(0.9, source=EvaluationSource.HEURISTIC))
    events = heard(Scripted(), Judge(JudgeFailed("garbage")), fallback=fallback)
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.answer.stop_reason is StopReason.DEGRADED
    assert last.answer.degraded


def test_older_messages_go_into_the_summary_and_the_last_ones_stay() -> None:
    from tests.support.turns import run_turn

    messages = [Message(("user", "assistant")[n % 2], f"m{n}") for n in range(7)]
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), messages=messages, history_limit=4)
    assert [message.content for message in turn.state["messages"]] == ["m3", "m4", "m5", "m6"]
    assert turn.state["summary"] == "3 messages"
    assert turn.state["summarized"] == 3


def test_the_conversation_alone_is_tried_first_only_where_it_may_do() -> None:
    from tests.support.turns import run_turn

    said = [Message("user", "what is alpha"), Message("assistant", "a letter")]
    for may, looked_up in ((True, False), (False, True)):
        role = Scripted(offline_generator=False, from_conversation=may)
        turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), role=role, messages=said)
        assert ("retrieve" in turn.visits) is looked_up


class Steps(TypedDict):
    trace: Annotated[list[Step], add]
