"""Fits ``roles/grade/weights.json``: the offline grader's scorers, their calibration and the two thresholds.

    python -m training.fit_grader --data DIR --reader-card FILE --out FILE [--cache DIR] [--limit N] [--check]

The two thresholds are those that ``training.fit_grader_reader`` tested: one pair serves with the reader and without it.
Deterministic. Every reported figure on a set that is trained on is held out: five folds, split by article, document or
topic. Each set weighs the same, however many rows it has. ``--check`` compares with the file that is there
instead of writing it.
"""

import argparse
import json
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.roles.grade.features import AGAINST, FEATURES, FOR, LEXICAL, SEMANTIC
from selfright.roles.grade.model import SET_SIGNALS, SETS_LEXICAL, set_signals
from training.fitting import Array, auc, calibration_error, isotonic, signed_logistic
from training.grader_rows import CachedEmbedder, Rows, column, extract, on_their_own, regrouped
from training.labelled import MEASURED_ON, TRAINED_ON, with_strangers

SIZES = (1, 3, 8)
LIMITS = {"medquad": 400, "pubmedqa": 300, "pubmedqa_pairs": 300, "bioasq": 400, "korquad": 700}  # embedding is slow
OWN_SETS = {"korean": ("belebele_ko", "korquad"), "cross": ("belebele_cross",)}
VARIANTS = {
    "lexical": (LEXICAL, SETS_LEXICAL),
    "korean": (LEXICAL, SETS_LEXICAL),
    "cross": (LEXICAL, SETS_LEXICAL),
    "semantic": (SEMANTIC, SET_SIGNALS),
}
RIDGE = 1.0
PER_SET = 2_000.0


def pick(rows: Rows, names: tuple[str, ...]) -> Array:
    """The columns with these names."""
    return rows.x[:, [FEATURES.index(name) for name in names]]


def belongs(dataset: NDArray[np.str_], variant: str) -> NDArray[np.bool_]:
    """Which rows a variant is calibrated on: its own sets, else all that are nobody's own."""
    if variant in OWN_SETS:
        return np.isin(dataset, OWN_SETS[variant])
    return ~np.isin(dataset, [name for names in OWN_SETS.values() for name in names])


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

    def score_held_out(self, x: Array, fold: NDArray[np.int64]) -> Array:
        """Log-odds, for each row under the weights that have not seen its fold."""
        scores = np.zeros(len(x))
        for k, w in enumerate(self.by_fold):
            scores[fold == k] = score(x[fold == k], w)
        return scores

    def calibrated(self, scores: Array) -> Array:
        """Probabilities."""
        return np.interp(scores, *self.curve)

    def recalibrated(self, rows: "Rows | Sets", mask: NDArray[np.bool_]) -> "Fitted":
        """The same weights with a curve of their own for some of the rows."""
        other = copy(self)
        weight = equal_sets(rows.dataset)
        other.curve = isotonic(self.held_out[mask], rows.y[mask].astype(float), weight[mask])
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


def fit_passages(rows: Rows, names: tuple[str, ...]) -> Fitted:
    """A scorer of passages, fitted on each once within its set and once on its own."""
    both = joined([rows, on_their_own(rows)])
    return Fitted(pick(both, names), both.y.astype(float), both.fold, equal_sets(both.dataset), names)


class Sets:
    """Retrieved sets as rows: the first 1, 3 and 8 passages, once as retrieved, once with what helps taken out."""

    def __init__(self, rows: Rows, fitted: Fitted, names: tuple[str, ...]) -> None:
        self.names = names
        self._x: list[list[float]] = []
        self._origin: list[tuple[int, str, int, int]] = []
        retrieved = rows.only(rows.kind != "positive")
        helped = np.isin(retrieved.case, np.unique(retrieved.case[retrieved.y == 1]))
        for part in (retrieved, retrieved.only(helped & (retrieved.y == 0))):
            for size in SIZES:
                self._add(regrouped(part.only(place_in_set(part) < size)), fitted, size)
        y, dataset, fold, sizes = (np.array(column) for column in zip(*self._origin, strict=True))
        self.x, self.y, self.dataset, self.fold, self.size = np.array(self._x), y.astype(float), dataset, fold, sizes

    def _add(self, rows: Rows, fitted: Fitted, size: int) -> None:
        p = fitted.calibrated(fitted.score_held_out(pick(rows, fitted.names), rows.fold))
        for case in np.unique(rows.case):
            at = np.flatnonzero(rows.case == case)
            members = [dict(zip(FEATURES, values, strict=True)) for values in rows.x[at].tolist()]
            signals = set_signals(p[at].tolist(), members)
            self._x.append([signals[name] for name in self.names])
            self._origin.append((int(rows.y[at].any()), str(rows.dataset[at[0]]), int(rows.fold[at[0]]), size))


def place_in_set(rows: Rows) -> NDArray[np.int64]:
    """0 for the first passage of each set, 1 for the second, …; the rows of a set stand together."""
    starts = np.flatnonzero(np.r_[True, rows.case[1:] != rows.case[:-1]])
    return np.arange(len(rows.case)) - np.repeat(starts, np.diff(np.r_[starts, len(rows.case)]))


