"""The two lists of every query of a task, as a search would bring them, in arrays that fusion can be fitted on."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.embedding import query_vector
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.tokenizer import content_terms
from training.bm25 import Index
from training.fusion_tasks import Task

DEPTH = 100
_BATCH = 256


@dataclass(frozen=True)
class Lists:
    """Candidates of each query, padded: ``rank`` 0 and ``grade`` -1 where there is none. Shapes (queries, 2 · depth).

    ``bm25`` and ``cosine`` are known of every candidate, whichever list it came from; ``idf`` (queries, terms) is
    padded with zeros; ``ideal`` is the best reachable gain of the first ten.
    """

    bm25: NDArray[np.float32]
    cosine: NDArray[np.float32]
    bm25_rank: NDArray[np.int16]
    dense_rank: NDArray[np.int16]
    grade: NDArray[np.int16]
    document: NDArray[np.int32]
    idf: NDArray[np.float32]
    ideal: NDArray[np.float64]
    query: NDArray[np.str_]


def lists_of(task: Task, tokenizer: Tokenizer, embedder: Embedder, corpora: "Corpora") -> Lists:
    """Searches the task's corpus for all of its queries."""
    index, vectors, numbers = corpora.of(task, tokenizer, embedder)
    rows = []
    for text, grades in task.queries:
        vector = query_vector(embedder, text)
        terms = content_terms(tokenizer.tokens(text))
        scores, cosines = bm25_scores(index, terms), vectors @ vector
        rows.append(_row(scores, cosines, {numbers[name]: grade for name, grade in grades.items() if name in numbers}))
        rows[-1] += (index.statistics.idf(terms), ideal_gain(list(grades.values())), text)
    columns = list(zip(*rows, strict=True))
    width = max(map(len, columns[6]))
    idf = np.array([[*row, *[0.0] * (width - len(row))] for row in columns[6]], np.float32)
    arrays = [np.array(column) for column in columns[:6]]
    return Lists(*arrays, idf=idf, ideal=np.array(columns[7]), query=np.array(columns[8]))


def bm25_scores(index: Index, terms: Sequence[str]) -> NDArray[np.float64]:
    """Of every document; repeated terms count repeatedly."""
    total = index.scores(terms)
    seen: set[str] = set()
    for term in terms:
        if term in seen:
            total = total + index.scores([term])
        seen.add(term)
    return total


def _row(scores: NDArray[np.float64], cosines: NDArray[np.float32], grades: dict[int, int]) -> tuple[object, ...]:
    words = [int(i) for i in np.argsort(-scores, kind="stable")[:DEPTH] if scores[i] > 0]
    near = [int(i) for i in np.argsort(-cosines, kind="stable")[:DEPTH]]
    places = {number: rank for rank, number in enumerate(words, start=1)}
    dense = {number: rank for rank, number in enumerate(near, start=1)}
    union = [*words, *(number for number in near if number not in places)]
    pad = [0] * (2 * DEPTH - len(union))
    at = np.array(union)
    return (
        np.array([*scores[at], *pad], np.float32),
        np.array([*cosines[at], *pad], np.float32),
        np.array([*(places.get(n, 0) for n in union), *pad], np.int16),
        np.array([*(dense.get(n, 0) for n in union), *pad], np.int16),
        np.array([*(max(0, grades.get(n, 0)) for n in union), *(-1 for _ in pad)], np.int16),
        np.array([*union, *(-1 for _ in pad)], np.int32),
    )


def ideal_gain(grades: Sequence[int]) -> float:
    """The discounted gain of the ten best grades in their best order."""
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:10]
    return float(sum(grade / np.log2(place + 2) for place, grade in enumerate(best)))


def embed(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    """One row per text; texts of one length go together, so that little is spent on padding."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    rows = np.zeros((len(texts), embedder.dimension), np.float32)
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        rows[some] = embedder.embed([texts[number] for number in some])
    return rows


class Corpora:
    """Keeps the last corpus that was indexed, for tasks of one corpus come one after another."""

    def __init__(self) -> None:
        self._key: object = None
        self._kept: tuple[Index, NDArray[np.float32], dict[str, int]] | None = None

    def of(
        self, task: Task, tokenizer: Tokenizer, embedder: Embedder
    ) -> tuple[Index, NDArray[np.float32], dict[str, int]]:
        """Its BM25 index, its vectors and the row numbers of its documents."""
        key = hash(task.corpus)
        if self._kept is None or key != self._key:
            texts = [f"{title}\n{text}" if title else text for _, title, text in task.corpus]
            index = Index(tokenizer.tokens(text) for text in texts)
            numbers = {name: number for number, (name, _, _) in enumerate(task.corpus)}
            self._key, self._kept = key, (index, embed(texts, embedder), numbers)
        return self._kept


def kept_lists(task: Task, folder: Path, make: Callable[[Task], Lists]) -> Lists:
    """The lists from a file of an earlier run, or made now and kept there."""
    digest = hashlib.sha256(repr((DEPTH, task.corpus, task.queries)).encode()).hexdigest()[:12]
    path = folder / f"{task.name.replace('/', '-')}-{digest}.npz"
    if path.exists():
        with np.load(path) as stored:
            return Lists(**{name: stored[name] for name in Lists.__dataclass_fields__})
    made = make(task)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **{name: getattr(made, name) for name in Lists.__dataclass_fields__})
    return made
