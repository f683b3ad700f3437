"""Rows for fitting the grader: labelled sets, and the signals of each candidate, the reader's scores among them.

Columns of ``Rows.x`` are ``NAMES``.
"""

import math
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.ports import Tokenizer
from selfright.roles.grade.features import FEATURES
from selfright.roles.grade.neural import READER_SIGNALS, with_reader
from training.fitting import Array
from training.grader_rows import CachedEmbedder, Rows, extract
from training.labelled import MEASURED_ON, TRAINED_ON, Case, with_strangers
from training.pairs import seen_questions

Loader = Callable[[Path, Tokenizer, int], Iterator[Case]]
NAMES = (*FEATURES, *READER_SIGNALS)
COMPARED = ("saturation", "sentence_coverage", "cosine", "sentence_cosine", "reader")
MOST_CASES = {"squad2": 600}  # of a set; the weights are few
OTHERWISE = 150


def cases_of(loader: Loader, data: Path, tokenizer: Tokenizer, known: Set[str], limit: int = 10**9) -> Iterator[Case]:
    """The cases of a set whose questions are not ``known`` (lower case), drawn evenly where there are many.

    Those to train on have strangers among them.
    """
    everything = [c for c in loader(data, tokenizer, 10**9) if c.question.strip().lower() not in known]
    step = max(1, math.ceil(len(everything) / min(limit, MOST_CASES.get(loader.__name__, OTHERWISE))))
    cases = iter(everything[::step])
    return with_strangers(cases) if loader in TRAINED_ON else cases


def load(data: Path, cache: Path, limit: int, tag: str = "") -> tuple[Rows, Rows]:
    """Rows to train on and rows to measure on.

    Signals are extracted once into ``cache``: empty it when the features change. The reader's scores are those that
    ``training.cross_encoder_scores`` wrote there under ``tag``; where there are none its signals are NaN.
    """
    parts: list[list[Rows]] = [[], []]
    for side, loaders in zip(parts, (TRAINED_ON, MEASURED_ON), strict=True):
        for loader in loaders:
            rows = _rows(loader, data, cache, limit)
            side.append(_read(rows, _scores(loader.__name__, cache, tag, len(rows.y))))
            print(f"{loader.__name__}: {len(rows.y)} rows, {rows.y.mean():.3f} positive", flush=True)
    return joined(parts[0]), joined(parts[1])


def _read(rows: Rows, scores: Array) -> Rows:
    """The rows with the reader's signals as further columns."""
    signals = [[row[name] for name in READER_SIGNALS] for row in with_reader([{} for _ in scores], scores.tolist())]
    return compared_anew(replace(rows, x=np.column_stack([rows.x, np.array(signals)])))


def _rows(loader: Loader, data: Path, cache: Path, limit: int) -> Rows:
    from selfright.llm.minilm import MiniLM
    from selfright.retrieval.tokenizer import BilingualTokenizer

    stored = cache / f"rows-{loader.__name__}.npz"
    if not stored.exists():
        tokenizer, embedder = BilingualTokenizer(), CachedEmbedder(MiniLM(), cache)
        cases = cases_of(loader, data, tokenizer, seen_questions(data), limit)
        rows = extract(cases, tokenizer, embedder)
        np.savez(stored, **vars(rows))
        embedder.save()
    with np.load(stored) as columns:
        return Rows(**{name: columns[name] for name in columns.files})


def _scores(name: str, cache: Path, tag: str, count: int) -> Array:
    file = cache / f"reader-{tag}-{name}.npy"
    return np.load(file) if tag and file.exists() else np.full(count, np.nan)


def joined(parts: list[Rows]) -> Rows:
    """All rows under each other; case numbers stay apart."""
    shifts = np.cumsum([0, *(int(part.case.max()) + 1 for part in parts[:-1])])
    cases = [part.case + shift for part, shift in zip(parts, shifts, strict=True)]
    columns = {n: np.concatenate([getattr(p, n) for p in parts]) for n in ("x", "y", "dataset", "kind", "fold")}
    return replace(parts[0], **columns, case=np.concatenate(cases))


def compared_anew(rows: Rows) -> Rows:
    """The rows with each passage compared with what its set holds now."""
    x = rows.x.copy()
    _, place, count = np.unique(rows.case, return_inverse=True, return_counts=True)
    for name in COMPARED:
        values = column(rows, name)
        best = np.full(len(count), -np.inf)
        with np.errstate(invalid="ignore"):  # NaN where there are no scores
            np.maximum.at(best, place, values)
        x[:, NAMES.index(f"behind_{name}")] = best[place] - values
    x[:, NAMES.index("alone")] = count[place] == 1
    return replace(rows, x=x)


def on_their_own(rows: Rows) -> Rows:
    """The same passages, each as the only one of its set."""
    return replace(compared_anew(replace(rows, case=np.arange(len(rows.y)))), case=rows.case)


def column(rows: Rows, name: str) -> NDArray[np.float64]:
    """The values of one signal."""
    return rows.x[:, NAMES.index(name)]


def pick(rows: Rows, names: tuple[str, ...]) -> Array:
    """The columns with these names."""
    return rows.x[:, [NAMES.index(name) for name in names]]
