"""How probable it is that an answer is right, from its signals: a calibrated linear model, weights in ``abstain.json``.

``training/fit_abstention.py`` writes the weights and two thresholds: one where a search can choose, and a higher one
where it brings all there is. There a passage about the thing is always found, and looks better because there is nothing
else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.roles.abstain_signals import Grounds, signals
from selfright.roles.scoring import Scorer, read_scorer


@dataclass(frozen=True, slots=True)
class AbstentionModel:
    """``threshold`` is the least probability with which an answer is given, ``threshold_of_few`` where a search brings
    all the passages there are.
    """

    scorer: Scorer
    threshold: float
    threshold_of_few: float

    def probability(self, grounds: Grounds) -> float:
        """That the answer is right (0…1); NaN for broken signals."""
        return self.scorer.probability(signals(grounds))


def read_model(stored: Mapping[str, Any]) -> AbstentionModel:
    """A model from its JSON form."""
    return AbstentionModel(read_scorer(stored["scorer"]), float(stored["threshold"]), float(stored["threshold_of_few"]))


@cache
def shipped_model() -> AbstentionModel:
    """The model that ships with the package."""
    return read_model(json.loads(files("selfright.roles").joinpath("abstain.json").read_text(encoding="utf-8")))
