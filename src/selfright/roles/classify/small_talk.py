"""How much a message reads like small talk: logistic regression on its vector.

The weights are in ``weights.json``, fitted by ``training/fit_classifier.py`` on the vectors of one encoder; with
another one there is no such judge.
"""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.embedding import query_vector
from selfright.domain.ports import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SmallTalkWeights:
    """One weight for each dimension of ``encoder``; small talk is a probability of ``threshold`` and more."""

    encoder: str
    weights: "NDArray[np.float32]"
    intercept: float
    threshold: float


class SmallTalkJudge:
    """Reads the whole message at once; ``embedder`` is the encoder that the weights were fitted on."""

    def __init__(self, embedder: Embedder, weights: SmallTalkWeights) -> None:
        self._embedder = embedder
        self._fitted = weights

    @property
    def threshold(self) -> float:
        """From here on a message is small talk; chosen so that hardly any question is lost."""
        return self._fitted.threshold

    def probability(self, message: str) -> float:
        """0…1."""
        z = float(query_vector(self._embedder, message) @ self._fitted.weights) + self._fitted.intercept
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def small_talk_judge(embedder: Embedder | None) -> SmallTalkJudge | None:
    """The judge for ``embedder``; None where the shipped weights were fitted on another encoder's vectors."""
    weights = shipped_weights()
    return SmallTalkJudge(embedder, weights) if embedder is not None and embedder.name == weights.encoder else None


@cache
def shipped_weights() -> SmallTalkWeights:
    """Those that come with the package."""
    raw = files("selfright.roles.classify").joinpath("weights.json").read_text(encoding="utf-8")
    return read_weights(json.loads(raw))


def read_weights(stored: Mapping[str, Any]) -> SmallTalkWeights:
    """From their JSON form: whole numbers of eight bits in base64, times ``scale``.

    Raises ``ValueError`` when there are not as many as ``dimension`` says.
    """
    numbers = np.frombuffer(base64.b64decode(stored["weights"], validate=True), dtype=np.int8)
    if len(numbers) != stored["dimension"]:
        raise ValueError(f"{stored['dimension']} weights were expected, but there are {len(numbers)}")
    weights = numbers.astype(np.float32) * np.float32(stored["scale"])
    return SmallTalkWeights(stored["encoder"], weights, float(stored["intercept"]), float(stored["threshold"]))
