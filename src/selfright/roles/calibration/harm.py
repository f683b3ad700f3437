"""Whether a calibration would make judging worse on rows like those it was fitted to: then it is not stored unasked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfright.roles.calibration.claims import ClaimReport
    from selfright.roles.calibration.measures import Quality
    from selfright.roles.calibration.refit import CalibrationReport

# A curve does not change the order of rows, but five folds have five curves, so the pooled AUC moves a little.
_AUC_LOST, _BRIER_GAINED = 0.02, 0.01


def harms(report: "CalibrationReport | ClaimReport") -> tuple[str, ...]:
    """One sentence for each figure of rows left out of the fit that got worse, and for thresholds that give every
    question the same verdict; none where the calibration is safe to store."""
    from selfright.roles.calibration.refit import CalibrationReport

    if not isinstance(report, CalibrationReport):
        return tuple(_worse("claims", report.before, report.after))
    found = [*_worse("passages", report.before, report.after)]
    if report.thresholds_fitted:
        found += _worse("questions", report.sets_before, report.sets_after)
        found += [f"the thresholds call every question '{one.verdict}'" for one in report.verdicts if one.share == 1.0]
    return tuple(found)


def _worse(of: str, before: "Quality", after: "Quality") -> Iterator[str]:
    # Comparisons with NaN are false: a figure that the rows do not yield tells nothing.
    if after.auc < before.auc - _AUC_LOST:
        yield f"the AUC of {of} falls from {before.auc:.3f} to {after.auc:.3f}"
    if after.brier > before.brier + _BRIER_GAINED:
        yield f"the Brier score of {of} rises from {before.brier:.3f} to {after.brier:.3f}"
