"""Fits ``roles/grade/weights.json``: the offline grader's scorers, their calibration and the two thresholds.

    python -m training.fit_grader --data DIR --out FILE [--cache DIR] [--network FILE] [--words FILE] [--field DIR]

``--words`` names a file of weights whose scorers by words are kept. Those that ship were fitted on all questions of
the first nine sets, also on those that the network has learnt from, for words do not depend on it. ``--network`` are
weights of the network that reads pairs, by default those that ship. Deterministic. Every figure on a set that is
trained on is held out: five folds, split by article, document or topic; ``unseen`` are figures of a fit without the
whole set. Each set weighs the same, however many rows it has.
"""

import argparse
import json
import math
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.models.files import FOLDER
from selfright.models.reader import PairNet, PairViews
from selfright.roles.calibration.fitting import binomial_tail
from selfright.roles.grade.features import AGAINST, FEATURES, FOR
from selfright.roles.grade.model import VARIANTS, names_of, set_names_of, set_signals
from training.fitting import Array, auc, calibration_error, isotonic, signed_logistic
from training.grader_rows import Rows, compared_anew, joined, load, on_their_own, pick, place_in_set

SIZES = (1, 3, 5, 8)
RIDGE = 1.0
PER_SET = 2_000.0
LOWER_RISK, UPPER_RISK, DOUBT = 0.10, 0.20, 0.10
UNSEEN = ("squad2", "covidqa", "belebele_ko", "tydiqa_ko_en", "mtrag", "medquad")
UNREAD = {"reader": "words", "both": "cosines"}  # who judges what was not read


def equal_sets(dataset: NDArray[np.str_]) -> Array:
    """Row weights that give every set the same say."""
    names, counts = np.unique(dataset, return_counts=True)
    share = dict(zip(names, PER_SET / counts, strict=True))
    return np.array([share[name] for name in dataset])


def sign(name: str) -> int:
    """Which way a signal may count: 1 for, -1 against, 0 either."""
    if name.startswith(("most_", "spread_")) or name in ("best_logit", "any", "lead"):
        return 1
    return (name in FOR) - (name in AGAINST)


def score(x: Array, w: Array) -> Array:
    """Log-odds of rows under weights whose last is the intercept."""
    return x @ w[:-1] + float(w[-1])


class Fitted:
    """Weights on all rows, and held-out log-odds by fold; ``curve`` is fitted on the held-out ones."""

    def __init__(self, x: Array, y: Array, fold: NDArray[np.int64], weight: Array, names: tuple[str, ...]) -> None:
        self.names = names
        signs = np.array([sign(name) for name in names], float)
        self.by_fold = [signed_logistic(x[fold != k], y[fold != k], weight[fold != k], RIDGE, signs) for k in range(5)]
        self.weights = signed_logistic(x, y, weight, RIDGE, signs)
        self.held_out = self.score_held_out(x, fold)
        self.curve = isotonic(self.held_out, y, weight)

    def halved(self, other: "Fitted", x: Array, y: Array, fold: NDArray[np.int64], weight: Array) -> "Fitted":
        """Half these weights and half those of ``other``, which knows fewer signals, with a curve of its own."""
        place = [*(self.names.index(name) for name in other.names), len(self.names)]

        def mean(own: Array, others: Array) -> Array:
            found = own / 2
            found[place] += others / 2
            return found

        both = copy(self)
        both.by_fold = [mean(own, others) for own, others in zip(self.by_fold, other.by_fold, strict=True)]
        both.weights = mean(self.weights, other.weights)
        both.held_out = both.score_held_out(x, fold)
        both.curve = isotonic(both.held_out, y, weight)
        return both

    def score_held_out(self, x: Array, fold: NDArray[np.int64]) -> Array:
        """Log-odds, for each row under the weights that have not seen its fold."""
        scores = np.zeros(len(x))
        for k, w in enumerate(self.by_fold):
            scores[fold == k] = score(x[fold == k], w)
        return scores

    def calibrated(self, scores: Array) -> Array:
        """Probabilities."""
        return np.interp(scores, *self.curve)

    def recalibrated(self, y: Array, weight: Array, mask: NDArray[np.bool_]) -> "Fitted":
        """The same weights with a curve of their own, fitted on some of the rows."""
        other = copy(self)
        other.curve = isotonic(self.held_out[mask], y[mask], weight[mask])
        return other

    def stored(self) -> dict[str, Any]:
        """The JSON form of a scorer."""
        rounded = [round(float(w), 4) for w in self.weights]
        scores, probabilities = ([round(v, 4) for v in values] for values in self.curve)
        return {
            "weights": dict(zip(self.names, rounded[:-1], strict=True)),
            "intercept": rounded[-1],
            "calibration": {"scores": scores, "probabilities": probabilities},
        }


