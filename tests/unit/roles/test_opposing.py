"""Passages that say the opposite of what is asked."""

import pytest

from selfright.roles.grade import offline
from selfright.roles.grade.offline import OfflineGrader
from tests.support.texts import analyzer, hits, passage

HIGH = passage("The western station measured the highest tide of the century in 1953.", "high.md")
LOW = passage("The western station measured the lowest tide of the century in 1976.", "low.md")
BOTH = passage("The western station measured the highest and the lowest tide of the century by hand.", "both.md")
NOT = passage("It was not the western station that measured the lowest tide of the century.", "not.md")
KOREAN = passage("작년에 서쪽 관측소의 강수량 증가는 더운 바다 때문이다.", "ko.md")
READ = analyzer(*(p.text for p in (HIGH, LOW, BOTH, NOT, KOREAN)), "Tides come and go.", "A hand of the clock.")


def chance(question: str, text: str) -> float:
    found = next(p for p in (HIGH, LOW, BOTH, NOT, KOREAN) if p.document_id == text)
    (p,) = OfflineGrader(READ).read(question, hits(found)).probabilities
    return p


def test_the_highest_is_no_answer_to_who_asks_for_the_lowest() -> None:
    for asked, right, wrong in (("highest", "high.md", "low.md"), ("lowest", "low.md", "high.md")):
        question = f"When did the western station measure the {asked} tide of the century?"
        assert chance(question, right) > 0.5 > 3 * chance(question, wrong)


@pytest.mark.parametrize(
    "question",
    [
        "Did the western station measure the lowest tide of the century?",
        "When did the western station measure the tide of the century?",
        "When did the western station measure the highest and the lowest tide of the century?",
    ],
)
def test_yes_no_questions_comparisons_and_what_asks_for_neither_are_left_alone(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = chance(question, "high.md")
    monkeypatch.setattr(offline, "without_opposing", lambda chances, *_: list(chances))
    assert left == chance(question, "high.md")


def test_a_passage_with_both_sides_or_a_denial_opposes_nothing() -> None:
    question = "When did the western station measure the highest tide of the century?"
    assert chance(question, "both.md") > 0.5
    assert chance(question, "not.md") > chance(question, "low.md")


def test_korean() -> None:
    rose, fell = (f"작년에 서쪽 관측소의 강수량 {change}는 무엇 때문인가요?" for change in ("증가", "감소"))
    assert chance(rose, "ko.md") > 3 * chance(fell, "ko.md")
