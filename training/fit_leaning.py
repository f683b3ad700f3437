"""Fits ``models/leaning.npz``: the steps that make a question's vector lean towards the other language.

    python -m training.fit_leaning --data DIR --out src/selfright/models/leaning.npz [--vectors FILE.npz]

``DIR`` holds ``belebele_ko_en``: the same passages in Korean and in English, which may be trained on. With d the mean
of English vectors less the mean of Korean ones, and m the mean of all, the step of a Korean question is
``share · d + c · m``, that of an English one ``-share · d + c · m``; c keeps the mean inner product with passages of
the own language where it was. The Korean share was chosen among 0, 0.2, 0.3, 0.4, 0.5 and 0.6 on the field sets
``handbook`` and ``fastapi``; those have no English questions with Korean answers, so the English one was chosen among
0.2, 0.3 and 0.4 on every second question of ``benchmarks.mixed_languages``, where 0.4 puts the Korean passage before
its English translation for 15 of 100 questions and 0.3 for 6. Prints what the steps do to each language, on passages
that they were fitted on and on a half that they were not; the file holds the same as JSON. Its hash belongs into
``models/encoder.py``.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.models.encoder import E5
from training.fusion_lists import embed
from training.fusion_tasks import documents

Vectors = NDArray[np.float32]

SHARES = {"ko": 0.4, "en": 0.3}
OTHER = {"ko": "en", "en": "ko"}


def parallel(data: Path, kept: Path | None) -> dict[str, Vectors]:
    """The vectors of all passages that exist in both languages, by language, in the same order."""
    if kept is not None and kept.exists():
        with np.load(kept) as stored:
            return {name: stored[name] for name in OTHER}
    texts = {name: {key: text for key, _, text in documents(data / "belebele_ko_en" / name / "corpus.jsonl")}
             for name in OTHER}  # fmt: skip
    both = sorted(texts["ko"].keys() & texts["en"].keys())
    encoder = E5()
    found = {name: embed([texts[name][key] for key in both], encoder) for name in OTHER}
    if kept is not None:
        np.savez(kept, **found)
    return found


def fit(vectors: dict[str, Vectors]) -> dict[str, Vectors]:
    """The step of each language."""
    apart = vectors["en"].mean(0) - vectors["ko"].mean(0)
    middle = np.concatenate(list(vectors.values())).mean(0)
    steps = {}
    for name, sign in (("ko", 1), ("en", -1)):
        step = sign * SHARES[name] * apart
        own = vectors[name]
        steps[name] = (step - middle * (own @ step).mean() / (own @ middle).mean()).astype(np.float32)
    return steps


def measured(steps: dict[str, Vectors], vectors: dict[str, Vectors]) -> dict[str, dict[str, float]]:
    """What each step adds to the inner products with passages, mean and standard deviation, by the question's
    language."""
    found = {}
    for name, step in steps.items():
        own, other = vectors[name] @ step, vectors[OTHER[name]] @ step
        found[name] = {
            "own_mean": round(float(own.mean()), 5),
            "own_deviation": round(float(own.std()), 5),
            "other_mean": round(float(other.mean()), 5),
            "other_deviation": round(float(other.std()), 5),
            "length": round(float(np.linalg.norm(step)), 4),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, default=None, help="keeps the passages' vectors here between runs")
    options = parser.parse_args()
    vectors = parallel(options.data, options.vectors)
    steps = fit(vectors)
    fitted, unseen = ({name: rows[start::2] for name, rows in vectors.items()} for start in (0, 1))
    figures = {
        "encoder": E5.name,
        "shares": SHARES,
        "passages": len(vectors["ko"]),
        "all": measured(steps, vectors),
        "unseen_half": measured(fit(fitted), unseen),
    }
    np.savez(options.out, ko=steps["ko"], en=steps["en"], measured=np.array(json.dumps(figures)))
    print(json.dumps(figures, indent=1))
    print("SHA-256", hashlib.sha256(options.out.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
