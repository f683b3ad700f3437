"""Words that say the opposite: what is opposed, what compares, and what a denial turns back."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, EvaluationRequest, Sentence
from selfright.domain.judgements import ClaimStatus, QueryClass
from selfright.domain.text import has_hangul, language_of
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.words import PAIRS, opposed
from tests.support.texts import analyzer, hits, passage

READ = analyzer()
WORDS = [word for line in PAIRS.splitlines() for word in line.replace("|", " ").split()]


def opposes(claim: str, said: str) -> bool:
    return opposed(READ.token_set(claim), READ.token_set(said), READ.tokens)


@pytest.mark.parametrize(
    ("claim", "said", "wanted"),
    [
        ("The dose raises the level.", "The dose lowers the level.", True),
        ("The level is higher.", "The level is low.", True),
        ("This increased the level.", "This raised the level.", False),
        ("The level rises or falls.", "The level falls.", False),
        ("The level falls.", "The level rises or falls.", False),
        ("It is allowed.", "The level falls.", False),
        ("매출이 증가", "매출이 감소", True),
        ("매출이 증가", "매출이 증가", False),
    ],
)
def test_what_is_opposed(claim: str, said: str, wanted: bool) -> None:
    assert opposes(claim, said) is wanted


@given(st.lists(st.sampled_from(WORDS), max_size=6), st.lists(st.sampled_from(WORDS), max_size=6))
def test_nothing_opposes_itself_and_nothing_opposes_what_holds_all_of_it(ours: list[str], theirs: list[str]) -> None:
    assert not opposes(" ".join(ours), " ".join(ours))
    assert not opposes(" ".join(ours), " ".join([*ours, *theirs]))


def test_korean_words_are_not_looked_at_for_english_texts() -> None:
    asked: list[str] = []

    def tokens(text: str) -> tuple[str, ...]:
        asked.append(text)
        return (text,)

    assert opposed({"increase"}, {"decrease"}, tokens)
    assert not any(map(has_hangul, asked))
    assert opposed({"증가"}, {"감소"}, tokens)
    assert any(map(has_hangul, asked))


def test_no_word_stands_on_both_sides_of_a_pair() -> None:
    for line in PAIRS.strip().splitlines():
        here, there = (set(side.split()) for side in line.split("|"))
        assert here, line
        assert there, line
        assert not here & there, line


def status(claim: str, evidence: str) -> ClaimStatus:
    said = passage(evidence)
    draft = Draft(claim, (Sentence(claim, ()),))
    request = EvaluationRequest(claim, draft, language_of(claim), QueryClass.QUESTION, hits(said))
    known = analyzer(evidence, "Waves increase.", "Winds reduce waves.", "Boats do not increase.")
    (found,) = asyncio.run(LocalEvaluator(known).evaluate(request)).claims
    return found.status


@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        ("The filter reduces noise in the long recordings of the harbour.", ClaimStatus.SUPPORTED),
        ("The filter increases noise in the long recordings of the harbour.", ClaimStatus.UNSUPPORTED),
        ("The filter does not increase noise in the long recordings of the harbour.", ClaimStatus.SUPPORTED),
        ("The filter does not reduce noise in the long recordings of the harbour.", ClaimStatus.UNSUPPORTED),
    ],
)
def test_a_claim_that_says_the_opposite_is_contradicted_unless_it_denies_that(claim: str, wanted: ClaimStatus) -> None:
    assert status(claim, "The filter reduces noise in all of the long recordings of the harbour.") is wanted
