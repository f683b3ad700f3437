"""What a calibration leaves behind: two curves, two thresholds, and where they come from; as JSON and back.

Thresholds are compared with the grader's own sufficiency, curves only change what is shown: so the promise about a
threshold does not depend on the curve, which the same rows shaped.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from selfright.domain.errors import SettingsError
from selfright.domain.judgements import Verdict
from selfright.roles.scoring import Blend, Curve, read_blend

VERSION = 1
_MOST_POINTS = 200

# A judge of the user's own, before any rows have told what it is worth: as much as the signals.
UNCALIBRATED = Blend({"signals": 0.5, "judge": 0.5, "behind": 0.0})


@dataclass(frozen=True, slots=True)
class CalibrationSource:
    """What a calibration was made from: ``made`` is a date (ISO 8601), ``sha256`` that of the rows' file.

    ``grader`` names the weights, encoder and networks whose scores were calibrated; of other scores the curves know
    nothing.
    """

    made: str
    rows: int
    questions: int
    sha256: str
    grader: str
    risk: float


@dataclass(frozen=True, slots=True)
class GraderCalibration:
    """Curves for a passage's probability and a set's sufficiency, and the sufficiencies where verdicts change.

    ``certified`` tells whether ``upper`` is proven for the stated risk, or only what the curve says. ``judge`` is what
    the user's own judge counts beside the signals, None without one, or when the rows were too few to tell.
    """

    passages: Curve
    sets: Curve
    lower: float
    upper: float
    certified: bool
    origin: CalibrationSource
    judge: Blend | None = None

    def verdict(self, sufficiency: float) -> Verdict:
        """What a set is whose sufficiency the grader itself puts at that (0…1, before the curve)."""
        if sufficiency < self.lower:
            return Verdict.INCORRECT
        return Verdict.CORRECT if sufficiency >= self.upper else Verdict.AMBIGUOUS

    def as_json(self) -> dict[str, Any]:
        """What ``read_calibration`` reads, with the version."""
        return {"version": VERSION, **asdict(self)}


def read_calibration(stored: Mapping[str, Any], where: str) -> GraderCalibration:
    """A calibration from its JSON form; ``where`` names the file in errors.

    Raises ``SettingsError`` for anything but rising curves from 0…1 to 0…1 and ordered thresholds: a judge must not
    work with a calibration that was damaged or edited into nonsense.
    """

    try:
        if stored["version"] != VERSION:
            raise ValueError(f"its version is {stored['version']!r}, and {VERSION} is expected")
        found = GraderCalibration(
            _curve(stored["passages"]),
            _curve(stored["sets"]),
            _share(stored["lower"]),
            # Above every sufficiency there is: nothing is called correct.
            _share(stored["upper"], most=2.0),
            stored["certified"] is True,
            CalibrationSource(**stored["origin"]),
            read_blend(stored["judge"], UNCALIBRATED) if stored.get("judge") else None,
        )
        if found.lower > found.upper:
            raise ValueError("its lower threshold is above the upper one")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(
            f"{where} cannot be used as a calibration ({type(error).__name__}: {error}); "
            "run 'selfright calibrate' again, or delete the file to go back to the shipped calibration"
        ) from None
    return found


def _curve(stored: Mapping[str, Any]) -> Curve:
    scores = tuple(_share(value) for value in stored["scores"])
    probabilities = tuple(_share(value) for value in stored["probabilities"])
    if not 1 <= len(scores) == len(probabilities) <= _MOST_POINTS:
        raise ValueError(f"a curve needs as many scores as probabilities, 1 to {_MOST_POINTS}")
    if any(a >= b for a, b in pairwise(scores)) or any(a > b for a, b in pairwise(probabilities)):
        raise ValueError("a curve must rise")
    return Curve(scores, probabilities)


def _share(value: object, most: float = 1.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a finite number was expected")
    if not 0.0 <= value <= most:
        raise ValueError(f"a number from 0 to {most:g} was expected")
    return float(value)
