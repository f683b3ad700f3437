"""A reply that goes round in circles is seen, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.llm.local.backend import is_looping

SENTENCE = "The dose is adjusted to what the body tolerates.\n"
ROWS = "".join(f"| {n} | {n * 7} mg | once a day |\n" for n in range(1, 30))


@pytest.mark.parametrize("unit", [SENTENCE, "이러한 사용자도 ", "a", SENTENCE * 2 + "It is taken once a day.\n"])
@pytest.mark.parametrize("before", ["", "First this. "])
def test_the_same_three_times_over_is_a_loop(unit: str, before: str) -> None:
    text = before + unit * max(3, 1 + 120 // len(unit))
    assert is_looping(text)
    assert not is_looping(text + "Then something else.")


@pytest.mark.parametrize("text", ["", "a", SENTENCE, SENTENCE * 2, ROWS, "no " * 8, "| --- | --- | --- |\n"])
def test_what_is_no_loop(text: str) -> None:
    assert not any(is_looping(text[:end]) for end in range(len(text) + 1))


@given(st.text(alphabet="ab \n가", max_size=60), st.text(alphabet="ab", min_size=1, max_size=50), st.integers(1, 9))
def test_what_is_called_a_loop_is_one(before: str, unit: str, times: int) -> None:
    text = before + unit * times
    if is_looping(text):
        ends = ((text[-max(3 * period, 120) :], period) for period in range(1, len(text) // 3 + 1))
        assert any(len(end) >= 120 and _repeats(end, period) for end, period in ends)


def _repeats(end: str, period: int) -> bool:
    return end[period:] == end[:-period]
