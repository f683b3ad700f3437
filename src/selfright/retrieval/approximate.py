"""An approximate dense index: inverted lists of one-bit codes (IVF with RaBitQ), whose candidates are scored exactly.

How many lists a search has to probe is measured when the index is made: recall of the true ten nearest among the
candidates, for queries that lie near and between stored vectors. Vectors that cannot be approximated well enough are
not approximated at all. (RaBitQ: Gao and Long, SIGMOD 2024.)
"""

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Blocks = Iterator["tuple[int, NDArray[np.float32]]"]

CANDIDATES = 160  # scored exactly for each query
WANTED_RECALL = 0.985  # of the ten nearest, among the candidates
_NEAREST = 10
_QUERIES = 128
_POINTS_A_LIST = 64  # to train on
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Approximation:
    """An index whose ids are places 0, 1, 2 …; ``probes`` lists are read for a query; ``recall`` was measured."""

    index: Any
    lists: int
    probes: int
    recall: float


class Source:
    """All vectors to be indexed: ``count`` rows, read in blocks as often as needed."""

    def __init__(self, count: int, dimension: int, blocks: Any, some: Any) -> None:
        self.count = count
        self.dimension = dimension
        self.blocks = blocks  # () -> Blocks
        self.some = some  # (places) -> matrix


def faiss() -> Any:
    """FAISS, imported late for it takes a third of a second; untyped, for its wrappers take more than they declare."""
    return importlib.import_module("faiss")


def approximate(source: Source) -> Approximation | None:
    """The index over all vectors, or None when no number of probes reaches ``WANTED_RECALL``."""
    lists = max(16, min(4_096, round(math.sqrt(source.count))))
    index = faiss().index_factory(source.dimension, f"IVF{lists},RaBitQfs", faiss().METRIC_INNER_PRODUCT)
    index.cp.niter = _ROUNDS
    index.cp.max_points_per_centroid = _POINTS_A_LIST
    index.cp.min_points_per_centroid = 1
    index.train(source.some(_spread(source.count, lists * _POINTS_A_LIST)))
    for _, block in source.blocks():
        index.add(block)
    probes, recall = _calibrated(index, lists, source)
    return Approximation(index, lists, probes, recall) if recall >= WANTED_RECALL else None


def search(index: Any, vector: "NDArray[np.float32]", probes: int, limit: int, among: Any = None) -> Any:
    """The places of the ``limit`` nearest candidates; ``among`` is a bit for each place, packed, or None for all."""
    library = faiss()
    selector = None if among is None else library.IDSelectorBitmap(among)
    parameters = library.IVFRaBitQSearchParameters(nprobe=probes, sel=selector)
    _, places = index.search(vector.reshape(1, -1), limit, params=parameters)
    found = places[0]
    return found[found >= 0]


def _calibrated(index: Any, lists: int, source: Source) -> tuple[int, float]:
    """The fewest probes that bring the recall (doubled, for queries are not documents), and the recall they have."""
    queries = _queries(source)
    truth = _exact(queries, source)
    probes, recall = max(4, lists // 32), 0.0
    while True:
        index.nprobe = probes
        _, found = index.search(queries, CANDIDATES)
        recall = sum(len(set(a) & set(b)) for a, b in zip(truth, found, strict=True)) / truth.size
        if probes >= lists or recall >= WANTED_RECALL + (1 - WANTED_RECALL) / 2:
            return min(lists, 2 * probes), recall
        probes = min(lists, 2 * probes)


def _queries(source: Source) -> "NDArray[np.float32]":
    """Half lie near a stored vector, half between two; the same for the same vectors."""
    random = np.random.default_rng(0)
    places = _spread(source.count, 2 * _QUERIES)
    vectors = source.some(places)
    first, second = vectors[: len(vectors) // 2], vectors[len(vectors) // 2 :][: len(vectors) // 2]
    noise = random.standard_normal(first.shape, dtype=np.float32)
    noise *= 0.5 / np.linalg.norm(noise, axis=1, keepdims=True)
    queries = np.concatenate([first + noise, 0.6 * first + 0.4 * second])
    normalised: NDArray[np.float32] = queries / np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-9)
    return np.ascontiguousarray(normalised, dtype=np.float32)


def _exact(queries: "NDArray[np.float32]", source: Source) -> "NDArray[np.int64]":
    """The places of the true nearest, ``(queries, 10)``."""
    heap = faiss().ResultHeap(len(queries), min(_NEAREST, source.count), keep_max=True)
    for start, block in source.blocks():
        scores, places = faiss().knn(queries, block, min(_NEAREST, len(block)), metric=faiss().METRIC_INNER_PRODUCT)
        if scores.shape[1] < heap.k:
            missing = heap.k - scores.shape[1]
            scores = np.pad(scores, ((0, 0), (0, missing)), constant_values=-np.inf)
            places = np.pad(places, ((0, 0), (0, missing)), constant_values=-1)
        heap.add_result(scores, places + start)
    heap.finalize()
    nearest: NDArray[np.int64] = heap.I
    return nearest


def _spread(count: int, wanted: int) -> "NDArray[np.int64]":
    """At most ``wanted`` places, evenly spread over all."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))
