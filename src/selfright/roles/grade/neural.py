"""What a reader of question and passage together adds to the signals: its score, and the scorers that know it.

The reader itself is handed over (port ``PairJudge``); the file ``reader.json`` beside this module, which
``training/fit_grader_reader.py`` writes, names the reader it belongs to. Without reader or file signals alone decide.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from selfright.domain.passages import Passage
from selfright.roles.grade.features import SEMANTIC, Asked, Read
from selfright.roles.grade.model import Variant
from selfright.roles.grade.two_steps import read_steps
from selfright.roles.scoring import read_scorer

READER_SIGNALS = (
    "reader",  # the chance that the passage answers, by the reader alone
    "reader_logit",  # the same as log-odds over ten
    "behind_reader",  # how far behind the best passage of the set; 0 for the best
)
NEURAL = (*SEMANTIC, *READER_SIGNALS)
CHARACTERS = 500
_EDGE = 10.0


@dataclass(frozen=True, slots=True)
class NeuralModel:
    """Scorers of passages and sets that count on the reader called ``reader``; ``sha256`` is that of its file."""

    reader: str
    sha256: str
    variant: Variant


@cache
def shipped_neural() -> NeuralModel | None:
    """The model that ships with the package, or None where its files are absent."""
    card = files("selfright.roles.grade").joinpath("reader.json")
    if not card.is_file() or not reader_file().is_file():
        return None
    return read_neural(json.loads(card.read_text(encoding="utf-8")))


def reader_file() -> Path:
    """Where the network of the reader is, if it ships."""
    return Path(str(files("selfright.roles.grade") / "reader.onnx"))


def read_neural(stored: Mapping[str, Any]) -> NeuralModel:
    """A model from its JSON form."""
    variant = Variant(read_steps(stored["passage"]), read_scorer(stored["sufficiency"]))
    return NeuralModel(stored["reader"], stored["sha256"], variant)


def shown(asked: Asked, passage: Passage, read: Read, most: int = CHARACTERS) -> str:
    """What a reader sees of a passage: its heading and at most ``most`` characters, the sentences most to the point."""
    start, end = window(asked, read, most)
    return f"{passage.heading}\n{read.text[start:end]}" if passage.heading else read.text[start:end]


def window(asked: Asked, read: Read, most: int = CHARACTERS) -> tuple[int, int]:
    """Start and end of the sentences that are shown: those in a row that hold the most of what is asked."""
    if len(read.text) <= most:
        return 0, len(read.text)
    best, chosen = -1.0, (0, most)
    for first, (start, end) in enumerate(read.spans):
        last = first
        while last + 1 < len(read.spans) and read.spans[last + 1][1] - start <= most:
            last += 1
        share = asked.matcher.share(set().union(*read.places[first : last + 1]))
        if share > best:
            best, chosen = share, (start, min(max(end, read.spans[last][1]), start + most))
    return chosen


def with_reader(rows: Sequence[Mapping[str, float]], scores: Sequence[float | None]) -> list[dict[str, float]]:
    """The rows with ``READER_SIGNALS``; 0 where there is no score, and NaN where a score is not a number."""
    chances = [0.0 if score is None else chance(score) for score in scores]
    best = max(chances, default=0.0)
    return [
        {**row, "reader": p, "reader_logit": _logit(score), "behind_reader": best - p if score is not None else 0.0}
        for row, p, score in zip(rows, chances, scores, strict=True)
    ]


def chance(score: float) -> float:
    """The probability (0…1) of log-odds, which count to ten on either side; NaN for what is no number."""
    return 1 / (1 + math.exp(-max(-_EDGE, min(_EDGE, score)))) if math.isfinite(score) else math.nan


def _logit(score: float | None) -> float:
    if score is None:
        return 0.0
    return max(-_EDGE, min(_EDGE, score)) / _EDGE if math.isfinite(score) else math.nan
