"""Fits ``roles/abstain.json``: how probable it is that an answer is right, and under which probability none is given.

    python -m training.fit_abstention --data DIR --out src/selfright/roles/abstain.json [--cache DIR] --field DIR

Fitted on whole turns over squad2 and clapnq, half of whose questions have no answer, over indexes of three documents of
each, and over the field sets for tuning, a quarter of whose have none; tydiqa and korquad (Korean), and covidqa, whole
and with two fifths of its articles left out, only measure. Every set counts the same. No weight is negative. Figures
are held out: five folds by article, and with the whole set left out.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.roles.abstain import SIGNALS
from selfright.roles.calibration.fitting import certified, platt
from selfright.roles.calibration.measures import auc, aurc, calibration_error, coverage_at
from selfright.roles.scoring import Curve, Scorer
from training.fit_abstention_turns import FIELD, SMALL, TASKS, TRAINED_ON, Row, rows
from training.fitting import Array, logistic, sigmoid

RIDGE = 100.0  # strong: what little the signals add to each other differs between sets
FOLDS = 5
WITHHELD = 0.08  # of the right answers, at most so many may be withheld in the mean of the sets that were fitted on
ALMOST = 1.1
RISKS = (0.1, 0.2, 0.3, 0.4)


def usable(found: Sequence[Row]) -> list[Row]:
    """Answers that were given; of those refused by the writer itself there is nothing to decide."""
    return [row for row in found if row.x is not None]


def fit(found: Sequence[Row], names: Sequence[str]) -> Scorer:
    """A scorer whose weighted sum is turned into a probability by a sigmoid, each set weighing the same."""
    x, y = matrix(found, names), np.array([float(row.right) for row in found])
    middle, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    w = signed((x - middle) / spread, y, weights_of(found))
    weights = w[:-1] / spread
    intercept = float(w[-1] - weights @ middle)
    score = x @ weights + intercept
    curve = platt(sigmoid(score), y)
    kept = [i for i, weight in enumerate(weights) if weight]
    # The curve is over probabilities, a scorer's over log-odds.
    odds = tuple(float(np.log(p / (1 - p))) for p in curve.scores)
    return Scorer(
        tuple(names[i] for i in kept),
        tuple(round(float(weights[i]), 4) for i in kept),
        round(intercept, 4),
        Curve(tuple(round(o, 3) for o in odds), tuple(round(p, 4) for p in curve.probabilities)),
    )


def signed(x: Array, y: Array, weight: Array) -> Array:
    """Weights (the intercept last) of which none is negative: the worst one is left out, and all fitted again.

    One at a time, for signals that say nearly the same take turns at being wrong.
    """
    kept = np.arange(x.shape[1])
    while True:
        w = logistic(x[:, kept], y, weight, RIDGE)
        right = w[:-1]
        if not len(kept) or right.min() >= 0:
            full = np.zeros(x.shape[1] + 1)
            full[kept], full[-1] = w[:-1], w[-1]
            return full
        kept = np.delete(kept, right.argmin())


def matrix(found: Sequence[Row], names: Sequence[str]) -> Array:
    """Rows × signals."""
    return np.array([[row.x[name] for name in names] for row in found if row.x is not None])


def held_out(found: Sequence[Row], names: Sequence[str], *, by_set: bool = False) -> Array:
    """Each row's probability by a scorer that saw neither its article (nor, ``by_set``, its set)."""
    train = [row for row in found if row.dataset in TRAINED_ON]
    probabilities = np.empty(len(found))
    for dataset in {row.dataset for row in found}:
        for fold in range(FOLDS):
            here = [i for i, row in enumerate(found) if row.dataset == dataset and row.fold == fold]
            # Some sets share articles: covidqa and covidqa_missing, squad2 and few_squad2.
            family = _family(dataset)
            seen = [r for r in train if _family(r.dataset) != family or (not by_set and r.fold != fold)]
            if here:
                probabilities[here] = given(fit(seen, names), [found[i] for i in here])
    return probabilities


def _family(dataset: str) -> str:
    return dataset.removeprefix("few_").split("_")[0]


def given(scorer: Scorer, found: Sequence[Row]) -> Array:
    """The scorer's probability for each row."""
    return np.array([scorer.probability(row.x) for row in found if row.x is not None])


def figures(found: Sequence[Row], p: Array, y: Array) -> dict[str, float | None]:
    """The figures of one set: area under the risk–coverage curve beside that of thresholds on retrieval scores."""
    wrong = 1 - y
    by_score = {name: aurc([row.retrieval[name] for row in found], wrong) for name in ("rrf", "bm25", "cosine")}
    at_tenth = coverage_at(p, wrong, 0.1)
    area = aurc(p, wrong)
    return {
        "answers": len(found),
        "risk": round(float(wrong.mean()), 3),
        "auc": round(auc(p, y), 3),
        "ece": round(calibration_error(p, y), 3),
        "aurc": round(area, 3),
        "aurc_least_possible": round(aurc(y, wrong), 3),
        **{f"aurc_{name}": round(value, 3) for name, value in by_score.items()},
        "aurc_support": round(aurc([row.support for row in found], wrong), 3),
        "ratio_rrf": round(area / by_score["rrf"], 3),
        "coverage_at_risk_0.1": round(at_tenth.coverage, 3) if at_tenth else 0.0,
    }