def measure(rows: Rows, scores: Array, fitted: Fitted) -> dict[str, Any]:
    """AUC and calibration error per set, and AUC on the hardest kind; strangers would flatter and do not count."""
    rows, scores = rows.only(rows.kind != "stranger"), scores[rows.kind != "stranger"]
    p = fitted.calibrated(scores)
    found: dict[str, Any] = {}
    for name in np.unique(rows.dataset):
        mask = rows.dataset == name
        found[str(name)] = {
            "auc": round(auc(scores[mask], rows.y[mask]), 3),
            "ece": round(calibration_error(p[mask], rows.y[mask]), 3),
            "rows": int(mask.sum()),
        }
    own = (rows.dataset == "squad2") & (rows.kind == "own")
    if own.any():
        found["squad2, own paragraph"] = {"auc": round(auc(scores[own], rows.y[own]), 3), "rows": int(own.sum())}
    return found


def measure_sets(sets: Sets, p: Array, among: NDArray[np.bool_], lower: float, upper: float) -> dict[str, Any]:
    """Figures of sets of eight: AUC, calibration error, and [correct, ambiguous, incorrect] by what the set holds."""
    whole = among & (sets.size == max(SIZES))
    found: dict[str, Any] = {}
    for name in ("all", *np.unique(sets.dataset[whole]).tolist()):
        mask = whole & ((sets.dataset == name) | (name == "all"))
        found[name] = {
            "auc": round(auc(p[mask], sets.y[mask]), 3),
            "ece": round(calibration_error(p[mask], sets.y[mask]), 3),
        }
        for label, side in ((1, "holds the answer"), (0, "does not")):
            q = p[mask & (sets.y == label)]
            shares = ((q >= upper).mean(), ((q >= lower) & (q < upper)).mean(), (q < lower).mean())
            found[name][side] = [round(float(share), 3) for share in shares]
    return found


def load(data: Path, cache: Path, limit: int) -> tuple[Rows, Rows]:
    """Rows to train on and rows to measure on, extracted once into ``cache``: empty it when the features change."""
    from selfright.llm.minilm import MiniLM
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, embedder = BilingualTokenizer(), CachedEmbedder(MiniLM(), cache)
    parts: list[list[Rows]] = [[], []]
    for side, loaders in zip(parts, (TRAINED_ON, MEASURED_ON), strict=True):
        for loader in loaders:
            stored = cache / f"rows-{loader.__name__}.npz"
            if not stored.exists():
                cases = loader(data, tokenizer, min(limit, LIMITS.get(loader.__name__, limit)))
                cases = with_strangers(cases) if loader in TRAINED_ON else cases
                rows = extract(cases, tokenizer, embedder)
                np.savez(stored, **vars(rows))
                embedder.save()
            with np.load(stored) as columns:
                side.append(Rows(**{name: columns[name] for name in columns.files}))
            print(f"{loader.__name__}: {len(side[-1].y)} rows, {side[-1].y.mean():.3f} positive", flush=True)
    return joined(parts[0]), joined(parts[1])


def joined(parts: list[Rows]) -> Rows:
    """All rows under each other; case numbers stay apart."""
    shifts = np.cumsum([0, *(int(part.case.max()) + 1 for part in parts[:-1])])
    cases = [part.case + shift for part, shift in zip(parts, shifts, strict=True)]
    columns = {n: np.concatenate([getattr(p, n) for p in parts]) for n in ("x", "y", "dataset", "kind", "fold")}
    return Rows(**columns, case=np.concatenate(cases))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader-card", type=Path, required=True, help="roles/grade/reader.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    trained, measured = load(arguments.data, arguments.cache, arguments.limit)
    report: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    judged: list[tuple[str, Sets, Array, NDArray[np.bool_]]] = []
    for name, (names, set_names) in VARIANTS.items():
        train, test = (part.only((column(part, "cosine") != 0) | (name != "semantic")) for part in (trained, measured))
        both = joined([train, on_their_own(train)])
        fitted = fit_passages(train, names).recalibrated(both, belongs(both.dataset, name))
        rows = joined([train, test])
        rows = rows.only(belongs(rows.dataset, name))
        for view, viewed in (("in their set", rows), ("alone", on_their_own(rows))):
            scores = fitted.score_held_out(pick(viewed, names), viewed.fold)
            report[f"{name}, {view}"] = measure(viewed, scores, fitted)
        sets = Sets(train.only(train.dataset != "clapnq"), fitted, set_names)
        mask = belongs(sets.dataset, name)
        sufficiency = Fitted(sets.x, sets.y, sets.fold, equal_sets(sets.dataset), set_names).recalibrated(sets, mask)
        stored[name] = {"passage": fitted.stored(), "sufficiency": sufficiency.stored()}
        judged.append((name, sets, sufficiency.calibrated(sufficiency.held_out), mask))
    pair = json.loads(arguments.reader_card.read_text(encoding="utf-8"))["thresholds"]
    lower, upper = pair["lower"], pair["upper"]
    for name, sets, chance, mask in judged:
        report[f"{name}, sufficiency"] = measure_sets(sets, chance, mask, lower, upper)
    model = {
        "about": "the offline grader; see training/fit_grader.py",
        "trained_on": sorted(str(name) for name in np.unique(trained.dataset)),
        "embedder": "minilm-l6-v2",
        **stored,
        "thresholds": pair,
        "measured": report,
    }
    text = json.dumps(model, indent=1, ensure_ascii=False) + "\n"
    if arguments.check:
        if arguments.out.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{arguments.out} is not what this script makes of this data")
        return
    arguments.out.write_text(text, encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
