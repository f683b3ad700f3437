"""An approximate dense index: inverted lists of four-bit codes, whose candidates are scored exactly.

(IVF with product quantisation, scanned in registers: Jégou et al., TPAMI 2011; André et al., TPAMI 2019.) How many
lists a search has to probe is measured when the index is made: recall of the true ten nearest among the candidates, for
stored vectors (themselves left out), for blurred ones, and for points between two; the hardest kind counts. Vectors
that cannot be approximated well enough are not approximated at all.
"""

import importlib.util
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.errors import MissingExtra
from selfright.processes import usable_cpus
from selfright.retrieval.vectors import VectorFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CANDIDATES = (160, 320, 640)  # scored exactly for each query; more among more neighbours
WANTED_RECALL = 0.99  # of the ten nearest, among the candidates
_ENOUGH_RECALL = 0.98  # when all lists are probed; less is not approximated
_NEAREST = 10
_QUERIES = 64  # of each kind
_KINDS = 3  # of queries; the recall of the hardest kind counts
_POINTS_A_LIST = 64  # to train on
_POINTS_A_CODE = 256
_FEWEST = 16  # vectors; as many as a code has values
_ROUNDS = 8
_BLUR = 1.0  # length of the noise: cosine 0.71 to where it came from
_threads = threading.local()
_SLACK = 0.002  # less than the best that candidates can bring, when that is not what is wanted
_STEP = 1.4  # how fast the number of probes is raised


@dataclass(frozen=True, slots=True)
class Approximation:
    """An index whose ids are places 0, 1, 2 …

    For a query ``probes`` of the ``lists`` are read and ``candidates`` scored exactly; ``recall`` was measured.
    """

    index: Any
    lists: int
    probes: int
    candidates: int
    recall: float


@dataclass(frozen=True, slots=True)
class Source:
    """All vectors to be indexed: of each its row in the file, and its checksum."""

    vectors: VectorFile
    rows: "NDArray[np.int64]"
    sums: "NDArray[np.int64]"

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.rows)

    def some(self, chosen: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """Those at some places."""
        return self.vectors.read(self.rows[chosen], self.sums[chosen])


def is_installed() -> bool:
    """Whether FAISS is there: without it nothing is approximated."""
    return importlib.util.find_spec("faiss") is not None


def faiss() -> Any:
    """FAISS, imported late for it takes a third of a second; untyped, for its wrappers take more than they declare.

    Raises ``MissingExtra``.
    """
    return MissingExtra.load("FAISS, which this index or file needs,", "faiss", "faiss")


def approximate(source: Source) -> Approximation | None:
    """The index over all vectors, or None when even probing all lists finds too few of the nearest."""
    if source.count < _FEWEST:
        return None
    _use_threads(usable_cpus())
    lists = max(4, min(4_096, round(math.sqrt(source.count))))
    # Codes have four bits for two dimensions, or eight for one where they do not pair.
    codes = f"PQ{source.vectors.dimension // 2}x4fs" if source.vectors.dimension % 2 == 0 else "SQ8"
    index = faiss().index_factory(source.vectors.dimension, f"IVF{lists},{codes}", faiss().METRIC_INNER_PRODUCT)
    _hasten(index.cp, _POINTS_A_LIST)
    if hasattr(index, "pq"):
        _hasten(index.pq.cp, _POINTS_A_CODE)
    index.train(source.some(_spread(source.count, lists * _POINTS_A_LIST)))
    for _, block in source.vectors.read_all(source.rows, source.sums):
        index.add(block)
    found = _calibrate(index, lists, source)
    return found if found.recall >= _ENOUGH_RECALL else None


def _hasten(clustering: Any, points: int) -> None:
    clustering.niter = _ROUNDS
    clustering.max_points_per_centroid = points
    clustering.min_points_per_centroid = 1  # no warning on small ones


def search(index: Any, vector: "NDArray[np.float32]", probes: int, limit: int, among: Any = None) -> Any:
    """The places of the ``limit`` nearest candidates; ``among`` is a bit for each place, packed, or None for all."""
    library = faiss()
    _use_threads(1)  # its helpers would go on spinning beside the lexical search
    chosen = {} if among is None else {"sel": library.IDSelectorBitmap(among)}
    parameters = library.SearchParametersIVF(nprobe=probes, **chosen)
    _, places = index.search(vector.reshape(1, -1), limit, params=parameters)
    found = places[0]
    return found[found >= 0]


def _use_threads(count: int) -> None:
    """How many threads FAISS takes when the calling thread asks it."""
    if getattr(_threads, "count", 0) != count:
        faiss().omp_set_num_threads(count)
        _threads.count = count


def _calibrate(index: Any, lists: int, source: Source) -> Approximation:
    """The fewest candidates and probes that bring the wanted recall, or else the most, and the recall they bring."""
    queries, own = _queries(source)
    exhaustive = importlib.import_module("faiss.contrib.exhaustive_search")
    blocks = (block for _, block in source.vectors.read_all(source.rows, source.sums))
    # One more than wanted, for one of them may be the query itself.
    _, nearest = exhaustive.knn_ground_truth(queries, blocks, _NEAREST + 1, faiss().METRIC_INNER_PRODUCT, ngpu=0)
    truth = [set(places[places != self_][:_NEAREST]) for places, self_ in zip(nearest, own, strict=True)]

    def recall(probes: int, candidates: int) -> float:
        index.nprobe = probes
        _, found = index.search(queries, candidates)
        shares = [len(wanted.intersection(places)) / len(wanted) for wanted, places in zip(truth, found, strict=True)]
        return min(float(np.mean(kind)) for kind in np.array_split(shares, _KINDS))

    reached = {candidates: recall(lists, candidates) for candidates in _CANDIDATES}
    candidates = next((c for c in _CANDIDATES if reached[c] >= WANTED_RECALL), _CANDIDATES[-1])
    wanted, probes = min(WANTED_RECALL, reached[candidates] - _SLACK), max(4, lists // 16)
    while (found := recall(min(probes, lists), candidates)) < wanted and probes < lists:
        probes = math.ceil(_STEP * probes)
    return Approximation(index, lists, min(probes, lists), candidates, found)


def _queries(source: Source) -> "tuple[NDArray[np.float32], NDArray[np.int64]]":
    """Stored vectors and blurred ones with their own places, and points between two with -1; always the same ones."""
    places = _spread(source.count, 2 * _QUERIES)
    first, second = places[::2], np.roll(places[1::2], 1)
    vectors = source.some(first)
    noise = np.random.default_rng(0).standard_normal(vectors.shape, dtype=np.float32)
    noise *= _BLUR / np.linalg.norm(noise, axis=1, keepdims=True)
    between = 0.6 * vectors[: len(second)] + 0.4 * source.some(second)
    queries = np.concatenate([vectors, vectors + noise, between])
    queries /= np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-9)
    own = np.concatenate([first, first, np.full(len(between), -1)])
    return np.ascontiguousarray(queries, dtype=np.float32), own


def _spread(count: int, wanted: int) -> "NDArray[np.int64]":
    """At most ``wanted`` places, evenly spread over all."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))
