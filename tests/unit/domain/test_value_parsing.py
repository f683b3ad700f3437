"""Values that a model wrote: what can be read for sure is read, all else is refused, and never clamped into range."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.value_parsing import LONGEST_STRING, MOST_STRINGS, half_width, score, strings, truth


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0), (1, 1.0), (0.42, 0.42), (-0.0, 0.0),
        ("0.8", 0.8), (" .5 ", 0.5), ("0,8", 0.8), ("0,800", 0.8), ("1", 1.0), ("1.0", 1.0),
        ("80%", 0.8), ("80 %", 0.8), ("12.5%", 0.125), ("8/10", 0.8), ("8 / 10", 0.8), ("4/5", 0.8), ("0.8/1", 0.8),
        ("４/５", 0.8), ("０.８", 0.8), ("８０％", 0.8),
    ],
)  # fmt: skip
def test_scores(value: object, expected: float) -> None:
    assert score(value) == pytest.approx(expected)
    assert math.copysign(1.0, score(value)) == 1.0


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, True, False, 1.7, -1, -0.01, 80, 10**400, None, [], [0.8], {}, b"0.8",
        "", "high", "1.7", "-1", "-0.5", "120%", "9/5", "8/0", "1/", "/2", "0.", "0.8.", "8/10/10", "8/10%", "1e-1",
        "nan", "inf", "NaN", "1,000", "1,000%", "10,000/20,000", "0.8 or 0.9", "about 0.8", "0x1", "1_0", "0.8²", "½",
        "٠.٨", "０．８점",
    ],
)  # fmt: skip
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a score from 0 to 1"):
        score(value)


@given(
    st.one_of(
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.text("0123456789.,/% ０８％-+e", max_size=12),
        st.booleans(),
    )
)
def test_a_score_is_never_out_of_range(value: object) -> None:
    with contextlib.suppress(ValueError):
        read = score(value)
        assert 0.0 <= read <= 1.0
        assert not isinstance(value, float | int) or read == value


def test_what_came_is_not_quoted() -> None:
    with pytest.raises(ValueError, match="got a str; ask") as caught:
        score("the patient")
    assert "patient" not in str(caught.value)


@given(st.floats(0, 1))
def test_a_score_written_as_text_is_the_same_score(value: float) -> None:
    assert score(f"{value:.6f}") == pytest.approx(value, abs=1e-6)
    assert score(f"{value * 100:.4f}%") == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), (False, False), ("yes", True), ("No.", False), (" TRUE ", True), ("예", True), ("아니오", False)],
)
def test_truth(value: object, expected: bool) -> None:
    assert truth(value) is expected


@pytest.mark.parametrize("value", [None, 1, 0, "", "maybe", "yes and no", "아마도", [True], math.nan])
def test_what_is_neither_true_nor_false_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected true or false"):
        truth(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ("", ()),
        ("the dose", ("the dose",)),
        ("- the dose\n* 복용 시간\n3) price\n\n", ("the dose", "복용 시간", "price")),
        (["a", " b ", "", None, "None", "없음"], ("a", "b")),
        (["2.5 mg tablets"], ("2.5 mg tablets",)),
        ([], ()),
    ],
)
def test_strings(value: object, expected: tuple[str, ...]) -> None:
    assert strings(value) == expected


@pytest.mark.parametrize("value", [1, 0.5, True, {"a": "b"}, ["a", 1], [["a"]], [{"a": 1}]])
def test_what_is_no_list_of_strings_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a list of strings"):
        strings(value)


@given(st.one_of(st.text(), st.lists(st.text(max_size=400), max_size=40)))
def test_strings_are_few_short_and_clean(value: object) -> None:
    read = strings(value)
    assert len(read) <= MOST_STRINGS
    assert all(phrase and phrase == phrase.strip() and len(phrase) <= LONGEST_STRING for phrase in read)


@given(st.text())
def test_half_width_keeps_the_length(text: str) -> None:
    assert len(half_width(text)) == len(text)
    assert half_width("｛：８，｝　가") == "{:8,} 가"
