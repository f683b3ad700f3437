"""Fits ``retrieval/fusion_weights.json``: how far adaptive fusion trusts words and meaning, for each query.

    python -m training.fit_fusion --data DIR --out src/selfright/retrieval/fusion_weights.json [--cache DIR]
        [--desk DIR] [--families belebele_en squad2 …]

The model chooses one number for a query, the weight of its words. For each query nDCG@10 is measured at every weight of
a grid, and the model is fitted on the curves' height at the weights it chooses: the measure itself, not a stand-in for
it. Sets on which it stays behind the best of BM25, dense and plain RRF count more (``CARE``). Prints each set with the
model of all sets and with the one fitted without its family. ``--desk``, what ``training.desk_rows`` made, adds
questions as people type them over real documentation.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from selfright.llm.embedding_cache import CachedEmbedder
from selfright.retrieval.fusion_weights import NEAR_POWER, NEAR_SCALE, SearchedQuery, measure
from selfright.retrieval.fusion_weights import Measured as Signals
from training.fitting import Array, sigmoid
from training.fusion_lists import Corpora, Lists, kept_lists, lists_of
from training.fusion_tasks import Task, desk, every_task

NAMES = ("spread", "lead", "field", "codes")
GRID = np.linspace(-3, 4, 36)  # log-odds of the words' weight
SMOOTH = 0.4  # the curves jump where two passages change places; they are smoothed by this many log-odds
DERIVED_WEIGHT = 0.25
CARE = 30  # a set that loses 0.03 more against its best rival than another counts e^0.9 times as much
RIDGE = 0.001
ROUNDS = 300
_DISCOUNT = 1 / np.log2(np.arange(2, 12))


@dataclass(frozen=True)
class Measured:
    """A task in numbers: signals (queries, names), nDCG@10 at each weight (queries, grid), and of the three rivals."""

    task: Task
    signals: Array
    curves: Array
    rivals: tuple[float, float, float]

    @property
    def best(self) -> float:
        """The best of BM25, dense and plain RRF."""
        return max(self.rivals)


def gains(lists: Lists, scores: Array) -> Array:
    """nDCG@10 of each query; ties go to the better single rank."""
    ranks = [np.where(rank > 0, rank.astype(int), 9_999) for rank in (lists.bm25_rank, lists.dense_rank)]
    scores = np.where(lists.grade >= 0, scores, -np.inf)
    order = np.lexsort((lists.document, np.minimum(*ranks), -np.round(scores, 6)), axis=1)[:, :10]
    grades = np.maximum(np.take_along_axis(lists.grade, order, 1), 0)
    return np.asarray((grades * _DISCOUNT).sum(1) / lists.ideal)


def measured(task: Task, lists: Lists) -> Measured:
    """Signals, curves and rivals of a task."""
    by_words, by_meaning = (np.where(r > 0, 1 / (60.0 + r), 0.0) for r in (lists.bm25_rank, lists.dense_rank))
    rivals = [float(gains(lists, scores).mean()) for scores in (by_words, by_meaning, by_words + by_meaning)]
    rows = [_measure(lists, number) for number in range(len(lists.query))]
    unit, lowest, spread = (np.array([getattr(row, name) for row in rows])[:, None] for name in _SCALES)
    words = np.where(lists.bm25_rank > 0, lists.bm25 / unit, 0.0)
    near = NEAR_SCALE * np.where(lists.dense_rank > 0, np.maximum(lists.cosine - lowest, 0) / spread, 0.0) ** NEAR_POWER
    curves = np.array([gains(lists, share * words + (1 - share) * near) for share in sigmoid(GRID)]).T
    signals = np.array([[row.signals[name] for name in NAMES] for row in rows])
    return Measured(task, signals, curves, (rivals[0], rivals[1], rivals[2]))


_SCALES = ("unit", "lowest", "spread")


def _measure(lists: Lists, number: int) -> Signals:
    idf = [float(value) for value in lists.idf[number] if value > 0]
    words = _places(lists.bm25[number], lists.bm25_rank[number]) or [0.0]
    return measure(
        SearchedQuery(str(lists.query[number]), "en", idf),
        words,
        _places(lists.cosine[number], lists.dense_rank[number]),
    )


def _places(scores: Array, ranks: Array) -> list[float]:
    return [score for _, score in sorted((int(r), float(s)) for r, s in zip(ranks, scores, strict=True) if r > 0)]


def smoothed(curves: Array) -> Array:
    """The curves under a Gaussian window."""
    window = np.exp(-0.5 * ((GRID[:, None] - GRID[None]) / SMOOTH) ** 2)
    return curves @ (window / window.sum(0, keepdims=True))


def at(curves: Array, odds: Array) -> tuple[Array, Array]:
    """Each curve's value at its log-odds, interpolated, and its slope there."""
    step = GRID[1] - GRID[0]
    place = np.clip((odds - GRID[0]) / step, 0, len(GRID) - 1.001)
    left, rows = place.astype(int), np.arange(len(odds))
    low, high = curves[rows, left], curves[rows, left + 1]
    return low + (high - low) * (place - left), (high - low) / step


