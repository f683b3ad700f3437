"""Judged pairs → a calibration of the grader, with figures that tell whether it was worth it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from selfright.domain.errors import InputError
from selfright.roles.calibration.effects import Effect
from selfright.roles.calibration.fitting import certify_threshold, fit_curve, keeping
from selfright.roles.calibration.measures import (
    Array,
    Bin,
    Point,
    Quality,
    auc,
    aurc,
    quality,
    reliability,
    risk_coverage,
)
from selfright.roles.calibration.stored import CalibrationSource, GraderCalibration
from selfright.roles.scoring import Blend, Curve

FEWEST_ROWS = 20
FEWEST_OF_A_LABEL = 5


def enough(labels: Sequence[int]) -> bool:
    """Whether there are 20 rows, at least 5 of each label."""
    positives = sum(labels)
    return len(labels) >= FEWEST_ROWS and min(positives, len(labels) - positives) >= FEWEST_OF_A_LABEL


def check_enough(labels: Sequence[int]) -> None:
    """Raises ``InputError`` where there are not enough."""
    if not enough(labels):
        positives = sum(labels)
        raise InputError(
            f"calibrating needs at least {FEWEST_ROWS} rows, {FEWEST_OF_A_LABEL} of each label, but got {len(labels)}: "
            f"{positives} with label 1 and {len(labels) - positives} with label 0; add rows"
        )


def is_for_weights(text: str) -> bool:
    """Whether a question's rows tell weights (about half of them do) instead of curves and thresholds.

    Curves and thresholds need rows that shaped nothing of the score. The text decides, not its place in the file.
    """
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


_ABOVE_ALL = 2.0


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """One question's labelled passages as the grader saw them together: its probabilities and its sufficiency, raw.

    ``opinions`` are what signals and a judge of the user's own said of each passage, as log-odds; None where the judge
    was not asked.
    """

    question: str
    labels: tuple[int, ...]
    probabilities: tuple[float, ...]
    sufficiency: float
    opinions: tuple[Mapping[str, float] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Opinions:
    """What a judge of the user's own is worth: AUC of what is seen without it, of the judge, and of both, on ``rows``.

    ``weighed_on`` questions told the weights; none of them is among these rows. 0: too few to tell.
    """

    rows: int
    weighed_on: int
    without: float
    judge: float
    together: float


@dataclass(frozen=True, slots=True)
class Shares:
    """How a verdict fell: its share of all sets, and the share of those that really help (NaN when it never fell)."""

    verdict: str
    share: float
    help: float


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What came of it. "After" figures are of questions that the curve measured there had not seen.

    ``curve`` is the risk–coverage curve of the sets: the risk is the share of answered questions whose set does not
    help. ``method`` is ``platt`` or ``isotonic``. ``opinions`` compare signals and judge, where the user has one.
    ``thresholds_fitted`` is False where fewer than 5 sets help, or do not: such rows say little of thresholds.
    """

    calibration: GraderCalibration
    method: str
    before: Quality
    after: Quality
    reliability_before: tuple[Bin, ...]
    reliability_after: tuple[Bin, ...]
    sets_before: Quality
    sets_after: Quality
    curve: tuple[Point, ...]
    aurc: float
    verdicts: tuple[Shares, ...]
    thresholds_fitted: bool
    effect: Effect
    sets_effect: Effect
    opinions: Opinions | None = None


