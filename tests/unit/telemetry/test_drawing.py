import re
from dataclasses import replace

import pytest

from selfright.cli.render_answer import account
from selfright.domain.answers import Cost, Step
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.telemetry.outline import broken, draw_list, draw_trace, finished_trace, plain, rounds
from selfright.ui.words import WORDS
from tests.support.traces import ORIGINS, SAID, answer

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J\x1b]8;;http://evil\x07 "
    "\"' onmouseover=x javascript:alert(1) </style></title>\u202e\x00&lt;b>"
)


def trace(text: str = SAID, *, content: bool = True, **fields: object) -> Trace:
    return finished_trace(answer(text, **fields), 1_700_000_000.0, Scope("u"), ORIGINS, content=content)


def test_the_path_shows_its_loop_and_its_passes() -> None:
    text = draw_trace(trace())
    assert "pass 1: retrieve → grade → quality_check" in text
    assert "↺ back to rewrite" in text
    assert "pass 2: rewrite → retrieve → quality_check" in text
    assert "0.82" in text
    assert "stopped: adequate" in text


def test_of_one_thing_no_account_speaks_as_of_several() -> None:
    one = trace(cost=Cost(1, 1, 0, 1, 1.5), iterations=answer().iterations[:1], trace=())
    accounts = [draw_trace(one), draw_list([one]), account(answer(cost=Cost(1, 1, 0, 1, 1.5)))]
    accounts.append(WORDS["en"]["spent"].format(seconds=1.5, calls=1, tokens=1, web=1))
    for said in accounts:
        assert re.search(r"calls +1\b", said)
        assert not re.search(r"(?<![\d.])1 (?:model |web )?(?:calls|tokens|passes|documents|pages|requests)\b", said)


def test_the_longest_step_has_the_longest_bar() -> None:
    rows = {row.split()[3]: row.count("█") for row in draw_trace(trace()).splitlines() if " ms " in row and "█" in row}
    assert rows["grade"] == 24
    assert rows["rewrite"] == 1


def test_a_turn_that_an_error_ended_is_drawn_as_far_as_it_came() -> None:
    one = broken(
        "ab" * 16, 1.0, Scope("u"), ORIGINS, [Step("retrieve", 0.5, NodeOutcome(passages=8))], 2.0, RuntimeError()
    )
    assert "error: RuntimeError" in draw_trace(one)
    assert "error: RuntimeError" in draw_list([one])


def test_a_terminal_cannot_be_steered_either() -> None:
    hostile = replace(trace(HOSTILE), error=HOSTILE)
    for text in (draw_trace(hostile), draw_list([hostile])):
        assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e", "\r"}


def test_lists_show_the_beginning_of_a_question_where_it_was_kept() -> None:
    full, outline = trace("When is the lamp changed? " * 10), trace(content=False)
    first, second = draw_list([full, outline]).splitlines()
    assert "When is the lamp changed?" in first
    assert len(first) < 200
    assert SAID not in second


@pytest.mark.parametrize(("given", "shown"), [("a\tb", "ab"), ("한국어\n둘째", "한국어\n둘째")])
def test_plain_text_keeps_what_can_be_read(given: str, shown: str) -> None:
    assert plain(given) == shown


def test_steps_are_told_apart_by_pass() -> None:
    found = list(rounds(answer().trace))
    assert [one[-1].outcome.again for one in found] == ["rewrite", ""]
    assert sum(map(len, found)) == len(answer().trace)
    assert list(rounds(())) == []
