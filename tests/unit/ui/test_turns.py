"""What the page keeps of a turn while it hears of it."""

from selfright.schemas import AnswerReply, NodeOutcome
from selfright.ui.state import MOST_DRAFT, MOST_STEPS, Step, Turn
from selfright.wire.answers import (
    CorrectedEvent,
    DoneEvent,
    NodeEvent,
    TokenEvent,
    VerdictEvent,
    WithdrawnEvent,
)
from tests.support.answers import reply


def test_a_turn_hears_its_events_in_order() -> None:
    turn = Turn("?")
    found = NodeOutcome(passages=8)
    turn.hear(NodeEvent(node="retrieve", seconds=0.1, said="8 passages", outcome=found))
    turn.hear(VerdictEvent(verdict="correct", sufficiency=0.9))
    turn.hear(TokenEvent(text="first ", iteration=0))
    turn.hear(TokenEvent(text="draft", iteration=0))
    assert turn.draft == "first draft"
    turn.hear(WithdrawnEvent(iteration=0, reason="needs_docs"))
    assert turn.draft == ""
    turn.hear(TokenEvent(text="second", iteration=1))
    turn.hear(CorrectedEvent(text="the whole"))
    assert turn.draft == "the whole"
    assert not turn.over
    assert turn.steps == [
        Step("retrieve", "8 passages", 0.1, found),
        Step("", verdict="correct"),
        Step("", said="first draft", withdrawn="needs_docs"),
    ]
    turn.hear(DoneEvent(answer=reply("done")))
    assert turn.over
    assert isinstance(turn.answer, AnswerReply)
    assert turn.draft == ""


def test_what_is_kept_of_a_turn_is_bounded() -> None:
    turn = Turn("?")
    for _ in range(MOST_STEPS + 5):
        turn.hear(NodeEvent(node="retrieve", seconds=0.0, said=""))
    for _ in range(5):
        turn.hear(TokenEvent(text="x" * (MOST_DRAFT // 2), iteration=0))
    assert len(turn.steps) == MOST_STEPS
    assert len(turn.draft) == MOST_DRAFT
