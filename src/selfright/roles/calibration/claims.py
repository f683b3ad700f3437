"""Judged claims → a calibration of what evidence is said to support, and figures that tell whether it was worth it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from selfright.roles.calibration.fitting import blended, fitted
from selfright.roles.calibration.measures import Array, Bin, Quality, auc, quality, reliability
from selfright.roles.calibration.refit import CalibrationReport, Opinions, check_enough, enough, is_for_weights
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


# A curve does not change the order of rows, but five folds have five curves, so the pooled AUC moves a little.
_AUC_LOST, _BRIER_GAINED = 0.02, 0.01


def harms(report: CalibrationReport | ClaimReport) -> tuple[str, ...]:
    """One sentence for each figure of rows left out of the fit that got worse, and for thresholds that give every
    question the same verdict; none where the calibration is safe to store."""
    if isinstance(report, ClaimReport):
        return tuple(_worse("claims", report.before, report.after))
    found = [*_worse("passages", report.before, report.after)]
    if report.thresholds_fitted:
        found += _worse("questions", report.sets_before, report.sets_after)
        found += [f"the thresholds call every question '{one.verdict}'" for one in report.verdicts if one.share == 1.0]
    return tuple(found)


def _worse(of: str, before: Quality, after: Quality) -> Iterator[str]:
    # Comparisons with NaN are false: a figure that the rows do not yield tells nothing.
    if after.auc < before.auc - _AUC_LOST:
        yield f"the AUC of {of} falls from {before.auc:.3f} to {after.auc:.3f}"
    if after.brier > before.brier + _BRIER_GAINED:
        yield f"the Brier score of {of} rises from {before.brier:.3f} to {after.brier:.3f}"
