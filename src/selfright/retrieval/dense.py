"""The dense index: FAISS inner product over the unit vectors of the catalogue, exact."""

import importlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.errors import IndexDamaged, StoreError
from selfright.retrieval.catalogue import Catalogue, Entry
from selfright.retrieval.files import checksum, sync_file
from selfright.retrieval.lexical import Scored
from selfright.retrieval.projection import State, StateFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The index as of one commit; never changed once it can be searched."""

    state: State
    index: Any


class DenseIndex:
    """Nearest passages by cosine; kept in ``folder``, tied to the catalogue ``identity``. Never changed in place."""

    kind = "flat"

    def __init__(self, folder: Path, identity: str, dimension: int) -> None:
        self._file = StateFile(folder, identity)
        self._dimension = dimension
        self._refreshing = threading.Lock()
        self._snapshot: _Snapshot | None = None
        self.refresh()

    @property
    def state(self) -> State | None:
        """How far the index has followed the catalogue."""
        return self._snapshot.state if self._snapshot else None

    def refresh(self) -> None:
        """Takes over what another process has committed."""
        if not self._file.changed():
            return
        with self._refreshing:
            self._snapshot = self._file.load(self._load)

    def search(self, vector: "NDArray[np.float32]", limit: int, among: Sequence[int] | None = None) -> Scored:
        """The ``limit`` passages with the highest inner product, of the keys in ``among`` where given."""
        faiss = _faiss()
        index = self._current().index
        limit = min(limit, index.ntotal)
        if not limit:
            return []
        parameters = None
        if among is not None:
            selector = faiss.IDSelectorBatch(np.asarray(among, dtype=np.int64))
            parameters = faiss.SearchParameters(sel=selector)
        scores, keys = index.search(vector.reshape(1, -1), limit, params=parameters)
        return [(int(key), float(score)) for key, score in zip(keys[0], scores[0], strict=True) if key >= 0]

    def cosines(self, vector: "NDArray[np.float32]", keys: Sequence[int]) -> dict[int, float]:
        """The inner product with each of these passages' vectors; passages without one are left out."""
        index = self._current().index
        found = {}
        for key in keys:
            try:
                found[key] = float(index.reconstruct(key) @ vector)
            except RuntimeError:  # FAISS knows no such key: its language is not the encoder's, or it was removed
                continue
        return found

    def update(self, sequence: int, removed: Sequence[int], added: Sequence[int], entries: Iterable[Entry]) -> None:
        """Applies changes; the same ones may come twice."""
        index = _faiss().clone_index(self._current().index)  # searches go on in the old one
        index.remove_ids(np.array([*removed, *added], dtype=np.int64))
        self._write(index, sequence, entries)

    def rebuild(self, sequence: int, entries: Iterable[Entry]) -> None:
        """Makes the index anew."""
        faiss = _faiss()
        self._write(faiss.IndexIDMap2(faiss.IndexFlatIP(self._dimension)), sequence, entries)

    def prefers_rebuild(self, _removed: int, /) -> bool:
        """Never: removing leaves nothing behind here."""
        return False

    def complete(self, _catalogue: Catalogue, /) -> bool:
        """Always: a file that lacks something would not have its checksum."""
        return self._snapshot is not None

    def _write(self, index: Any, sequence: int, entries: Iterable[Entry]) -> None:
        _add(index, entries, self._dimension)
        path = self._file.next_name("vectors", self.state)
        try:
            _faiss().write_index(index, str(path))
            sync_file(path)
        except (OSError, RuntimeError) as error:
            raise StoreError(
                f"the dense index could not be written to {path} ({error}); "
                "the documents are safe, and it is brought up to date when the index is opened again"
            ) from error
        state = State(self._file.identity, sequence, path.name, passages=index.ntotal, checksum=checksum(path))
        self._file.write(state)
        self._snapshot = _Snapshot(state, index)

    def _load(self, state: State) -> _Snapshot | None:
        path = self._file.folder / state.files
        try:
            whole = checksum(path) == state.checksum
        except OSError:
            return None
        return _Snapshot(state, _faiss().read_index(str(path))) if whole else None

    def _current(self) -> _Snapshot:
        if self._snapshot is None:
            raise IndexDamaged(f"the dense index in {self._file.folder} cannot be read; open the index anew to mend it")
        return self._snapshot


def _faiss() -> Any:
    """FAISS, imported late for it takes a third of a second; untyped, for its wrappers take more than they declare."""
    return importlib.import_module("faiss")


def _add(index: Any, entries: Iterable[Entry], dimension: int) -> None:
    keys: list[int] = []
    vectors: list[bytes] = []
    for entry in entries:
        if entry.embedding is not None:
            keys.append(entry.key)
            vectors.append(entry.embedding)
        if len(keys) == _BATCH:
            _add_batch(index, keys, vectors, dimension)
            keys, vectors = [], []
    if keys:
        _add_batch(index, keys, vectors, dimension)


def _add_batch(index: Any, keys: Sequence[int], vectors: Sequence[bytes], dimension: int) -> None:
    matrix = np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(keys), dimension)
    index.add_with_ids(matrix, np.array(keys, dtype=np.int64))
