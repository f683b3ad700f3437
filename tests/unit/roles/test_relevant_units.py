"""Titles, headings and agenda items are no answers, unless they are asked for."""

import pytest

from selfright.roles.relevant_units import units_for
from tests.support.texts import passage, strip

MINUTES = """# Minutes of the allotment committee

Present: Ada Brook, Tom Reyes

## Agenda
1. Water meter
2. Fence repair

## 2. Fence repair
The repair costs 640 pounds and starts on 3 May.
"""
PLAIN = """별빛아파트 입주자대표회의 5월 회의록

참석: 나윤슬, 도하람

안건 1: 놀이터 그네 도색
도하람 위원이 6월에 그네를 칠하기로 하였다.

단지 내 울타리 설치

반대하는 위원이 없어 8월에 세우기로 하였다.
"""


def told(question: str, text: str) -> list[str]:
    return [piece.text for piece in units_for(question, [strip(passage(text))])]


def test_items_that_a_section_takes_up_are_no_answers() -> None:
    assert told("Who repairs the fence?", MINUTES) == [
        "Present: Ada Brook, Tom Reyes",
        "1. Water meter",  # no section tells more of it
        "The repair costs 640 pounds and starts on 3 May.",
    ]


@pytest.mark.parametrize("question", ["What was on the agenda?", "What is the title of the second item?"])
def test_they_are_where_they_are_asked_for(question: str) -> None:
    assert "2. Fence repair" in told(question, MINUTES)


def test_lines_above_prose_are_no_answers() -> None:
    assert told("놀이터 그네 도색은 누가 하나요?", PLAIN) == [
        "참석: 나윤슬, 도하람",
        "도하람 위원이 6월에 그네를 칠하기로 하였다.",
        "반대하는 위원이 없어 8월에 세우기로 하였다.",
    ]
    assert told("회의록 제목은 무엇인가요?", PLAIN)[0].startswith("별빛아파트")
    assert told("What?", "Open from 9 to 17\nClosed on Sundays") == ["Open from 9 to 17", "Closed on Sundays"]
