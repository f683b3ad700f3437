"""A chat at a terminal: what was withdrawn is never the answer without a word."""

import io
from dataclasses import replace

import pytest

from selfright.cli.commands.chat import EventPrinter
from selfright.cli.render_answer import account
from selfright.domain.answers import Answer, Cost
from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, TurnFinished
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource, StopReason
from selfright.domain.passages import Language


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(out: io.StringIO, question: str, *events: object) -> str:
    printer = EventPrinter(out, question)
    for event in events:
        printer.show(event)
    return out.getvalue()


def finished(
    text: str, language: Language = "en", judged: Evaluation | None = None, uncovered: tuple[str, ...] = ()
) -> TurnFinished:
    answer = Answer(
        "?", text, False, language, (), judged, None, StopReason.ADEQUATE, "full", False, (), (), (), Cost(), "t"
    )
    return TurnFinished(replace(answer, uncovered=uncovered))


@pytest.mark.parametrize("last", [AnswerToken("Seven bar."), AnswerCorrected("Seven bar.")])
def test_a_withdrawn_draft_that_is_the_answer_after_all_says_so(last: object) -> None:
    events = (AnswerToken("Seven "), AnswerToken("bar."), DraftWithdrawn(0, "hallucination"), last)
    said = told(Terminal(), "At what pressure?", *events, finished("Seven bar."))
    assert said.index("not certain") > said.index("looking further")
    assert said.rstrip().endswith("Seven bar.")
    assert "가장 가까운 답입니다" in told(Terminal(), "몇 바에서 열려?", *events, finished("Seven bar.", "ko"))
    # A file gets the answer alone, marked as well.
    assert told(io.StringIO(), "At what pressure?", *events, finished("Seven bar.")).startswith("[not certain")


def test_another_draft_is_not_marked() -> None:
    events = (AnswerToken("Nine."), DraftWithdrawn(0, "hallucination"), AnswerToken("Seven bar."))
    said = told(Terminal(), "몇 바?", *events, finished("Seven bar."))
    assert said == "Nine.\n[근거가 부족해 더 찾아봅니다]\nSeven bar.\n"
    assert told(io.StringIO(), "몇 바?", *events, finished("Seven bar.")) == "Seven bar.\n"


DOUBTED = Evaluation(0.9, 0.3, 0.9, AnswerQuality.NEEDS_DOCS, 0.8, EvaluationSource.LOCAL, needs_retrieval=True)


def test_doubt_stands_above_the_answer_in_ask_and_chat() -> None:
    """Also where the first pass was the last, and for what answers only one of two parts."""
    asked = finished("Seven bar.", judged=DOUBTED)
    assert account(asked.answer).startswith("[not certain")
    assert told(io.StringIO(), "?", asked).startswith("[not certain")
    half = finished("7바입니다.", "ko", DOUBTED, uncovered=("값은 얼마인가요",))
    for said in (account(half.answer), told(io.StringIO(), "?", half)):
        assert said.startswith("[질문의 일부에만 답합니다. 다루지 못한 내용: 값은 얼마인가요]\n7바입니다.")
    sure = finished("Seven bar.", judged=replace(DOUBTED, needs_retrieval=False))
    assert account(sure.answer).startswith("Seven bar.")
    refused = replace(asked.answer, abstained=True)
    assert account(refused).startswith("Seven bar.")


ROWS = "- 시설: 축구장; Price: 40,000원 [1]\n- 시설: 테니스장; Price: 8,000원 [1] [2]\n\nThat is all. [3]"


def test_rows_stand_in_columns_where_the_terminal_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert account(finished(ROWS).answer).startswith(
        "  시설      Price\n"
        "  --------  --------\n"
        "  축구장    40,000원  [1]\n"
        "  테니스장  8,000원   [1] [2]\n"
        "\nThat is all. [3]"
    )
    monkeypatch.setenv("COLUMNS", "20")
    assert account(finished(ROWS).answer).startswith(ROWS)


def test_doubt_that_comes_after_the_answer_was_written_is_told_below_it() -> None:
    said = told(Terminal(), "?", AnswerToken("Seven bar."), finished("Seven bar.", judged=DOUBTED))
    assert said.startswith("Seven bar.\n[not certain")
