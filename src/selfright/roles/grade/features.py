"""What the offline grader looks at: what was read of each passage, cosines, words, and the search's own order.

Nothing here decides; the weights beside it do. Every signal is a number in about 0…1 so that weights can be read.
"""

import math
from collections.abc import Mapping, Sequence

from selfright.domain.passages import Hit
from selfright.roles.reading import EDGE, QuestionFeatures, Reading, Sentences

FEATURES = (
    "reading",  # log-odds over ten that the passage answers, by the network; 0 when it was not read
    "cosine",  # of question and passage; 0 when there is none
    "nearest",  # of question and the passage's nearest sentence
    "coverage",  # idf share of the question's terms in heading and text
    "saturation",  # BM25-like: repeats count a little, long texts count less
    "place",  # 1 for what the search brought first, 1/2 for the second …
    "behind_reading",  # how far behind the best passage of the set; 0 for the best
    "behind_cosine",
    "behind_nearest",
    "behind_saturation",
)
COSINES = ("cosine", "nearest", "behind_cosine", "behind_nearest")
READ = ("reading", "behind_reading")
COMPARED = ("reading", "cosine", "nearest", "saturation")

_SATURATION = 1.2
_TYPICAL_LENGTH = 900


def features(
    asked: QuestionFeatures,
    hits: Sequence[Hit],
    read: Mapping[str, Reading],
    nearest: Sequence[float] | None = None,
) -> list[dict[str, float]]:
    """One dictionary by ``FEATURES`` for each hit, in the search's order.

    ``read`` are readings by passage id. ``nearest`` are the cosines of question and each passage's nearest sentence;
    without them cosines are left out.
    """
    rows = [
        {
            "reading": reading_signal(read.get(hit.passage.id)),
            "cosine": (hit.cosine or 0.0) if nearest else 0.0,
            "nearest": nearest[place] if nearest else 0.0,
            **_words(asked, Sentences.of(asked, hit.passage)),
            "place": 1 / (1 + place),
        }
        for place, hit in enumerate(hits)
    ]
    return relative_rows(rows)


def reading_signal(reading: Reading | None) -> float:
    """Log-odds over ten, which count to ten on either side; 0 for what was not read, NaN for what is no number."""
    score = reading.score if reading is not None else 0.0
    return max(-EDGE, min(EDGE, score)) / 10 if math.isfinite(score) else math.nan


def relative_rows(rows: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The rows of one set with what only the set can tell: how far each passage is behind the best."""
    best = {name: max(row[name] for row in rows) for name in COMPARED}
    return [{**row, **{f"behind_{name}": best[name] - row[name] for name in COMPARED}} for row in rows]


def _words(asked: QuestionFeatures, passage: Sentences) -> dict[str, float]:
    share, anywhere = asked.matcher.share, set(passage.heading).union(*passage.places)
    norm = _SATURATION * (0.4 + 0.6 * len(passage.text) / _TYPICAL_LENGTH)
    counts = {i: sum(len(p.get(i, ())) for p in passage.places) + (i in passage.heading) for i in anywhere}
    gained = sum(asked.matcher.weights[i] * n / (n + norm) for i, n in counts.items())
    return {"coverage": share(anywhere), "saturation": gained / asked.matcher.total if asked.matcher.total else 0.0}