def known_to(rows: Rows, variant: str) -> Rows:
    """The rows that a variant is for, and without what it does not know: what was not read is not for readers."""
    if "reader" in VARIANTS[variant]:
        return rows.only(~np.isnan(rows.score))
    return compared_anew(replace(rows, score=np.full(len(rows.y), np.nan)))


def fit_passages(rows: Rows, variant: str) -> Fitted:
    """A scorer of passages, fitted on each once within its set and once on its own.

    What knows the network's reading counts half of it only: weights are the mean of those with and without it. That
    is better on the sets that were fitted on (AUC 0.908 in the mean; 0.902 with all of it, 0.901 without) and on those
    that were not (0.901; 0.891, 0.898).
    """
    both = joined([known_to(rows, variant), known_to(on_their_own(rows), variant)])
    names = names_of(variant)
    parts = both.y.astype(float), both.fold, equal_sets(both.dataset)
    fitted = Fitted(pick(both, names), *parts, names)
    if variant == "korean":
        return fitted.recalibrated(parts[0], parts[2], in_korean(both.x))
    if "reader" not in VARIANTS[variant]:
        return fitted
    unread = fit_passages(rows, UNREAD[variant])
    return fitted.halved(unread, pick(both, names), *parts)


def in_korean(x: Array) -> NDArray[np.bool_]:
    """Korean questions on Korean passages."""
    found: NDArray[np.bool_] = (x[:, FEATURES.index("korean")] == 1) & (x[:, FEATURES.index("cross_language")] == 0)
    return found


class Sets:
    """Retrieved sets as rows: the first 1, 3, 5 and 8 passages, once as retrieved, once with what helps taken out."""

    def __init__(self, rows: Rows, variant: str, fitted: dict[str, Fitted]) -> None:
        self.names = set_names_of(variant)
        self._variant, self._fitted = variant, fitted
        self._x: list[list[float]] = []
        self._korean: list[bool] = []
        self._origin: list[tuple[int, str, int, int]] = []
        helped = np.isin(rows.case, np.unique(rows.case[rows.y == 1]))
        for part in (rows, rows.only(helped & (rows.y == 0))):
            for size in SIZES:
                self._add(compared_anew(part.only(place_in_set(part) < size)), size)
        y, dataset, fold, sizes = (np.array(column) for column in zip(*self._origin, strict=True))
        self.x, self.y, self.dataset, self.fold, self.size = np.array(self._x), y.astype(float), dataset, fold, sizes
        self.korean = np.array(self._korean)

    def _add(self, rows: Rows, size: int) -> None:
        p = chances(rows, self._variant, self._fitted)
        for case in np.unique(rows.case):
            at = np.flatnonzero(rows.case == case)
            if len(at) < size and size > SIZES[1]:
                continue  # the same set again
            members = [dict(zip(FEATURES, values, strict=True)) for values in rows.x[at].tolist()]
            signals = set_signals(p[at].tolist(), members)
            self._x.append([signals[name] for name in self.names])
            self._origin.append((int(rows.y[at].any()), str(rows.dataset[at[0]]), int(rows.fold[at[0]]), size))
            self._korean.append(bool(in_korean(rows.x[at]).all()))


def chances(rows: Rows, variant: str, fitted: dict[str, Fitted]) -> Array:
    """The passages' probabilities as a grader of that variant has them, held out."""
    if "reader" not in VARIANTS[variant]:
        rows = known_to(rows, variant)
        return _chances(rows, fitted[variant])
    return np.where(np.isnan(rows.score), _chances(rows, fitted[UNREAD[variant]]), _chances(rows, fitted[variant]))


def _chances(rows: Rows, one: Fitted) -> Array:
    return one.calibrated(one.score_held_out(pick(rows, one.names), rows.fold))


def thresholds(p: Array, y: Array, weight: Array) -> tuple[float, float]:
    """(lower, upper): of sets below ``lower`` at most a tenth can answer, of those from ``upper`` on a fifth cannot.

    Fixed-sequence testing of the selective risk ("learn then test", arXiv 2110.01052): from the safe end inwards each
    candidate threshold is tested, and the last before the first that fails is taken, so that the risk holds with a
    confidence of 90 %. Rows count by ``weight``; the test uses Kish's effective number of them.
    """
    lower = _last_safe(p, y, weight, LOWER_RISK)
    upper = 1 - _last_safe(1 - p, 1 - y, weight, UPPER_RISK)
    return round(lower, 3), round(max(upper, lower), 3)


