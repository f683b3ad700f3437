"""Judged claims → a calibration of what evidence is said to support, and figures that tell whether it was worth it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from selfright.roles.calibration.blending import blended
from selfright.roles.calibration.curves import fitted
from selfright.roles.calibration.measures import Array, Bin, Quality, auc, quality, reliability
from selfright.roles.calibration.refit import Opinions
from selfright.roles.calibration.rows import check_enough, enough, is_for_weights
from selfright.roles.calibration.stored import UNCALIBRATED_CLAIMS, ClaimCalibration, Origin
from selfright.roles.scoring import Blend

_WORDS = Blend({"words": 1.0})


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A labelled claim; ``opinions`` are what words say of it and, where there is one, a judge: log-odds by name."""

    claim: str
    label: int
    opinions: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """What came of it. "After" figures are of claims that the curve measured there had not seen.

    ``method`` is ``platt`` or ``isotonic``; ``opinions`` compare words and judge, where the user has one.
    """

    calibration: ClaimCalibration
    method: str
    before: Quality
    after: Quality
    reliability_before: tuple[Bin, ...]
    reliability_after: tuple[Bin, ...]
    opinions: Opinions | None


def refit_claims(rows: Sequence[ClaimRow], origin: Origin) -> ClaimReport:
    """A curve, and what the judge counts beside the words. Raises ``InputError`` for too few rows."""
    check_enough([row.label for row in rows])
    weighed = [row for row in rows if "judge" in row.opinions and is_for_weights(row.claim)]
    rest = [row for row in rows if not is_for_weights(row.claim)]
    judge = None
    if all(enough([row.label for row in part]) for part in (weighed, rest)):
        judge = blended([row.opinions for row in weighed], [row.label for row in weighed], UNCALIBRATED_CLAIMS)
        rows = rest
    p = np.array([_together(row.opinions, judge or UNCALIBRATED_CLAIMS) for row in rows])
    y = np.array([float(row.label) for row in rows])
    curve, method, after = fitted(p, y, [row.claim for row in rows])
    questions = len({row.claim for row in weighed}) if judge else 0
    return ClaimReport(
        ClaimCalibration(curve, origin, judge),
        method,
        quality(p, y),
        quality(after, y),
        reliability(p, y),
        reliability(after, y),
        _opinions(rows, p, questions),
    )


def _together(opinions: Mapping[str, float], judge: Blend) -> float:
    return judge(opinions) if "judge" in opinions else _WORDS(opinions)


def _opinions(rows: Sequence[ClaimRow], p: Array, weighed_on: int) -> Opinions | None:
    places = [i for i, row in enumerate(rows) if "judge" in row.opinions]
    if not places:
        return None
    labels = [rows[i].label for i in places]
    words, judge = (auc([rows[i].opinions[name] for i in places], labels) for name in ("words", "judge"))
    return Opinions(len(places), weighed_on, words, judge, auc(p[places], labels))
