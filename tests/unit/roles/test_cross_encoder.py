"""A judge of passages that the user chose, beside the grader's signals."""

import math
from dataclasses import replace

import pytest

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Verdict
from selfright.roles import reading
from selfright.roles.calibration.stored import CalibrationSource, GraderCalibration
from selfright.roles.grade.networks import JUDGED_CHARACTERS, MOST_JUDGED
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.scoring import Blend, Curve
from tests.support.readers import Damaged, Favourite
from tests.support.texts import analyzer, hits
from tests.support.texts import passage as passage_of

QUESTION = "Who rewrote the log at night?"
LEFT = passage_of("The compactor rewrote the log at night.", "left")
RIGHT = passage_of("The archiver rewrote the log at night.", "right")
KOREAN = passage_of("기록은 밤마다 압축기가 다시 쓴다.", "ko")
READ = analyzer(LEFT.text, RIGHT.text, KOREAN.text)
ALONE = OfflineGrader(READ)


def grader(judge: Favourite, calibration: GraderCalibration | None = None) -> OfflineGrader:
    return OfflineGrader(READ, judge=judge, calibration=calibration)


def own(word: str, high: float = 8.0, languages: tuple[str, ...] = ("en", "ko")) -> Favourite:
    return Favourite(word, name="own-123", high=high, languages=languages)


def calibration(blend: Blend | None) -> GraderCalibration:
    straight = Curve((0.0, 1.0), (0.0, 1.0))
    return GraderCalibration(
        straight, straight, 0.2, 0.8, False, CalibrationSource("2026-01-01", 4, 2, "", "", 0.1), blend
    )


def test_it_tells_apart_what_the_signals_cannot_without_cosines_or_scorers_that_know_it() -> None:
    signals = ALONE.grade_now(QUESTION, hits(LEFT, RIGHT))
    turned = ALONE.grade_now(QUESTION, hits(RIGHT, LEFT))
    assert signals.probability(LEFT.id) == pytest.approx(turned.probability(RIGHT.id), abs=0.01)
    for word, wanted, other in (("compactor", LEFT, RIGHT), ("archiver", RIGHT, LEFT)):
        grading = grader(own(word)).grade_now(QUESTION, hits(LEFT, RIGHT))
        assert (grading.probability(wanted.id) or 0) > (signals.probability(wanted.id) or 1)
        assert (grading.probability(other.id) or 1) < (signals.probability(other.id) or 0)


def test_what_it_counts_is_the_calibration_s_to_say() -> None:
    nothing = calibration(Blend({"signals": 1.0, "judge": 0.0, "behind": 0.0}))
    assert grader(own("compactor"), nothing).read(QUESTION, hits(LEFT)).probabilities == pytest.approx(
        ALONE.read(QUESTION, hits(LEFT)).probabilities, abs=0.01
    )
    alone = calibration(Blend({"signals": 0.0, "judge": 1.0, "behind": 0.0}))
    (left, right) = grader(own("compactor"), alone).read(QUESTION, hits(LEFT, RIGHT)).probabilities
    assert left == pytest.approx(1 / (1 + math.exp(-8)))
    assert right == pytest.approx(1 / (1 + math.exp(3)))
    half = grader(own("compactor"), calibration(None)).read(QUESTION, hits(LEFT))
    assert half.probabilities == grader(own("compactor")).read(QUESTION, hits(LEFT)).probabilities


def test_the_verdict_follows_the_judge() -> None:
    believed = Blend({"signals": 0.0, "judge": 1.0, "behind": 0.0})
    for high, verdict in ((8.0, Verdict.CORRECT), (-8.0, Verdict.INCORRECT)):
        found = grader(own("compactor", high)).weighing(believed).grade_now(QUESTION, hits(LEFT))
        assert found.verdict is verdict
        assert (found.sufficiency or 0) <= max(p for p in (found.probability(LEFT.id) or 0,)) + 1e-9


def test_it_reads_both_languages_unless_it_says_otherwise() -> None:
    both, english = own("압축기"), own("압축기", languages=("en",))
    question = "기록은 누가 다시 쓰나요?"
    assert (grader(both).grade_now(question, hits(KOREAN)).probability(KOREAN.id) or 0) > (
        ALONE.grade_now(question, hits(KOREAN)).probability(KOREAN.id) or 1
    )
    grader(both).grade_now(QUESTION, hits(KOREAN))
    assert len(both.seen) == 2
    assert grader(english).grade_now(question, hits(KOREAN)) == ALONE.grade_now(question, hits(KOREAN))
    assert grader(english).grade_now(QUESTION, hits(KOREAN)) == ALONE.grade_now(QUESTION, hits(KOREAN))
    assert not english.seen


def test_at_most_twenty_are_read_those_most_probable_by_the_signals_and_of_each_what_a_network_takes() -> None:
    near = [replace(LEFT, id=f"n{n}") for n in range(MOST_JUDGED + 5)]
    far = replace(passage_of("Bread rises in a warm kitchen. " * 300, "far"), id="far")
    judge = own("compactor")
    found = grader(judge).grade_now(QUESTION, hits(far, *near))
    assert len(judge.seen) == MOST_JUDGED
    assert not any("Bread" in text for text in judge.seen)
    assert len(found.grades) == len(near) + 1
    grader(judge).grade_now(QUESTION, hits(far))
    assert "Bread" in judge.seen[-1]
    assert len(judge.seen[-1]) <= JUDGED_CHARACTERS + 1


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_fails_the_judge(broken: float) -> None:
    with pytest.raises(JudgeFailed):
        grader(own("compactor", high=broken)).grade_now(QUESTION, hits(LEFT, RIGHT))


def test_one_that_cannot_be_used_is_done_without_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    reading._say.cache_clear()
    broken = Damaged("compactor", name="own-123", languages=("en", "ko"))
    for _ in range(2):
        assert grader(broken).grade_now(QUESTION, hits(LEFT)) == ALONE.grade_now(QUESTION, hits(LEFT))
    (said,) = caplog.records
    assert "own-123" in said.message