def _last_safe(p: Array, wrong: Array, weight: Array, risk: float) -> float:
    """The highest threshold below which the share of ``wrong`` is at most ``risk``, tested from the bottom up."""
    order = np.argsort(p, kind="stable")
    p, wrong, weight = p[order], wrong[order], weight[order]
    total, squares = np.cumsum(weight), np.cumsum(weight**2)
    share, effective = np.cumsum(weight * wrong) / total, total**2 / squares
    safe = float(p[0])
    # Every fifth percentile: the more often is tested, the likelier it is that one unlucky row ends the walk.
    for at in np.unique(np.linspace(0.1, 1, 19) * (len(p) - 1)).astype(int):
        if (1 - risk) ** effective[at] > DOUBT:
            continue  # too few for any outcome to pass, which does not depend on the labels
        rows = int(effective[at])
        if binomial_tail(math.floor(share[at] * rows + 1e-9), rows, risk) > DOUBT:
            break
        safe = float(p[at])
    return safe


def measure(rows: Rows, p: Array) -> dict[str, Any]:
    """AUC and calibration error per set, and AUC on squad2's own paragraphs; strangers would flatter."""
    mine = rows.kind != "stranger"
    rows, p = rows.only(mine), p[mine]
    found: dict[str, Any] = {}
    for name in np.unique(rows.dataset):
        mask = rows.dataset == name
        found[str(name)] = {
            "auc": round(auc(p[mask], rows.y[mask]), 3),
            "ece": round(calibration_error(p[mask], rows.y[mask]), 3),
            "rows": int(mask.sum()),
        }
    own = (rows.dataset == "squad2") & (rows.kind == "own")
    if own.any():
        found["squad2, own paragraph"] = {"auc": round(auc(p[own], rows.y[own]), 3), "rows": int(own.sum())}
    return found


def measure_sets(sets: Sets, p: Array, lower: float, upper: float) -> dict[str, Any]:
    """Figures of the largest sets: AUC, calibration error, [correct, ambiguous, incorrect] by what the set holds."""
    found: dict[str, Any] = {}
    for name in ("all", *np.unique(sets.dataset).tolist()):
        mask = (sets.dataset == name) | (name == "all")
        found[name] = {
            "auc": round(auc(p[mask], sets.y[mask]), 3),
            "ece": round(calibration_error(p[mask], sets.y[mask]), 3),
        }
        for label, side in ((1, "holds the answer"), (0, "does not")):
            q = p[mask & (sets.y == label)]
            if len(q):
                shares = ((q >= upper).mean(), ((q >= lower) & (q < upper)).mean(), (q < lower).mean())
                found[name][side] = [round(float(share), 3) for share in shares]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--network", type=Path, default=FOLDER, help="folder of exported networks")
    parser.add_argument("--words", type=Path)
    parser.add_argument("--field", type=Path, help="folder with the documents of the field sets for tuning")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    reader = PairViews(PairNet(arguments.network)).questions
    trained, measured = load(arguments.data, arguments.cache, reader, arguments.field)
    fitted = {variant: fit_passages(trained, variant) for variant in VARIANTS}
    everything = joined([trained, measured])
    report: dict[str, Any] = {}
    for variant in VARIANTS:
        report[f"{variant}, in their set"] = measure(everything, chances(everything, variant, fitted))
    report["both, unseen"] = {}
    for name in UNSEEN:
        mine = trained.dataset == name
        others = {variant: fit_passages(trained.only(~mine), variant) for variant in ("cosines", "both")}
        report["both, unseen"] |= measure(trained.only(mine), chances(trained.only(mine), "both", others))
    stored: dict[str, Any] = {}
    judged: dict[str, tuple[Sets, Array]] = {}
    for variant in VARIANTS:
        sets = Sets(trained, variant, fitted)
        weight = equal_sets(sets.dataset)
        sufficiency = Fitted(sets.x, sets.y, sets.fold, weight, sets.names)
        if variant == "korean":
            sufficiency = sufficiency.recalibrated(sets.y, weight, sets.korean)
        judged[variant] = (sets, sufficiency.calibrated(sufficiency.held_out))
        stored[variant] = {"passage": fitted[variant].stored(), "sufficiency": sufficiency.stored()}
    sets, p = judged["both"]
    whole = sets.size >= SIZES[1]
    lower, upper = thresholds(p[whole], sets.y[whole], equal_sets(sets.dataset[whole]))
    for variant, (sets, p) in judged.items():
        report[f"{variant}, sufficiency"] = measure_sets(sets, p, lower, upper)
    if arguments.words:
        known = json.loads(arguments.words.read_text(encoding="utf-8"))["variants"]
        stored |= {name: known[name] for name in ("words", "korean")}
    model = {
        "about": "the offline grader; see training/fit_grader.py",
        "trained_on": sorted(str(name) for name in np.unique(trained.dataset)),
        "embedder": "multilingual-e5-small-q4",
        "reader": reader.name,
        "variants": stored,
        "thresholds": {"lower": lower, "upper": upper},
        "measured": report,
    }
    arguments.out.write_text(json.dumps(model, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))
    print(lower, upper)


if __name__ == "__main__":
    main()