def by_set(found: Sequence[Row], p: Array) -> dict[str, dict[str, float | None]]:
    """``figures`` for each set."""
    return {name: figures(*_only(found, p, name)) for name in sorted({row.dataset for row in found})}


def threshold(found: Sequence[Row], p: Array, names: Sequence[str]) -> float:
    """The highest that withholds at most the share ``WITHHELD`` of the right answers, in the mean of the sets.

    A further right answer of a set with n of them is as likely to take any of the n + 1 places among their
    probabilities, so it is withheld with a chance of at most (1 + how many are)/(n + 1). Of the mean, because one set
    has thirty right answers, and one of them would decide.
    """
    right = [np.sort(of_set[y == 1]) for _, of_set, y in (_only(found, p, name) for name in names)]
    candidates = np.unique(np.concatenate(right))
    chances = [np.mean([(1 + np.searchsorted(of_set, t)) / (1 + len(of_set)) for of_set in right]) for t in candidates]
    return round(float(max(candidates[np.array(chances) <= WITHHELD], default=0.0)), 3)


def careful_threshold(found: Sequence[Row], p: Array, names: Sequence[str]) -> float:
    """The lowest with which right answers withheld and wrong ones given are at most a tenth more than they can be.

    The cost is flat around its least value; of thresholds that are nearly as good the one that answers most is taken.
    """
    here = [i for i, row in enumerate(found) if row.dataset in names]
    chances, right = p[here], np.array([found[i].right for i in here])
    candidates = np.unique(np.round(chances, 3))
    costs = np.array([(right & (chances < t)).sum() + (~right & (chances >= t)).sum() for t in candidates])
    return float(candidates[np.argmax(costs <= ALMOST * costs.min())])


def promises(found: Sequence[Row], p: Array) -> dict[str, float | None]:
    """For each stated risk the threshold above which, certified at 90 %, no more is wrong; sets in equal parts."""
    parts = [_only(found, p, name) for name in TRAINED_ON]
    size = min(len(part) for part, _, _ in parts)
    pooled = np.concatenate([of_set[:size] for _, of_set, _ in parts])
    wrong = np.concatenate([1 - y[:size] for _, _, y in parts])
    return {f"{risk:g}": certified(pooled, wrong, risk) for risk in RISKS}


def _only(found: Sequence[Row], p: Array, name: str) -> tuple[list[Row], Array, Array]:
    here = [i for i, row in enumerate(found) if row.dataset == name]
    chosen = [found[i] for i in here]
    return chosen, p[here], np.array([float(row.right) for row in chosen])


def weights_of(found: Sequence[Row]) -> NDArray[np.float64]:
    """Of each row, so that every set counts the same."""
    counts = {name: sum(row.dataset == name for row in found) for name in {row.dataset for row in found}}
    return np.array([len(found) / len(counts) / counts[row.dataset] for row in found])


def stored(scorer: Scorer) -> dict[str, Any]:
    """The JSON form of a scorer."""
    return {
        "weights": dict(zip(scorer.names, scorer.weights, strict=True)),
        "intercept": scorer.intercept,
        "calibration": {"scores": scorer.curve.scores, "probabilities": scorer.curve.probabilities},
    }


def model(found: Sequence[Row]) -> dict[str, Any]:
    """Everything that ships, with its figures."""
    train = [row for row in found if row.dataset in TRAINED_ON]
    p, left_out = held_out(found, SIGNALS), held_out(found, SIGNALS, by_set=True)
    return {
        "about": "how probable it is that an offline answer is right; see training/fit_abstention.py",
        "trained_on": list(TRAINED_ON),
        "scorer": stored(fit(train, SIGNALS)),
        "threshold": threshold(found, p, [name for name in TRAINED_ON if name not in SMALL]),
        "threshold_of_few": careful_threshold(found, p, SMALL),
        "thresholds_by_risk": promises(found, p),
        "measured": {"held out": by_set(found, p), "set left out": by_set(found, left_out)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--limit", type=int, default=300, help="questions of each set")
    parser.add_argument("--sets", nargs="+", choices=[*sorted(TASKS), *SMALL, *FIELD], default=[*TASKS, *SMALL, *FIELD])
    parser.add_argument("--field", type=Path, help="folder with the documents of the field sets for tuning")
    arguments = parser.parse_args()
    found = usable(rows(arguments.data, arguments.sets, arguments.limit, arguments.cache, arguments.field))
    text = json.dumps(model(found), indent=1, ensure_ascii=False) + "\n"
    arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
