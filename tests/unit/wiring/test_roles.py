"""What goes before a language model that judges: no network reads, unless a judge of the user's own asks for it."""

from collections.abc import Sequence

import pytest

from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.retrieval.tokenizer import BilingualTokenizer, HangulBigrams
from selfright.roles.calibration.stored import CalibrationSource, GraderCalibration
from selfright.roles.scoring import Curve
from selfright.wiring.roles import ChosenJudges, offline_roles


class Even:
    """Every term is as rare as any other."""

    def idf(self, terms: Sequence[str]) -> list[float]:
        return [1.0] * len(terms)


class Own:
    """A judge of the user's own."""

    name = "own"
    languages: Sequence[Language] = ("en", "ko")

    def read(self, text: str, passages: Sequence[str]) -> Sequence[PairReading]:
        raise AssertionError("nobody asks it here")


LINE = Curve((0.0, 1.0), (0.0, 1.0))
FITTED = GraderCalibration(LINE, LINE, 0.2, 0.8, False, CalibrationSource("2026-01-01", 4, 2, "", "", 0.1))


@pytest.mark.parametrize(
    ("judging", "same"),
    [(ChosenJudges(), False), (ChosenJudges(passages=Own()), True), (ChosenJudges(calibration=FITTED), True)],
    ids=["as shipped", "own judge", "calibrated"],
)
def test_the_quick_grader_stays_what_it_was_fitted_to(judging: ChosenJudges, same: bool) -> None:
    roles = offline_roles(BilingualTokenizer(HangulBigrams()), Even(), None, judging)
    assert (roles.quick_grader is roles.grader) is same
    assert not roles.quick_grader.reads
