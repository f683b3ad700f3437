"""The tolerant reader: usual damage is read, nothing is invented, and no text makes it slow or breaks it."""

import contextlib
import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import ReplyUnusable
from selfright.domain.value_parsing import score
from selfright.llm.tolerant import read_object

GOOD = '{"score": 0.8, "reason": "it fits"}'
EXPECTED = {"score": 0.8, "reason": "it fits"}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\ufeff{GOOD}",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Sure! Here is my judgement:\n```json\n{GOOD}\n```\nLet me know.",
        f"```python\nprint('x')\n```\nand\n```json\n{GOOD}\n```",
        f"My judgement {{see [1]}} is {GOOD}. Done.",
        f"<think>{{'score': 0.1, 'reason': 'no'}}</think>{GOOD}",
        f"{{'score': 0.1, 'reason': 'no'}} so far</think>{GOOD}",
        '{"score": 0.8, "reason": "it fits",}',
        "{'score': 0.8, 'reason': 'it fits'}",
        "{score: 0.8, reason: 'it fits'}",
        "{“score”: 0.8, “reason”: “it fits”}",
        "{‘score’: 0.8, ‘reason’: ‘it fits’}",
        '{"score": 0.8, // of one\n "reason": "it fits" # really\n /* so there */}',
        '{"score"：０.８，"reason"："it fits"}',
        '｛"score": ８/１０, "reason": "it fits"｝',
        '{"score": 8/10, "reason": "it fits"}',
        '{"score": "8/10", "reason": "it fits"}',
        '{"score": 80%, "reason": "it fits"}',
        '{"score": "0.8", "reason": "it fits"}',
        '{"score": 8e-1, "reason": "it fits"}',
        '{"score": .8, "reason": "it fits"}',
        '{"evaluation": {"score": 0.8, "reason": "it fits"}}',
        '{"result": [{"score": 0.8, "reason": "it fits"}]}',
        '{"note": "x", "evaluation": {"score": 0.8, "reason": "it fits"}}',
        '[{"score": 0.8, "reason": "it fits"}]',
        f"{GOOD}\n{GOOD}",
        json.dumps(GOOD),
        f'Expected form: {{"score": number, "reason": string}}\n{GOOD}',
        '{"score": 0.8, "reason": "it fits"}}]',
        '{"type": "object", "properties": {"score": {"type": "number"}, "reason": {}}}\n' + GOOD,
    ],
)
def test_usual_damage(text: str) -> None:
    read = read_object(text, ("score", "reason"))
    assert score(read["score"]) == EXPECTED["score"]
    assert read["reason"] == EXPECTED["reason"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would say 0.8.",
        "{}",
        "[]",
        "null",
        '"score"',
        '{"reason": "no score"}',
        '{"점수": 0.8}',
        '{"score": 0.8',
        '{"score": 0.',
        '{"score": 0.8, "reason": "cut of',
        '{"score": 0.8, "more": [1, 2',
        '{"score": 1',
        '{"score": tru',
        '{"score": ',
        '{"score"',
        '{"score": high}',
        '{"score": number}',
        '{"score": 0,8}',
        '{"score": 8 / 10}',
        '{"score": 0.2, "score": 0.9}',
        '{"score": 0.2} {"score": 0.9}',
        '{"score": 0.2} no, rather {"score": 0.9, "reason": "cut of',
        '{"a": {"score": 0.2}, "b": {"score": 0.9}}',
        '[{"score": 0.2}, {"score": 0.9}]',
        '<think>{"score": 0.8}</think>',
        '<think>{"score": 0.8}',
        '{"score": 0.8}</think>',
        '{"deep": {"deeper": {"score": 0.8}}}',
        '{"properties": {"score": 1}}',
        '{"score" 0.8}',
        '{"score": }',
        "[" * 1000,
    ],
)
def test_what_cannot_be_known_is_refused(text: str) -> None:
    with pytest.raises(ReplyUnusable, match="expected"):
        read_object(text, ("score",))


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "nan", "1e999", "1.7", "-1", "0.", "null", "True"])
def test_bad_scores_stay_bad(written: str) -> None:
    with pytest.raises(ValueError, match="score"):
        score(read_object(f'{{"score": {written}}}', ("score",))["score"])


def test_literals_and_numbers() -> None:
    read = read_object("{a: True, b: None, c: false, d: -3, e: 2.50, f: [1, 'x',], g: NaN}")
    assert math.isnan(read.pop("g"))
    assert read == {"a": True, "b": None, "c": False, "d": -3, "e": 2.5, "f": [1, "x"]}
    assert isinstance(read["d"], int)


def test_quotes_inside_of_strings() -> None:
    assert read_object('{"reason": "he said "yes" to it", "n": 1}') == {"reason": 'he said "yes" to it', "n": 1}
    assert read_object("{'reason': 'it doesn't say', 'n': 1}") == {"reason": "it doesn't say", "n": 1}
    assert read_object(r'{"reason": "a \"b\", \d \u00e9 \ud83d\ude00 \ud83d"}') == {"reason": 'a "b", \\d é 😀 \ufffd'}


def test_the_last_one_that_agrees_is_taken() -> None:
    both = '{"score": 0.5, "reason": "first"} and again {"score": 0.5, "reason": "second"}'
    assert read_object(both, ("score",))["reason"] == "second"
    with pytest.raises(ReplyUnusable, match="disagree"):
        read_object(both)


def test_the_message_tells_fields_and_no_text() -> None:
    with pytest.raises(ReplyUnusable, match="with the fields score, reason, got one without reason") as caught:
        read_object('{"score": 0.8, "secret": "of a document"}', ("score", "reason"))
    assert "secret" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_json_is_read_as_json(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    if "<" not in str(value) and "`" not in str(value):  # thinking is removed first
        assert read_object(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@given(OBJECTS, st.data())
def test_what_was_cut_off_is_refused(value: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(value, ensure_ascii=False)
    if "<" not in whole and "`" not in whole:  # thinking is removed first
        with pytest.raises(ReplyUnusable):
            read_object(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.one_of(st.text(), st.text("{}[]\"'“”‘’:,：，\\/*#0.8eE+-tfn<>` \n가a_", max_size=80)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ReplyUnusable):
        assert isinstance(read_object(text), dict)


HOSTILE = """{ [ {" {'a {"a": {"a":" {a:[ /* {/* {// {# " \\ {"\\ 9 {a:9 `_ _ {"a":1} <think> </think> “ {"a"_"""
HOSTILE += """ {"a":"b"__ [1, [- {a:/"""


@pytest.mark.parametrize("piece", HOSTILE.split())
def test_hostile_text_is_linear(piece: str) -> None:
    started = time.process_time()
    with contextlib.suppress(ReplyUnusable):
        read_object('{"a": ' + piece.replace("_", " ") * (40_000 // len(piece)), ("score",))
    assert time.process_time() - started < 1.0


def test_no_more_than_a_bounded_part_is_looked_at() -> None:
    with pytest.raises(ReplyUnusable):
        read_object(" " * 200_000 + GOOD)
