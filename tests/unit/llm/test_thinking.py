"""Thinking is removed, the same however the text is cut into pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.llm.tolerant import ThinkingFilter, strip_reasoning

MARKS = "<think> </think> <THINK> <thinking> </thinking> <reasoning> </reasoning> ```"
PIECES = "` `` < </ think > <thi nk> a 가 İ K <b>"
TEXTS = st.lists(st.sampled_from([*MARKS.split(), *PIECES.split(), " ", "\n"]), max_size=25).map("".join)


def without_thinking(text: str) -> str:
    thinking = ThinkingFilter()
    return thinking.feed(text) + thinking.end()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Plain.", "Plain."),
        ("<think>hm</think>\n\nYes.", "Yes."),
        ("  <Thinking>hm</THINKING> Yes.", "Yes."),
        ("Yes, <reasoning>is it?</reasoning>it is.", "Yes, it is."),
        ("<think>a</think>B <think>c</think>D", "B D"),
        ("<think>never closed", ""),
        ("Yes. <think>never closed", "Yes. "),
        ("<think>other tags </thinking> stay thinking</think>Yes", "Yes"),
        ("Use ```\n<think>shown</think>\n``` here", "Use ```\n<think>shown</think>\n``` here"),
        ("```x```<think>not</think>y", "```x```y"),
        ("a < b, <b>bold</b>, <thinker>, <", "a < b, <b>bold</b>, <thinker>, <"),
        ("<think>``` in thinking opens no fence</think>a<think>b</think>", "a"),
        ("이것은 <think>음…</think>답입니다.", "이것은 답입니다."),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert without_thinking(text) == shown
    assert strip_reasoning(text) == shown


def test_only_the_closing_tag_was_written() -> None:
    assert strip_reasoning("Let me see, 1 + 1.</think>\nTwo.") == "Two."
    assert strip_reasoning("<think>a<think>b</think>c</think>Two.") == "Two."
    assert strip_reasoning("all of it was thinking</think>") == ""
    assert strip_reasoning("```\n</think>\n``` is code") == "```\n</think>\n``` is code"
    assert without_thinking("Let me see.</think>Two.") == "Let me see.Two."


@given(TEXTS, st.lists(st.integers(0, 60)))
def test_how_it_is_cut_changes_nothing(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    thinking = ThinkingFilter()
    shown = "".join(thinking.feed(text[start:end]) for start, end in pairwise(places))
    assert shown + thinking.end() == without_thinking(text)
    one_by_one = ThinkingFilter()
    assert "".join(map(one_by_one.feed, text)) + one_by_one.end() == without_thinking(text)


@given(st.text("ab <>/`"), st.text("ab <>/`"), st.sampled_from(["think", "THINKING", "Reasoning"]))
def test_what_is_thought_is_never_shown_outside_of_code(before: str, after: str, tag: str) -> None:
    if "```" not in before:
        text = f"{before}<{tag}>secret</{tag}>{after}"
        assert without_thinking(text) == strip_reasoning(text) == f"{before}{after}".lstrip()


@given(TEXTS)
def test_what_is_spoken_is_the_end_of_what_is_shown(text: str) -> None:
    assert without_thinking(text).endswith(strip_reasoning(text))


def test_text_is_shown_as_soon_as_it_is_clear() -> None:
    thinking = ThinkingFilter()
    assert [thinking.feed(piece) for piece in ("Yes", " <b", "> it is <thi", "s", ">.", " `")] == [
        "Yes", " <b", "> it is ", "<this", ">.", " ",
    ]  # fmt: skip
    assert thinking.end() == "`"


def test_long_replies_in_small_pieces_take_no_time() -> None:
    thinking = ThinkingFilter()
    shown = [thinking.feed(piece) for piece in ["<think>", *("<`" * 10_000), "</think>", *("<`" * 10_000)]]
    assert len("".join(shown) + thinking.end()) == 20_000
