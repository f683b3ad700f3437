"""How probable it is that an answer is right, from its signals: a calibrated linear model, weights in ``abstain.json``.

``training/fit_abstention.py`` writes the weights. The probability is the same thing on every corpus, so one threshold
serves all: refusing under ``1 - risk`` refuses what is wrong with more than that risk.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.ports import PairJudge
from selfright.roles.abstain_signals import Grounds, signals
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.scoring import Scorer, read_scorer


@dataclass(frozen=True, slots=True)
class AbstentionModel:
    """``lexical`` reads words only, ``semantic`` also cosines of the encoder named ``embedder``, ``read`` both and what
    the reader named ``reader`` says of what is cited.

    ``threshold`` is the least probability with which an answer is given.
    """

    embedder: str
    reader: str
    lexical: Scorer
    semantic: Scorer
    read: Scorer
    threshold: float

    def probability(
        self, grounds: Grounds, analyzer: TextAnalyzer, *, embedder: str | None, reader: PairJudge | None = None
    ) -> float:
        """That the answer is right (0…1); ``embedder`` names whose cosines the hits carry. NaN for broken signals."""
        if embedder != self.embedder or not grounds.has_cosines:
            return self.lexical.probability(signals(grounds, analyzer))
        found = signals(grounds, analyzer, reader if reader and reader.name == self.reader else None)
        return (self.read if "answer" in found else self.semantic).probability(found)


def read_model(stored: Mapping[str, Any]) -> AbstentionModel:
    """A model from its JSON form."""
    return AbstentionModel(
        stored["embedder"],
        stored["reader"],
        read_scorer(stored["lexical"]),
        read_scorer(stored["semantic"]),
        read_scorer(stored["read"]),
        float(stored["threshold"]),
    )


@cache
def shipped_model() -> AbstentionModel:
    """The model that ships with the package."""
    return read_model(json.loads(files("selfright.roles").joinpath("abstain.json").read_text(encoding="utf-8")))
