"""A chat at a terminal: what was withdrawn is never the answer without a word."""

import io

import pytest

from selfright.cli.commands.chat import EventPrinter
from selfright.domain.answers import Answer, Cost
from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, TurnFinished
from selfright.domain.judgements import StopReason


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(out: io.StringIO, question: str, *events: object) -> str:
    printer = EventPrinter(out, question)
    for event in events:
        printer.show(event)
    return out.getvalue()


def finished(text: str) -> TurnFinished:
    return TurnFinished(
        Answer("?", text, False, "en", (), None, None, StopReason.ADEQUATE, "full", False, (), (), (), Cost(), "t")
    )


@pytest.mark.parametrize("last", [AnswerToken("Seven bar."), AnswerCorrected("Seven bar.")])
def test_a_withdrawn_draft_that_is_the_answer_after_all_says_so(last: object) -> None:
    events = (AnswerToken("Seven "), AnswerToken("bar."), DraftWithdrawn(0, "hallucination"), last)
    said = told(Terminal(), "At what pressure?", *events, finished("Seven bar."))
    assert said.index("not certain") > said.index("looking further")
    assert said.rstrip().endswith("Seven bar.")
    assert "가장 가까운 답입니다" in told(Terminal(), "몇 바에서 열려?", *events, finished("Seven bar."))
    # A file gets the answer alone, marked as well.
    assert told(io.StringIO(), "At what pressure?", *events, finished("Seven bar.")).startswith("[not certain")


def test_another_draft_is_not_marked() -> None:
    events = (AnswerToken("Nine."), DraftWithdrawn(0, "hallucination"), AnswerToken("Seven bar."))
    said = told(Terminal(), "몇 바?", *events, finished("Seven bar."))
    assert said == "Nine.\n[근거가 부족해 더 찾아봅니다]\nSeven bar.\n"
    assert told(io.StringIO(), "몇 바?", *events, finished("Seven bar.")) == "Seven bar.\n"