def fit(tasks: Sequence[Measured]) -> Array:
    """Weights of the signals, the intercept last: the ascent of a soft minimum over tasks of what they gain on their
    best rival, ``-log(mean(exp(-CARE * gain))) / CARE``."""
    x = np.concatenate([np.column_stack([task.signals, np.ones(len(task.signals))]) for task in tasks])
    curves = np.concatenate([smoothed(task.curves) for task in tasks])
    share = np.array([DERIVED_WEIGHT if task.task.derived else 1.0 for task in tasks])
    sizes, best = np.array([len(task.curves) for task in tasks]), np.array([task.best for task in tasks])
    starts = np.cumsum(sizes) - sizes
    w, mean, square = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for number in range(1, ROUNDS + 1):
        heights, slopes = at(curves, x @ w)
        urgent = share * np.exp(-CARE * (np.add.reduceat(heights, starts) / sizes - best))
        gradient = x.T @ (np.repeat(urgent / urgent.sum() / sizes, sizes) * slopes)
        gradient[:-1] -= RIDGE * w[:-1]
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        step = mean / (1 - 0.9**number) / (np.sqrt(square / (1 - 0.99**number)) + 1e-6)
        w += 0.05 * (1 - number / ROUNDS) * step
    return w


def value(task: Measured, w: Array) -> float:
    """Mean nDCG@10 of a task under a model."""
    return float(at(task.curves, task.signals @ w[:-1] + w[-1])[0].mean())


def report(tasks: Sequence[Measured], whole: Array) -> None:
    """The table: rivals, the model of all, the model without the family, and what the latter two lose to the best."""
    families = {task.task.family for task in tasks}
    without = {f: fit([t for t in tasks if t.task.train and t.task.family != f]) for f in sorted(families)}
    print(f"{'task':24}{'n':>5}{'bm25':>8}{'dense':>8}{'rrf':>8}{'all':>9}{'diff':>8}{'left out':>10}{'diff':>8}")
    rows = []
    for task in tasks:
        inside, outside = value(task, whole), value(task, without[task.task.family])
        rows.append((*task.rivals, inside, inside - task.best, outside, outside - task.best))
        mark = " " if task.task.train else "*"
        figures = "".join(f"{x:{w}.3f}" for x, w in zip(rows[-1], (8, 8, 8, 9, 8, 10, 8), strict=True))
        print(f"{task.task.name + mark:24}{len(task.curves):5}{figures}")
    natural = [row for row, task in zip(rows, tasks, strict=True) if not task.task.derived]
    for name, some in (("mean, natural", natural), ("mean, all", rows)):
        figures = "".join(f"{x:{w}.3f}" for x, w in zip(np.mean(some, 0), (8, 8, 8, 9, 8, 10, 8), strict=True))
        print(f"{name:29}{figures}")
    print("* never trained on")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--desk", type=Path)
    parser.add_argument("--families", nargs="+", default=(), help="of --data; all, where none is named")
    parser.add_argument("--vectors", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench.sqlite")
    parser.add_argument("--cache", type=Path, default=Path(".cache/training/fusion"))
    options = parser.parse_args()
    from selfright.models.encoder import E5
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, embedder, corpora = BilingualTokenizer(), CachedEmbedder(E5(), options.vectors), Corpora()
    tasks = []
    of_desk = desk(options.desk) if options.desk else ()
    for task in (*every_task(options.data, tokenizer.tokens, options.families), *of_desk):
        lists = kept_lists(task, options.cache, lambda each: lists_of(each, tokenizer, embedder, corpora))
        tasks.append(measured(task, lists))
    seen = [task for task in tasks if task.task.train]
    w = fit(seen)
    report(tasks, w)
    usual = np.mean([task.signals.mean(0) for task in seen], 0)
    model = {
        "about": "how far adaptive fusion trusts the words; see training/fit_fusion.py",
        "trained_on": sorted({task.task.family for task in seen}),
        "embedder": embedder.name,
        "weights": {name: round(float(v), 3) for name, v in zip(NAMES, w, strict=False)},
        "usual": {name: round(float(v), 3) for name, v in zip(NAMES, usual, strict=True)},
        "intercept": round(float(w[-1]), 3),
    }
    options.out.write_text(json.dumps(model, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(model, indent=1))


if __name__ == "__main__":
    main()
