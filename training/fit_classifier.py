"""Fits ``roles/small_talk.json``: how much a message reads like small talk, by its vector.

    python -m training.fit_classifier --data DIR --out src/selfright/roles/small_talk.json [--vectors FILE.npz]

``DIR`` holds the sets that ``training.small_talk_rows`` reads. One message in five is looked at once, at the end; the
threshold is chosen on the others, in folds, and on the field sets that may be tuned on: no question of them is lost.
"""

import argparse
import base64
import json
import random
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.models.encoder import E5
from training.fitting import Array, logistic, sigmoid
from training.small_talk_rows import Row, rows

LOST_QUESTIONS = 0.001
TUNED_ON = ("handbook", "fastapi")
_FIELD = Path(__file__).parent.parent / "benchmarks" / "field"
_RIDGE = 0.03
_LONGEST = 400
_FOLDS = 5
_SEED = 1


def vectors_of(texts: Sequence[str], kept: Path | None = None) -> dict[str, NDArray[np.float32]]:
    """The vector of each text, as a search would embed it; what ``kept`` has is read, and the rest added to it."""
    found: dict[str, NDArray[np.float32]] = {}
    if kept is not None and kept.exists():
        with np.load(kept) as stored:
            found = dict(zip(stored["texts"].tolist(), stored["vectors"].astype(np.float32), strict=True))
    encoder = E5()
    new = [text for text in texts if text not in found]
    found |= {text: encoder.embed_query(text[:_LONGEST]) for text in new}
    if kept is not None and new:
        vectors = np.array(list(found.values()), np.float16)
        np.savez(kept, texts=np.array(list(found)), vectors=vectors)
    return found


def fit(x: Array, y: Array) -> Array:
    """Weights and the intercept; questions and small talk count alike."""
    weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    return logistic(x, y, weight, _RIDGE)


def predict(w: Array, x: Array) -> Array:
    """Probability of small talk."""
    return sigmoid(x @ w[:-1] + w[-1])


def in_folds(x: Array, y: Array, folds: Array) -> Array:
    """What each row gets from weights fitted without its fold."""
    found = np.zeros(len(y))
    for fold in np.unique(folds):
        found[folds == fold] = predict(fit(x[folds != fold], y[folds != fold]), x[folds == fold])
    return found


def field_questions(name: str) -> list[str]:
    """The questions of a field set."""
    lines = (_FIELD / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def by_source(messages: Sequence[Row], taken: NDArray[np.bool_]) -> dict[str, float]:
    """The share of each source that is taken for small talk."""
    shares: dict[str, list[bool]] = defaultdict(list)
    for row, over in zip(messages, taken, strict=True):
        shares[row.source].append(bool(over))
    return {source: round(float(np.mean(over)), 4) for source, over in sorted(shares.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, help="where the vectors are kept from one run to the next")
    parser.add_argument("--most", type=int, default=20_000, help="messages, chosen by chance")
    arguments = parser.parse_args()
    messages = rows(arguments.data)
    random.Random(_SEED).shuffle(messages)
    messages = messages[: arguments.most]
    found = vectors_of([row.text for row in messages], arguments.vectors)
    x = np.array([found[row.text] for row in messages], float)
    y = np.array([row.small_talk for row in messages], float)
    places = np.array([zlib.crc32(row.text.encode()) % _FOLDS for row in messages], float)
    known, unseen = places > 0, places == 0

    probability = in_folds(x[known], y[known], places[known])
    field = {name: field_questions(name) for name in (*TUNED_ON, "privacy")}
    encoded = {name: np.array(list(vectors_of(texts).values()), float) for name, texts in field.items()}
    w = fit(x[known], y[known])
    highest = max(float(predict(w, encoded[name]).max()) for name in TUNED_ON)
    threshold = max(0.5, float(np.quantile(probability[y[known] == 0], 1 - LOST_QUESTIONS)), (1 + highest) / 2)

    scale = float(np.abs(w[:-1]).max()) / 127
    numbers = np.round(w[:-1] / scale).astype(np.int8)
    shipped = np.append(numbers.astype(float) * scale, w[-1])
    over = predict(shipped, x[unseen]) >= threshold
    chosen = [row for row, once in zip(messages, unseen, strict=True) if once]
    measured = {
        "questions lost": round(float(over[y[unseen] == 0].mean()), 4),
        "small talk looked up": round(1 - float(over[y[unseen] == 1].mean()), 4),
        "lost of the field sets": {name: int((predict(shipped, v) >= threshold).sum()) for name, v in encoded.items()},
        "taken for small talk": by_source(chosen, over),
    }
    stored = {
        "about": "small talk against the rest, on the vectors of one encoder; see training/fit_classifier.py",
        "encoder": E5.name,
        "rows": len(y),
        "on one message in five, looked at once": measured,
        "dimension": len(numbers),
        "scale": scale,
        "intercept": round(float(w[-1]), 4),
        "threshold": round(threshold, 4),
        "weights": base64.b64encode(numbers.tobytes()).decode(),
    }
    arguments.out.write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=1, ensure_ascii=False), threshold, highest)


if __name__ == "__main__":
    main()
