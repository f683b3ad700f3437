"""What tells an edit of the evidence from a rewording of it."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.text import has_hangul
from selfright.roles.evaluate.claims import ClaimFacts
from selfright.roles.evaluate.edits import Edits, edits
from selfright.roles.evaluate.scoring import words_support
from tests.support.texts import analyzer

SAID = (
    "The keeper shows visitors the large lamp in spring.",
    "In 1874 Orla Keane built the tower, and its doors are reliable.",
    "The ferry leaves at noon.",
)
READ = analyzer(*SAID)
WORDS = (
    "keeper",
    "shows",
    "demonstrates",
    "lamp",
    "Orla",
    "Berlin",
    "1,874",
    "3",
    "all",
    "unreliable",
    "the",
    "-",
    "’s",
)


def found(claim: str, *said: str) -> Edits:
    read = edits(claim, said or SAID, READ)
    assert read is not None
    return read


def test_a_rewording_is_explained_and_an_edit_is_not() -> None:
    literal = found("The keeper shows visitors the large lamp in spring.")
    assert literal == Edits()
    reworded = found("The keeper demonstrates the big lamp to visitors in spring.")
    edited = found("The keeper shows visitors the large garden in spring.")
    assert edited.explained < literal.explained < reworded.explained


def test_names_and_numbers_that_the_evidence_lacks_are_misnamed_the_more_the_rest_is_there() -> None:
    close, loose = found("In 1874 Orla Smith built the tower."), found("Some say Smith planned a harbour.")
    assert close.misnamed > loose.misnamed >= 0
    assert found("In 1875 Orla Keane built the tower.").misnamed > 0
    assert found("Orla Keane built the tower in 1874.").misnamed == 0
    assert found("Towers were built by Orla Keane.").misnamed == 0  # what opens a sentence is no name
    assert found("The tower was built once.", "The tower was built one time in 1,200 days.").misnamed == 0


def test_prefixes_that_turn_a_word_round_and_words_that_say_more() -> None:
    assert found("Its doors are unreliable.").turned == 1
    assert found("Its doors are reliable.").turned == 0
    assert found("The keeper shows all visitors the lamp.").absolute
    assert not found("The keeper shows visitors the lamp.").absolute
    assert not found("All doors are reliable.", "All doors are reliable and shut.").absolute


def test_without_evidence_in_latin_letters_nothing_is_said() -> None:
    assert edits("The keeper is here.", ["등대지기가 있다."], READ) is None
    assert edits("The keeper is here.", [], READ) is None
    assert found("It is there.") == Edits()


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.lists(st.sampled_from(WORDS), max_size=12))
def test_signals_stay_in_range_and_what_is_said_as_it_stands_is_no_edit(claim: list[str], said: list[str]) -> None:
    read = edits(" ".join(claim), [" ".join(said)], READ)
    if read is not None:
        assert 0 < read.explained < 1
        assert 0 <= read.misnamed <= 0.7
        assert 0 <= read.turned <= 2
        assert 0 < words_support(ClaimFacts("x", 1.0, coverage=1.0, anywhere=1.0, edits=read)) < 1
    same = edits(" ".join(said), [" ".join(said)], READ)
    assert same is None or same == Edits()


@pytest.mark.parametrize("conflict", ["number_conflict", "negation_conflict"])
def test_whatever_speaks_for_a_rewording_a_contradiction_is_none(conflict: str) -> None:
    facts = ClaimFacts("x", 1.0, coverage=1.0, anywhere=1.0, edits=Edits(explained=0.9), **{conflict: True})  # type: ignore[arg-type]
    assert words_support(facts) <= words_support(ClaimFacts("x", 1.0, coverage=1.0, anywhere=1.0, **{conflict: True}))  # type: ignore[arg-type]


def test_groups_of_near_synonyms_are_plain_english_words() -> None:
    lines = (files("selfright.roles.evaluate") / "synonyms.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) > 500
    for line in lines:
        words = line.split()
        assert len(words) == len(set(words)) >= 2, line
        assert all(word.isascii() and word.replace("-", "").isalpha() and word.islower() for word in words), line
        assert not has_hangul(line)
