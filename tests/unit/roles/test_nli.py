"""A judge of claims that the user chose, beside what can be seen in words."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, EvaluationRequest, Sentence
from selfright.domain.composing import compose
from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, PairReading, QueryClass
from selfright.domain.passages import Hit, Language
from selfright.domain.text import language_of
from selfright.roles import reading
from selfright.roles.evaluate.nli import CHARACTERS, MOST_CLAIMS, ClaimNli, stretch
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.visible_text import sources
from tests.support.texts import analyzer, hits, passage

LAMP = passage("The lamp of the lighthouse is renewed each spring. The keeper polishes the lens.", "lamp.md")
HORN = passage("The fog horn sounds twice a minute.", "horn.md")
KOREAN = passage("등대의 등은 봄마다 교체한다.", "ko.md")
READ = analyzer(LAMP.text, HORN.text, KOREAN.text)
QUESTION = "When is the lamp of the lighthouse renewed?"
REWORDED = "Every year in March to May the light gets a new bulb."
CLOSE = "The lamp of the lighthouse is renewed each autumn."


@dataclass
class Entailing:
    """Says the same of every passage that holds a word; notes what it was shown."""

    word: str
    score: float = 6.0
    denies: float = 0.0
    name: str = "nli-123"
    languages: Sequence[Language] = ("en", "ko")
    seen: list[tuple[str, str]] = field(default_factory=list)

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        self.seen += [(text, one) for one in passages]
        return [PairReading(self.score, (), self.denies) if self.word in p else PairReading(-6.0) for p in passages]


class Broken(Entailing):
    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        raise ModelFilesDamaged("model.onnx cannot be read; put it there again")


def judged(
    *sentences: str,
    judge: Entailing | None = None,
    reader: Entailing | None = None,
    among: Sequence[Hit] = (),
) -> Evaluation:
    said = tuple(Sentence(text, ()) for text in sentences)
    language = language_of(sentences[0])
    evidence = tuple(among or hits(LAMP, HORN))
    request = EvaluationRequest(QUESTION, Draft(compose(said), said), language, QueryClass.QUESTION, evidence)
    return asyncio.run(LocalEvaluator(READ, ClaimNli(judge, reader)).evaluate(request))


def claim(sentence: str, **judging: object) -> Claim:
    (found,) = judged(sentence, **judging).claims
    return found


def test_what_is_said_in_other_words_is_supported_when_the_judge_says_so_and_by_the_passage_it_names() -> None:
    assert claim(REWORDED).status is not ClaimStatus.SUPPORTED
    found = claim(REWORDED, judge=Entailing("lamp"))
    assert found.status is ClaimStatus.SUPPORTED
    assert found.passage_ids[0] == LAMP.id


def test_what_shares_words_is_not_supported_when_the_judge_sees_nothing_in_it() -> None:
    assert claim(CLOSE).status is ClaimStatus.SUPPORTED
    assert claim(CLOSE, judge=Entailing("nowhere")).status is not ClaimStatus.SUPPORTED


def test_a_denial_makes_a_hallucination_of_what_the_evidence_is_about_alone() -> None:
    denying = Entailing("lamp", score=-6.0, denies=0.95)
    found = judged(CLOSE, judge=denying)
    assert found.claims[0].status is ClaimStatus.UNSUPPORTED
    assert found.answer_quality is AnswerQuality.HALLUCINATION
    assert found.accuracy < judged(CLOSE).accuracy
    unsure = judged(CLOSE, judge=Entailing("lamp", score=-6.0, denies=0.6))
    assert unsure.answer_quality is not AnswerQuality.HALLUCINATION
    # No passage is near this one in words, so nothing is there to deny it.
    assert judged(REWORDED, judge=denying) == judged(REWORDED, judge=Entailing("lamp", score=-6.0))


def test_numbers_are_not_the_judge_s_to_forgive() -> None:
    wrong = "The fog horn sounds 5 times an hour, twice a minute."
    number = passage("The fog horn sounds 9 times an hour, twice a minute.", "horn.md")
    found = claim(wrong, judge=Entailing("horn", score=9.0), among=hits(number))
    assert found.status is ClaimStatus.UNSUPPORTED


def test_word_for_word_needs_no_judge() -> None:
    judge = Entailing("nowhere")
    assert claim("The keeper polishes the lens.", judge=judge).status is ClaimStatus.SUPPORTED
    assert not judge.seen


def test_it_reads_claims_and_passages_of_its_languages_and_no_more_than_its_bounds() -> None:
    english = Entailing("등", languages=("en",))
    korean = "등대의 등은 해마다 한 번 새것으로 바뀐다."
    assert claim(korean, judge=english, among=hits(KOREAN)) == claim(korean, among=hits(KOREAN))
    assert not english.seen
    both = Entailing("등")
    assert claim(korean, judge=both, among=hits(KOREAN)).status is ClaimStatus.SUPPORTED
    many = Entailing("lamp")
    judged(*(f"{CLOSE} {n} boats came." for n in range(MOST_CLAIMS + 9)), judge=many)
    assert len({text for text, _ in many.seen}) <= MOST_CLAIMS
    assert len(many.seen) <= 3 * MOST_CLAIMS


def test_what_ships_reads_reworded_claims_and_counts_more_than_words() -> None:
    found = claim(REWORDED, reader=Entailing("lamp", score=9.0))
    assert found.status is ClaimStatus.SUPPORTED
    assert found.passage_ids[0] == LAMP.id
    words = claim(REWORDED).score or 0.0
    unsure = claim(REWORDED, reader=Entailing("lamp", score=1.0)).score or 0.0
    assert math.log(unsure / (1 - unsure)) == pytest.approx(0.5 * math.log(words / (1 - words)) + 0.75, abs=0.01)


def test_what_ships_alone_takes_nothing_for_invented() -> None:
    found = claim(CLOSE, reader=Entailing("nowhere", score=-9.0))
    assert found.status is ClaimStatus.UNKNOWN
    assert (found.score or 0) < (claim(CLOSE).score or 0)


def test_what_ships_is_not_asked_of_quotations_and_reads_two_passages() -> None:
    quoting = Entailing("nowhere", score=-6.0)
    rows = "The keeper polishes the lens. The fog horn sounds twice a minute."
    assert judged(*rows.split(". "), reader=quoting) == judged(*rows.split(". "))
    assert not quoting.seen
    judged(CLOSE, "The keeper polishes the lens.", reader=quoting, among=hits(LAMP, HORN, KOREAN))
    assert {text for text, _ in quoting.seen} == {CLOSE}
    assert len(quoting.seen) <= 2


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_judge_without_a_number_or_in_ruins_leaves_it_to_the_words(
    score: float, caplog: pytest.LogCaptureFixture
) -> None:
    assert claim(CLOSE, judge=Entailing("lamp", score=score), among=hits(LAMP)) == claim(CLOSE, among=hits(LAMP))
    reading._say.cache_clear()
    assert claim(CLOSE, judge=Broken("lamp")) == claim(CLOSE)
    assert "nli-123" in caplog.records[-1].message


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=900), min_size=1, max_size=12), st.integers(0, 11))
def test_a_stretch_holds_its_sentence_and_keeps_its_bound(sentences: list[str], place: int) -> None:
    text = " ".join(f"X{one.strip()}." for one in sentences)
    (source,) = sources((), hits(passage(text)))
    if not source.sentences:  # repeated so often that it counts as planted
        assert stretch(source, place) == ""
        return
    place = min(place, len(source.sentences) - 1)
    found = stretch(source, place)
    assert len(found) <= CHARACTERS
    assert source.sentences[place][:CHARACTERS] in found
    if sum(len(one) + 1 for one in source.sentences) <= CHARACTERS:
        assert found == " ".join(source.sentences)
