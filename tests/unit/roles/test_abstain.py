"""When the abstainer refuses, and what a refusal says."""

import pytest

from selfright.domain.answers import Attempt, Draft, Sentence
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource
from selfright.roles.abstain import MISSING, NEAREST, SupportAbstainer
from selfright.roles.evaluate.support import support
from tests.support.texts import hits, passage

ABSTAINER = SupportAbstainer(0.5)
SAID = Draft("It holds 2 litres.", (Sentence("It holds 2 litres."),))
PAGES = hits(*(passage("Kettles.", f"{n}.md", f"Kettle {n}") for n in range(5)))


def judged(
    grounding: float, completeness: float, accuracy: float, source: EvaluationSource = EvaluationSource.LOCAL
) -> Evaluation:
    missing = tuple(f"point {n}" for n in range(6))
    label = AnswerQuality.NEEDS_DOCS
    return Evaluation(grounding, completeness, accuracy, label, 0.9, source, missing_info=missing)


@pytest.mark.parametrize("scores", [(0.4, 1.0, 1.0), (1.0, 0.4, 1.0), (1.0, 1.0, 0.4)])
def test_an_answer_is_as_good_as_what_it_lacks_most(scores: tuple[float, float, float]) -> None:
    assert support(judged(*scores)) == 0.4
    assert ABSTAINER.should_abstain(SAID, judged(*scores), Flags())


def test_a_supported_answer_is_given() -> None:
    assert not ABSTAINER.should_abstain(SAID, judged(0.9, 0.5, 0.9), Flags())


def test_a_judgement_without_evidence_counts_half() -> None:
    assert ABSTAINER.should_abstain(SAID, judged(0.9, 0.9, 0.9, EvaluationSource.HEURISTIC), Flags())


def test_what_was_not_judged_is_given_and_what_was_refused_is_not() -> None:
    assert not ABSTAINER.should_abstain(SAID, None, Flags())
    assert ABSTAINER.should_abstain(Draft("Nothing found.", refused=True), None, Flags())


def test_abstention_can_be_switched_off_but_a_refusal_stays_one() -> None:
    off = Flags(abstention_enabled=False)
    assert not ABSTAINER.should_abstain(SAID, judged(0.0, 0.0, 0.0), off)
    assert ABSTAINER.should_abstain(Draft("Nothing found.", refused=True), None, off)


def test_a_refusal_names_what_is_missing_and_the_nearest_sources_within_bounds() -> None:
    refusal = ABSTAINER.refusal("How much?", "en", Attempt(SAID, judged(0, 0, 0), 0.0, 0), PAGES)
    assert refusal.refused
    assert refusal.text == (
        "I could not find an answer that the documents support. Missing: point 0, point 1, point 2, point 3. "
        "Nearest sources: Kettle 0 (0.md), Kettle 1 (1.md), Kettle 2 (2.md)."
    )
    assert (MISSING, NEAREST) == (4, 3)


def test_a_refusal_in_korean_with_nothing_found() -> None:
    refusal = ABSTAINER.refusal("얼마인가요?", "ko", Attempt(SAID, None, 0.0, 0), ())
    assert refusal.text == "자료가 뒷받침하는 답을 찾지 못했습니다. 관련된 자료가 없습니다."
