"""Two indexes compared: every document with its passages and vectors, the counts, and what sample queries find."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from selfright.background import LoopThread
from selfright.domain.passages import Document, Hit, Passage
from selfright.domain.stores import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

_MENDED = 256  # documents that differ are mended so many at a time
_QUERIES = 20
_BEST = 10
_WORDS = 12
_TIE = 1e-3  # of the best score: hits that are nearer than that may stand in either order
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two engines may differ: a vector's numbers, and the share of the ten best passages that both find.

    The defaults are for an exact engine of the same kind: vectors to the last bit, and the same ten but for ties.
    """

    vector: float = 0.0
    overlap: float = 1.0


class Unequal(Exception):
    """The two differ; the message names where."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared and found equal; ``checksum`` is of all documents and passages, ordered by document id."""

    documents: int
    passages: int
    vectors: int
    checksum: str
    queries: int
    overlap: float | None


def compare(
    source: Store,
    target: Store,
    tolerance: Tolerance | None,
    *,
    whole: bool,
    mend: Callable[[Sequence[str]], None],
    tell: Callable[[str], None],
) -> Comparison:
    """Compares all that the source holds. Documents that differ are given to ``mend``, once, and compared again.

    ``whole``: the target must hold nothing else, and rank alike. ``tolerance`` None: the target has vectors of its own,
    which are counted and not compared, nor what is found by them. Raises ``Unequal``.
    """
    seal, documents, passages, vectors = hashlib.sha256(), 0, 0, 0
    samples = _Samples(source.info().documents)
    wrong: list[str] = []
    for info in source.documents():
        record = _record(source, info.id)
        there = _record(target, info.id)
        if _difference(record, there, tolerance):
            wrong.append(info.id)
        seal.update(record.fingerprint)
        documents, passages = documents + 1, passages + len(record.passages)
        vectors += len(there.vectors if tolerance is None else record.vectors)
        samples.offer(record)
        tell(info.id)
        if len(wrong) >= _MENDED:
            _mend(source, target, wrong, tolerance, mend)
    _mend(source, target, wrong, tolerance, mend)
    if whole:
        _check_counts(target, documents, passages)
    if not whole or tolerance is None:
        return Comparison(documents, passages, vectors, seal.hexdigest(), 0, None)
    overlap = _overlap(source, target, samples.queries, tolerance)
    return Comparison(documents, passages, vectors, seal.hexdigest(), len(samples.queries), overlap)


@dataclass(frozen=True, slots=True)
class _Record:
    """A document as a store holds it; ``document`` is None where there is none."""

    name: str
    document: Document | None
    passages: "Sequence[Passage]"
    vectors: "Mapping[str, NDArray[np.float32]]"

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 of all but the vectors, which engines may round."""
        told: list[Any] = [self.document and asdict(self.document), *map(asdict, self.passages)]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=dict).encode("utf-8", "surrogatepass")).digest()


def _record(store: Store, name: str) -> _Record:
    document = store.document(name)
    if document is None:
        return _Record(name, None, (), {})
    return _Record(name, document, store.passages_of(name), store.vectors_of(name))


def _difference(one: _Record, other: _Record, tolerance: Tolerance | None) -> str | None:
    """The first difference in words; None when there is none."""
    if other.document is None or one.document is None:
        return f"document '{one.name}' is missing" if one.document else f"document '{one.name}' went meanwhile"
    if one.document != other.document:
        return f"the text or facts of document '{one.name}' differ"
    if len(one.passages) != len(other.passages):
        return f"document '{one.name}' has {len(other.passages)} passages instead of {len(one.passages)}"
    if one.fingerprint != other.fingerprint:
        return f"the passages of document '{one.name}' differ"
    return None if tolerance is None else _vector_difference(one, other, tolerance)


def _vector_difference(one: _Record, other: _Record, tolerance: Tolerance) -> str | None:
    import numpy as np

    if one.vectors.keys() != other.vectors.keys():
        return f"document '{one.name}' has {len(other.vectors)} vectors instead of {len(one.vectors)}"
    for name, vector in one.vectors.items():
        far = float(np.abs(vector - other.vectors[name]).max())
        if not far <= tolerance.vector:
            return f"the vector of passage '{name}' is off by {far:.1e}, where {tolerance.vector:.1e} is allowed"
    return None


def _mend(
    source: Store, target: Store, names: list[str], tolerance: Tolerance | None, mend: Callable[[Sequence[str]], None]
) -> None:
    """Has what differs copied again, and raises ``Unequal`` for what differs still; empties the list."""
    if not names:
        return
    mend(names)
    still = [_difference(_record(source, name), _record(target, name), tolerance) for name in names]
    wrong = [why for why in still if why]
    if wrong:
        more = f", and {len(wrong) - _NAMED:,} more" if len(wrong) > _NAMED else ""
        raise Unequal("; ".join(wrong[:_NAMED]) + more)
    names.clear()


def _check_counts(target: Store, documents: int, passages: int) -> None:
    there = target.info()
    if (there.documents, there.passages) != (documents, passages):
        raise Unequal(
            f"it counts {there.documents:,} documents and {there.passages:,} passages "
            f"instead of {documents:,} and {passages:,}"
        )


class _Samples:
    """Some words of some passages, from documents at even distances."""

    def __init__(self, documents: int) -> None:
        self._every = max(1, documents // _QUERIES)
        self._seen = 0
        self.queries: list[str] = []

    def offer(self, record: _Record) -> None:
        """Takes a query from every n-th document that has passages."""
        if self._seen % self._every == 0 and record.passages and len(self.queries) < _QUERIES:
            words = record.passages[len(record.passages) // 2].text.split()[:_WORDS]
            self.queries += [" ".join(words)] if words else []
        self._seen += 1


def _overlap(source: Store, target: Store, queries: Sequence[str], tolerance: Tolerance) -> float:
    """The mean share of the source's ten best that the target finds too; raises ``Unequal`` where it is too small."""
    if not queries:
        return 1.0
    loop = LoopThread()
    try:
        known = loop.run(source.search_many(list(queries), 2 * _BEST))
        found = loop.run(target.search_many(list(queries), _BEST))
    finally:
        loop.close()
    shares = [_alike(one.hits, other.hits) for one, other in zip(known, found, strict=True)]
    mean = sum(share for share, _ in shares) / len(shares)
    if tolerance.overlap >= 1.0:
        for query, (share, ordered) in zip(queries, shares, strict=True):
            if share < 1.0 or not ordered:
                raise Unequal(f"the ten best passages for '{query}' differ")
    elif mean < tolerance.overlap:
        raise Unequal(
            f"of the ten best passages for {len(queries)} sample queries both find {mean:.0%}, "
            f"where {tolerance.overlap:.0%} is expected of these engines"
        )
    return mean


def _alike(known: Sequence[Hit], found: Sequence[Hit]) -> tuple[float, bool]:
    """The share of the ten best that were found, ties counting as found, and whether they stand in the same order."""
    best = known[:_BEST]
    if not best:
        return (1.0 if not found else 0.0), not found
    scores = {hit.passage.id: hit.rrf_score for hit in known}
    near = _TIE * max(abs(best[0].rrf_score), 1e-9)
    last = best[-1].rrf_score
    good = sum(scores.get(hit.passage.id, float("-inf")) >= last - near for hit in found[:_BEST])
    ordered = len(found) >= len(best) and all(
        abs(scores.get(hit.passage.id, float("inf")) - wanted.rrf_score) <= near
        for hit, wanted in zip(found, best, strict=False)
    )
    return min(1.0, good / len(best)), ordered
