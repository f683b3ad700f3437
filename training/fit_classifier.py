"""Fits ``roles/classify/weights.json``: how much a short message reads like small talk.

    python -m training.fit_classifier --data DIR --out src/selfright/roles/classify/weights.json

``DIR`` holds ``question_class`` and ``belebele_ko_en``. Rows whose source may not shape shipped weights are left out;
Korean questions are few there and formal, so informal ones are made from nouns of the Korean passages.
"""

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.text import has_hangul
from selfright.roles.classify.chattiness import BUCKETS, SCALE, ngram_buckets
from training.fitting import Array, sigmoid

SOURCES = {
    "clinc150", "clinc150-train", "clinc150-oos", "songys-chatbot", "belebele-ko", "clapnq", "squad2", "pubmedqa",
    "meqsum-message", "mtrag-un",
}  # fmt: skip
LOST_QUESTIONS = 0.005
TEMPLATES = (
    "{n} 알려줘", "{n} 뭐야", "{n}이 뭐야?",
    "{n}란?", "{n} 언제야?", "{n} 어떻게 해?",
    "{n} 종류 좀 알려줄래", "{n} 있어?", "{n} 써도 돼?",
    "{n} 해도 되나요", "{n} 차이가 뭐야", "{n} {m} 차이",
    "{n} 방법 알려주세요", "{n} 가격은?", "{n} 있나요?",
    "{n} 꼭 해야 하나요?", "{n} 설명해줘", "{n} 왜 안 돼?",
    "{n} {m} 같이 써도 괜찮아?", "{n} 얼마나 걸려?", "{n} {m} 문제",
    "{n} 때문에 {m} 생겼어", "{n} 설치가 안 돼요", "{n} {m} 어디서 봐?",
    "{n} 장단점", "{n} 최신 {m}", "우리 {n} {m} 어떻게 돼?",
    "{n} 아프면 어떡해?", "{n} 심한데 {m} 먹어도 되나",
)  # fmt: skip


def rows(data: Path) -> Iterator[tuple[str, int, str]]:
    """(text, is small talk, source) of every row that may be trained on."""
    with (data / "question_class" / "dev" / "class.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["source"] in SOURCES and row["label"] != "assistant_control":
                yield row["text"], int(row["label"] == "chitchat"), f"{row['label']}:{row['source']}"
    nouns = _nouns(data)
    for number, noun in enumerate(nouns):
        other = nouns[(number * 7 + 3) % len(nouns)]
        yield TEMPLATES[number % len(TEMPLATES)].format(n=noun, m=other), 0, "made:ko"


def _nouns(data: Path) -> list[str]:
    """Korean terms of two syllables and more, most of them nouns."""
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer = BilingualTokenizer()
    terms: set[str] = set()
    with (data / "belebele_ko_en" / "ko" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            terms.update(term for term in tokenizer.tokens(row["text"]) if len(term) > 1 and has_hangul(term))
    return sorted(terms)[::5][:900]


def fit(buckets: list[NDArray[np.int64]], y: Array, weight: Array, ridge: float = 0.3, rounds: int = 400) -> Array:
    """Logistic regression on sparse rows by accelerated gradient descent; the intercept is the last weight."""
    index = np.concatenate(buckets)
    owner = np.repeat(np.arange(len(buckets)), [len(b) for b in buckets])
    value = np.concatenate([np.full(len(b), 1 / np.sqrt(max(1, len(b)))) for b in buckets])
    w = np.zeros(BUCKETS + 1)
    ahead, rate = w.copy(), 4.0 / weight.sum()
    for step in range(rounds):
        z = np.bincount(owner, value * ahead[index], len(buckets)) + ahead[-1]
        error = weight * (sigmoid(z) - y)
        gradient = np.bincount(index, value * error[owner], BUCKETS + 1) + ridge * ahead
        gradient[-1] = error.sum()
        following = ahead - rate * gradient
        ahead = following + step / (step + 3) * (following - w)
        w = following
    return w


def predict(w: Array, buckets: list[NDArray[np.int64]]) -> Array:
    """Log-odds of small talk."""
    return np.array([w[b].sum() / np.sqrt(max(1, len(b))) + w[-1] for b in buckets])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    texts, labels, sources = zip(*dict.fromkeys(rows(arguments.data)), strict=True)
    y = np.array(labels, float)
    weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    buckets = [np.array(sorted(ngram_buckets(text)), np.int64) for text in texts]
    folds = np.array([zlib.crc32(text.encode()) % 5 for text in texts])
    held_out = np.zeros(len(y))
    for fold in range(5):
        known = np.flatnonzero(folds != fold)
        w = fit([buckets[i] for i in known], y[known], weight[known])
        unknown = np.flatnonzero(folds == fold)
        held_out[unknown] = predict(w, [buckets[i] for i in unknown])
    probability = sigmoid(held_out)
    is_question = np.array([source.startswith(("doc_question", "made")) for source in sources])
    threshold = max(0.5, float(np.quantile(probability[is_question], 1 - LOST_QUESTIONS)))
    w = fit(buckets, y, weight)
    shares: dict[str, list[bool]] = defaultdict(list)
    for source, p in zip(sources, probability, strict=True):
        shares[source].append(bool(p >= threshold))
    measured = {source: round(float(np.mean(over)), 4) for source, over in sorted(shares.items())}
    stored = {
        "about": "small talk against the rest, hashed character n-grams; see training/fit_classifier.py",
        "sources": sorted(SOURCES),
        "rows": len(y),
        "taken_for_small_talk_held_out": measured,
        "intercept": round(float(w[-1]), 4),
        "threshold": round(threshold, 4),
        "weights": [round(float(weight) * SCALE) for weight in w[:-1]],
    }
    arguments.out.write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=1, ensure_ascii=False), threshold)


if __name__ == "__main__":
    main()
