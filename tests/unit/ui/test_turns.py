"""What the page keeps of a turn while it hears of it."""

from selfright.domain.judgements import Verdict
from selfright.schemas import AnswerReply, NodeOutcome
from selfright.ui.state import MOST_DRAFT, MOST_STEPS, Turn, WithdrawnDraft
from selfright.wire.answers import AnswerCorrected, AnswerToken, DoneEvent, DraftWithdrawn, NodeFinished, VerdictReached
from tests.support.answers import reply


def test_a_turn_hears_its_events_in_order() -> None:
    turn = Turn("?")
    found = NodeFinished("retrieve", 0.1, NodeOutcome(passages=8))
    judged = VerdictReached(Verdict.CORRECT, 0.9)
    turn.hear(found)
    turn.hear(judged)
    turn.hear(AnswerToken("first "))
    turn.hear(AnswerToken("draft"))
    assert turn.draft == "first draft"
    turn.hear(DraftWithdrawn(0, "needs_docs"))
    assert turn.draft == ""
    turn.hear(AnswerToken("second", 1))
    turn.hear(AnswerCorrected("the whole"))
    assert turn.draft == "the whole"
    assert not turn.over
    assert turn.steps == [found, judged, WithdrawnDraft("first draft", "needs_docs")]
    turn.hear(DoneEvent(answer=reply("done")))
    assert turn.over
    assert isinstance(turn.answer, AnswerReply)
    assert turn.draft == ""


def test_what_is_kept_of_a_turn_is_bounded() -> None:
    turn = Turn("?")
    for _ in range(MOST_STEPS + 5):
        turn.hear(NodeFinished("retrieve", 0.0))
    for _ in range(5):
        turn.hear(AnswerToken("x" * (MOST_DRAFT // 2)))
    assert len(turn.steps) == MOST_STEPS
    assert len(turn.draft) == MOST_DRAFT
