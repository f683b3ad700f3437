"""The dense index: nearest vectors by inner product; exact while small, then approximate candidates scored exactly.

It holds no vectors, only where they lie in the catalogue's file: the ``tail`` is scored one by one, the ``base`` is
searched through an approximate index. New passages join the tail, which joins the base when it has grown long; passages
that were removed from the base are passed over until it is made anew. Scores are exact in both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.errors import IndexDamaged
from selfright.retrieval import approximate
from selfright.retrieval.approximate import Source
from selfright.retrieval.catalogue import Catalogue, Changes
from selfright.retrieval.projection import LATEST, NotWritten, Projection, ProjectionSnapshot, State
from selfright.retrieval.ranking import SPARE, ScoredKeys, highest, in_order, inner_products
from selfright.retrieval.vectors import VectorFile, arrays
from selfright.storage.files import sync

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT_UNTIL = 16_000  # passages that are all scored one by one, in about a millisecond
TAIL = 4_096  # passages outside the base, once there is one
GROWTH = 1.5  # how far the base may grow over what it was trained on
GONE_SHARE = 0.1
_FEW = 8_192  # selected passages that are scored one by one
_SELECTIONS = 8

KEY, MARK, ROW, SUM = range(4)  # columns of the places


def _no_places() -> "NDArray[np.int64]":
    return np.empty((0, 4), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Snapshot(ProjectionSnapshot):
    """The index as of one commit. ``gone`` marks the places of the base that are passed over."""

    vectors: VectorFile
    tail: "NDArray[np.int64]"
    matrix: "NDArray[np.float32]"
    base: Any = None
    places: "NDArray[np.int64]" = field(default_factory=_no_places)
    gone: "NDArray[np.bool_]" = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    selections: "dict[tuple[str, ...], _Selection]" = field(default_factory=dict)

    @property
    def alive(self) -> int:
        """How many passages can be found."""
        return len(self.tail) + len(self.places) - int(self.gone.sum())


@dataclass(frozen=True, slots=True)
class _Selection:
    """The passages of some collections: which of the tail, which places of the base (as numbers, and packed bits)."""

    sequence: int
    tail: "NDArray[np.bool_]"
    base: "NDArray[np.int64]"
    bits: "NDArray[np.uint8]"


class DenseIndex(Projection[_Snapshot]):
    """Nearest passages by cosine; kept in ``folder``, tied to ``catalogue``."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        super().__init__(folder, catalogue.meta.identity)

    @property
    def kind(self) -> str:
        """How it searches: ``exact``, or the approximate index with what was measured of it."""
        details = self.state.details if self.state else {}
        if "lists" not in details:
            return "exact"
        return (
            "ivf{lists},pq4,exact rescoring (probes {probes}, candidates {candidates}, recall@10 {recall:.3f})".format(
                **details
            )
        )

    def search(
        self, vector: "NDArray[np.float32]", limit: int, collections: tuple[str, ...] = (), at: int = LATEST
    ) -> ScoredKeys:
        """The ``limit`` passages with the highest inner product, of these collections where given.

        ``at``: the change as of which to search, if that is still known.
        """
        snapshot = self.at(at)
        chosen = self._selection(snapshot, collections) if collections else None
        tail = inner_products(snapshot.matrix, vector)
        if chosen is not None:
            tail[~chosen.tail] = -np.inf
        places, scores = highest(tail, limit + SPARE)
        found = snapshot.tail[places]
        if snapshot.base is not None:
            candidates = snapshot.places[_candidates(snapshot, vector, limit + SPARE, chosen)]
            exact = inner_products(snapshot.vectors.read(candidates[:, ROW], candidates[:, SUM]), vector)
            found, scores = np.concatenate([found, candidates]), np.concatenate([scores, exact])
        return in_order(found[:, KEY], found[:, MARK], scores, limit)

    def cosines(self, vector: "NDArray[np.float32]", places: Sequence[tuple[int, int, int]]) -> dict[int, float]:
        """The inner product with the vector of each passage, given as id hash, row and checksum, by id hash."""
        table = arrays(places, 3)
        try:
            matrix = self.current().vectors.read(table[:, 1], table[:, 2])
        except IndexDamaged:
            if self.complete(self._catalogue):
                raise
            return {}  # a writer has just moved the vectors to another file
        return dict(zip(table[:, 0].tolist(), inner_products(matrix, vector).tolist(), strict=True))

    def _selection(self, snapshot: _Snapshot, collections: tuple[str, ...]) -> _Selection:
        found = snapshot.selections.get(collections)
        if found is None or found.sequence != snapshot.state.sequence:
            keys = self._catalogue.keys_in(collections)
            chosen = np.isin(snapshot.places[:, KEY], keys) & ~snapshot.gone
            found = _Selection(
                snapshot.state.sequence,
                np.isin(snapshot.tail[:, KEY], keys),
                np.flatnonzero(chosen),
                np.packbits(chosen, bitorder="little"),
            )
            if len(snapshot.selections) >= _SELECTIONS:
                snapshot.selections.clear()
            snapshot.selections[collections] = found
        return found

    # Projection

    def open(self, state: State, /) -> _Snapshot:
        """Reads the places and the approximate index; the tail's vectors come into memory."""
        details = state.details
        if details["embedder"] != self._catalogue.meta.made_with:
            raise ValueError("it holds vectors of another embedder")
        vectors = self._catalogue.vectors(str(details["vectors"]))
        tail = _read_places(self.folder / str(details["tail"]))
        snapshot = _Snapshot(state, vectors, tail, _matrix(vectors, tail))
        if "base" not in details:
            return snapshot
        places = _read_places(self.folder / f"{details['base']}.places")
        gone = np.isin(places[:, KEY], np.fromfile(self.folder / str(details["gone"]), dtype="<i8"))
        index = approximate.faiss().read_index(str(self.folder / f"{details['base']}.ivf"))
        return replace(snapshot, base=index, places=places, gone=gone)

    def update(self, catalogue: Catalogue, changes: Changes, /) -> None:
        """Applies changes: to the tail, and to what is passed over of the base."""
        before = self.current()
        removed = np.array(changes.removed, dtype=np.int64)
        kept = ~np.isin(before.tail[:, KEY], removed)
        new = catalogue.vector_places((*changes.added, *changes.embedded))
        tail = np.concatenate([before.tail[kept], new])
        order = np.argsort(tail[:, MARK], kind="stable")  # the order of a new index: sums are rounded alike in both
        matrix = np.concatenate([before.matrix[kept], _matrix(before.vectors, new)])[order]
        gone = before.gone | np.isin(before.places[:, KEY], removed)
        state = replace(before.state, sequence=changes.sequence)
        snapshot = replace(before, state=state, tail=tail[order], matrix=matrix, gone=gone, selections={})
        joins = before.base is not None and len(tail) > TAIL
        self._write(_join(snapshot) if joins else snapshot, new_base=joins)

    def rebuild(self, catalogue: Catalogue, /) -> None:
        """Makes the index anew, the same from the same passages in whatever order they came."""
        sequence, vectors = catalogue.sequence(), catalogue.vectors()
        places = catalogue.vector_places()
        places = np.ascontiguousarray(places[np.argsort(places[:, MARK], kind="stable")])
        state = State(
            self.identity, sequence, details={"vectors": vectors.path.name, "embedder": catalogue.meta.made_with}
        )
        found = None
        if len(places) > EXACT_UNTIL and approximate.is_installed():
            found = approximate.approximate(Source(vectors, places[:, ROW], places[:, SUM]))
        if found is None:
            self._write(_Snapshot(state, vectors, places, _matrix(vectors, places)), new_base=False)
            return
        details = {
            **state.details,
            **{"lists": found.lists, "probes": found.probes, "candidates": found.candidates},
            **{"recall": found.recall, "trained": len(places)},
        }
        none = _no_places()
        snapshot = _Snapshot(
            replace(state, details=details), vectors, none, _matrix(vectors, none), found.index, places,
            np.zeros(len(places), dtype=np.bool_),
        )  # fmt: skip
        self._write(snapshot, new_base=True)

    def prefers_rebuild(self, catalogue: Catalogue, changes: Changes, /) -> bool:
        """Whether the index has outgrown its kind, or what it was trained on, or too much of it is gone."""
        snapshot, new = self._snapshot, len(catalogue.vector_places((*changes.added, *changes.embedded)))
        if snapshot is None or snapshot.vectors.path.name != catalogue.stats().vectors:
            return True
        if snapshot.base is None:
            if not approximate.is_installed():
                return False
            tried = GROWTH * float(snapshot.state.details.get("unapproximated", 0))
            return len(snapshot.tail) + new > max(EXACT_UNTIL, tried)
        held = len(snapshot.places) + new
        gone = int(snapshot.gone.sum()) + len(changes.removed)
        return held > GROWTH * float(snapshot.state.details["trained"]) or gone > GONE_SHARE * len(snapshot.places)

    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether it points into the file of vectors that is in use; what it lacks, its checksums would tell."""
        return self._snapshot is not None and self._snapshot.vectors.path.name == catalogue.stats().vectors

    def _write(self, snapshot: _Snapshot, *, new_base: bool) -> None:
        number = self.free_number()
        details = {**snapshot.state.details, "tail": f"tail-{number}"}
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            names = [self._put(details["tail"], snapshot.tail)]
            if snapshot.base is None and len(snapshot.tail) > EXACT_UNTIL and approximate.is_installed():
                details.setdefault("unapproximated", len(snapshot.tail))
            if snapshot.base is not None:
                if new_base:
                    details["base"] = f"base-{number}"
                    self._put(f"{details['base']}.places", snapshot.places)
                    approximate.faiss().write_index(snapshot.base, str(self.place(f"{details['base']}.ivf")))
                    sync(self.folder / f"{details['base']}.ivf")
                details["gone"] = f"gone-{number}"
                self._put(details["gone"], snapshot.places[snapshot.gone, KEY])
                names += [f"{details['base']}.places", f"{details['base']}.ivf", details["gone"]]
        except (OSError, RuntimeError) as error:
            raise NotWritten(
                f"the dense index could not be written to {self.folder} ({error}); "
                "the documents are safe, and it is brought up to date when the index is opened again"
            ) from error
        state = replace(
            snapshot.state, details=details, passages=snapshot.alive, deleted=int(snapshot.gone.sum()), files={}
        )
        self.stand(state, names, replace(snapshot, state=state))

    def _put(self, name: str, array: "NDArray[np.int64]") -> str:
        path = self.place(name)
        path.write_bytes(np.ascontiguousarray(array, dtype="<i8").tobytes())
        sync(path)
        return name


def _candidates(
    snapshot: _Snapshot, vector: "NDArray[np.float32]", limit: int, chosen: _Selection | None
) -> "NDArray[np.int64]":
    """Places of the base worth scoring exactly."""
    if chosen is not None and len(chosen.base) <= _FEW:
        return chosen.base
    wanted = max(int(snapshot.state.details["candidates"]), limit)
    deleted = snapshot.state.deleted
    spare = 2 * wanted * deleted // len(snapshot.places) + 16 if deleted else 0
    probes = int(snapshot.state.details["probes"])
    bits = None
    if chosen is not None:
        bits = chosen.bits
        probes = min(int(snapshot.state.details["lists"]), probes * 4)  # few of each list are among the selected
    found: NDArray[np.int64] = approximate.search(snapshot.base, vector, probes, wanted + spare, bits)
    found = found[~snapshot.gone[found]]
    if len(found) < wanted:
        every = chosen.base if chosen is not None else np.flatnonzero(~snapshot.gone)
        if len(every) <= _FEW:
            return every  # codes say nothing of vectors without any likeness, and leave them out
    return found


def _join(snapshot: _Snapshot) -> _Snapshot:
    """With the tail taken over into the base; searches go on in the old one meanwhile."""
    index = approximate.faiss().clone_index(snapshot.base)
    index.add(snapshot.matrix)
    return replace(
        snapshot,
        base=index,
        places=np.concatenate([snapshot.places, snapshot.tail]),
        gone=np.concatenate([snapshot.gone, np.zeros(len(snapshot.tail), dtype=np.bool_)]),
        tail=_no_places(),
        matrix=snapshot.matrix[:0],
    )


def _matrix(vectors: VectorFile, places: "NDArray[np.int64]") -> "NDArray[np.float32]":
    return vectors.read(places[:, ROW], places[:, SUM])


def _read_places(path: Path) -> "NDArray[np.int64]":
    return np.fromfile(path, dtype="<i8").reshape(-1, 4)
