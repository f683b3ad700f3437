"""How probable it is that an answer is right, from its signals: a calibrated linear model, weights in ``abstain.json``.

``training/fit_abstention.py`` writes the weights. Two thresholds keep the same share of the right answers: one where a
search has plenty to choose from, and a higher one where it finds three passages. Among few, a passage about the thing
is always found, and looks better for want of others.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.roles.abstain_signals import Grounds, signals
from selfright.roles.scoring import Scorer, read_scorer

_FEW, _MANY = 3, 10


@dataclass(frozen=True, slots=True)
class AbstentionModel:
    """``threshold`` is the least probability with which an answer is given where ten passages or more were graded,
    ``threshold_of_few`` where three or fewer were.
    """

    scorer: Scorer
    threshold: float
    threshold_of_few: float

    def probability(self, grounds: Grounds) -> float:
        """That the answer is right (0…1); NaN for broken signals."""
        return self.scorer.probability(signals(grounds))

    def least(self, grounds: Grounds) -> float:
        """The threshold for these grounds; between three passages and ten it falls with the logarithm."""
        graded = len(grounds.grading.grades) if grounds.grading else _MANY
        share = math.log(_MANY / min(_MANY, max(_FEW, graded))) / math.log(_MANY / _FEW)
        return self.threshold + share * (self.threshold_of_few - self.threshold)


def read_model(stored: Mapping[str, Any]) -> AbstentionModel:
    """A model from its JSON form."""
    return AbstentionModel(read_scorer(stored["scorer"]), float(stored["threshold"]), float(stored["threshold_of_few"]))


@cache
def shipped_model() -> AbstentionModel:
    """The model that ships with the package."""
    return read_model(json.loads(files("selfright.roles").joinpath("abstain.json").read_text(encoding="utf-8")))
