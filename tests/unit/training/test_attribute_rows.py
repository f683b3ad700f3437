"""Rows of made-up things and their attributes: drawn alike for a seed, values where the rows say, nothing left open."""

from collections import Counter
from itertools import islice

import pytest

from training.attribute_rows import BLURRED, LEFT_OUT, attribute_rows, drawn_rows
from training.attribute_texts import Texts, particle, read_kinds, read_subjects

DRAWN = list(drawn_rows(7, 6_000))


def test_a_seed_draws_the_same_rows() -> None:
    assert list(islice(attribute_rows(7, 200), 200)) == [drawn.row for drawn in DRAWN[:200]]
    assert next(attribute_rows(8, 1)) != DRAWN[0].row


def test_rows_are_answered_about_as_often_as_not() -> None:
    labels = Counter(drawn.row.label for drawn in DRAWN)
    assert 0.42 < labels[1] / len(DRAWN) < 0.48
    assert 0.12 < sum(drawn.row.about == 0 for drawn in DRAWN) / len(DRAWN) < 0.18
    assert 0.12 < sum(len(drawn.asked) == 2 for drawn in DRAWN) / len(DRAWN) < 0.18
    assert 0.42 < sum(bool(drawn.row.heading) for drawn in DRAWN) / len(DRAWN) < 0.58


def test_no_form_is_left_open() -> None:
    for drawn in DRAWN:
        for text in (drawn.row.asked, drawn.row.heading, drawn.row.text):
            assert not set("{}[]") & set(text), text
            assert "  " not in text
            assert text == text.strip()


def test_answered_rows_point_at_a_value() -> None:
    for drawn in DRAWN:
        row = drawn.row
        if row.label:
            assert set(drawn.asked) <= set(drawn.stated)
            assert 0 <= row.start < row.end <= len(row.text)
            assert row.text[row.start : row.end].strip(" |") == row.text[row.start : row.end]
        else:
            assert (row.start, row.end) == (-1, -1)


def test_passages_that_do_not_answer_lack_what_is_asked() -> None:
    for drawn in DRAWN:
        if not drawn.row.label and drawn.row.about:
            assert not set(drawn.asked) <= set(drawn.stated)
            missing = set(drawn.asked) - set(drawn.stated)
            assert not {BLURRED.get(name) for name in missing} & set(drawn.stated)


def test_what_is_left_out_stays_out_of_training() -> None:
    assert not any(drawn.row.left_out or set(LEFT_OUT) & {*drawn.asked, *drawn.stated} for drawn in DRAWN)
    kept = list(attribute_rows(7, 600, left_out=True))
    assert all(row.left_out for row in kept)
    assert 0.4 < sum(row.dataset == "attributes_new" for row in kept) / len(kept) < 0.6


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_attribute_has_its_forms(language: str) -> None:
    texts, kinds = Texts(language), read_kinds()
    assert set(texts.forms) == set(kinds)
    for name, forms in texts.forms.items():
        assert len(forms.asked) >= 5, name
        assert len(forms.said) >= 4, name
        assert all((forms.names, forms.values, forms.traps)), name
        assert all("{s" in form for form in [*forms.asked, *forms.said, *forms.traps] if "헛걸음" not in form), name
        assert all("{v" in form for form in forms.said), name
    assert all(rival in kinds for kind in kinds.values() for rival in kind.rivals)


def test_both_languages_speak_of_the_same_things() -> None:
    english, korean = Texts("en"), Texts("ko")
    assert all(len(english.forms[name].things) == len(korean.forms[name].things) for name in english.forms)
    assert len({subject.names["en"] for subject in read_subjects()}) == len(read_subjects()) > 150


@pytest.mark.parametrize(
    ("word", "mark", "expected"),
    [
        ("배낭", "은", "은"), ("벨토리", "이", "가"), ("3kg", "을", "을"), ("서울", "으로", "로"),
        ("20cm", "으로", "로"), ("80", "을", "을"), ("95", "을", "를"),
    ],
)  # fmt: skip
def test_particles_follow_the_sound_before_them(word: str, mark: str, expected: str) -> None:
    assert particle(word, mark) == expected