def refit(
    judged: Sequence[JudgedSet],
    risk: float,
    origin: CalibrationSource,
    thresholds: tuple[float, float],
    judge: Blend | None = None,
    weighed_on: int = 0,
) -> CalibrationReport:
    """Curves for passages and sets, and thresholds for ``risk``; those given, where the rows cannot tell.

    Of what is called correct at most the share ``risk`` is wrong (certified at 90 %, where the rows suffice for it);
    of the sets that help at most the share ``risk`` is called incorrect. ``judge`` is what a judge of the user's own
    counts, as ``weighed_on`` other questions told. Raises ``InputError`` for too few rows.
    """
    p, y, of_question = _pairs(judged)
    check_enough(y.astype(int).tolist())
    s, helps = _sets(judged)
    passages, method, after = fit_curve(p, y, of_question)
    names = [one.question for one in judged]
    sets, _, sets_after = fit_curve(s, helps, names)
    both_kinds = FEWEST_OF_A_LABEL <= helps.sum() <= len(helps) - FEWEST_OF_A_LABEL
    lower, upper, proven = _thresholds(s, helps, sets, risk) if both_kinds else (*thresholds, False)
    calibration = GraderCalibration(passages, sets, lower, upper, proven, origin, judge)
    return CalibrationReport(
        calibration,
        method,
        before=quality(p, y),
        after=quality(after, y),
        reliability_before=reliability(p, y),
        reliability_after=reliability(after, y),
        sets_before=quality(s, helps),
        sets_after=quality(sets_after, helps),
        curve=risk_coverage(s, 1 - helps),
        aurc=aurc(s, 1 - helps),
        verdicts=_verdicts(calibration, s, helps),
        thresholds_fitted=bool(both_kinds),
        effect=Effect.of(p, after, y, of_question),
        sets_effect=Effect.of(s, sets_after, helps, names),
        opinions=_opinions(judged, weighed_on),
    )


def _thresholds(s: Array, helps: Array, sets: Curve, risk: float) -> tuple[float, float, bool]:
    """Lower, upper, and whether upper is certified; else it is where the curve reaches 1 − ``risk``."""
    upper = certify_threshold(s, 1 - helps, risk)
    proven = upper is not None
    if upper is None:
        upper = next((float(x) for x in np.unique(s) if sets(float(x)) >= 1 - risk), _ABOVE_ALL)
    lower = keeping(s, helps, risk)
    # Lowering the lower threshold loses no set that helps, so its promise stays.
    return min(lower or 0.0, upper), upper, proven


def _opinions(judged: Sequence[JudgedSet], weighed_on: int) -> Opinions | None:
    rows = [
        (said, p, label)
        for one in judged
        for said, p, label in zip(one.opinions, one.probabilities, one.labels, strict=False)
        if said is not None
    ]
    if not rows:
        return None
    labels = [label for _, _, label in rows]
    without, judge = (auc([said[name] for said, _, _ in rows], labels) for name in ("signals", "judge"))
    return Opinions(len(rows), weighed_on, without, judge, auc([p for _, p, _ in rows], labels))


def _pairs(judged: Sequence[JudgedSet]) -> tuple[Array, Array, list[str]]:
    rows = [(p, label, one.question) for one in judged for p, label in zip(one.probabilities, one.labels, strict=True)]
    return np.array([r[0] for r in rows]), np.array([float(r[1]) for r in rows]), [r[2] for r in rows]


def _sets(judged: Sequence[JudgedSet]) -> tuple[Array, Array]:
    return np.array([one.sufficiency for one in judged]), np.array([float(any(one.labels)) for one in judged])


def _verdicts(calibration: GraderCalibration, s: Array, helps: Array) -> tuple[Shares, ...]:
    said = np.array([calibration.verdict(float(value)).value for value in s])
    return tuple(
        Shares(name, float((said == name).mean()), float(helps[said == name].mean()) if name in said else float("nan"))
        for name in ("correct", "ambiguous", "incorrect")
    )


def harms(report: CalibrationReport) -> tuple[str, ...]:
    """One sentence for labels that look swapped, for each figure of rows left out of the fit that got worse beyond
    chance, and for thresholds that give every question the same verdict; none where the calibration is safe to store.
    """
    found = report.effect.harms("passages")
    if report.thresholds_fitted:
        found += report.sets_effect.harms("questions")
        same = (one.verdict for one in report.verdicts if one.share == 1.0)
        found += tuple(f"the thresholds call every question '{verdict}'" for verdict in same)
    return found
