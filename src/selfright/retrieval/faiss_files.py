"""Vectors in FAISS files: those of an index made elsewhere, read without loading it; and ours, written row by row."""

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from selfright.domain.errors import InputError, StoreError, UnreadableFile
from selfright.retrieval.approximate import faiss as _faiss

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Kinds that keep their vectors whole or scalar-quantised. Others keep codes from which no good vector comes back, and
# some of them crash the process when they are asked for one.
_KINDS = (
    "IndexFlat",
    "IndexFlatIP",
    "IndexFlatL2",
    "IndexScalarQuantizer",
    "IndexHNSWFlat",
    "IndexHNSWSQ",
    "IndexIVFFlat",
    "IndexIVFScalarQuantizer",
    "IndexRefineFlat",
)
_ID_MAPS = ("IndexIDMap", "IndexIDMap2")
_ADVICE = "import the texts alone with --no-vectors, or save the vectors in an IndexFlatIP"
_HEADER = struct.Struct("<4siqqq?iQ")  # of an IndexFlatIP, as FAISS writes it; the numbers follow
_UNUSED = 1 << 20


class FaissVectors:
    """The vectors of a FAISS index by their ids, which must be 0 … n-1. Mapped into memory where FAISS can do that.

    Raises ``UnreadableFile`` for what is no FAISS index, or one that does not give its vectors back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._outer = _read(path)  # kept, for it owns the index inside
        kind = type(self._outer).__name__
        mapped = kind in _ID_MAPS
        self._index = _faiss().downcast_index(self._outer.index) if mapped else self._outer
        self.kind = type(self._index).__name__
        if self.kind not in _KINDS:
            raise _refuse(path, f"an index of kind {self.kind} does not give its vectors back; {_ADVICE}")
        self.count, self.dimension = int(self._index.ntotal), int(self._index.d)
        self._places = self._places_of_ids() if mapped else None
        self._allow_access()
        self.notes = self._peculiarities()

    def rows(self, numbers: Sequence[int]) -> "NDArray[np.float32]":
        """These vectors as they are stored, shape ``(len(numbers), dimension)``."""
        wanted = np.asarray(numbers, dtype=np.int64)
        if not len(wanted):
            return np.empty((0, self.dimension), dtype=np.float32)
        places = wanted if self._places is None else self._places[wanted]
        try:
            rows: NDArray[np.float32] = self._index.reconstruct_batch(places)
        except RuntimeError as error:
            raise self._no_access(error) from None
        return rows

    def _places_of_ids(self) -> "NDArray[np.int64]":
        ids = _faiss().vector_to_array(self._outer.id_map)
        places = np.argsort(ids, kind="stable")
        if not np.array_equal(ids[places], np.arange(self.count)):
            raise _refuse(self.path, f"its ids are not 0 to {self.count - 1}, so no line belongs to them; {_ADVICE}")
        return places

    def _allow_access(self) -> None:
        ivf = _faiss().try_extract_index_ivf(self._index)
        if ivf is None:
            return
        try:
            ivf.make_direct_map()
        except RuntimeError as error:
            raise self._no_access(error) from None

    def _no_access(self, error: RuntimeError) -> UnreadableFile:
        return _refuse(self.path, f"this {self.kind} does not give its vectors back ({_reason(error)}); {_ADVICE}")

    def _peculiarities(self) -> tuple[str, ...]:
        notes = []
        if self._index.metric_type != _faiss().METRIC_INNER_PRODUCT:
            notes.append("the index measured distances (L2); its vectors are ranked by cosine here")
        lengths = np.linalg.norm(self.rows(range(min(self.count, 64))), axis=1)
        if np.abs(lengths[lengths > 0] - 1).max(initial=0) > 0.02:  # zeros stand for texts without a vector
            notes.append("the vectors were not of length one; they are scaled to it")
        if self.kind.endswith(("ScalarQuantizer", "SQ")):
            notes.append("the vectors were quantised, so they are close to the original ones, not equal")
        return tuple(notes)


class FlatFaissFile:
    """Writes an ``IndexFlatIP`` row by row, so that it may be of any size. A context manager."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path, self._dimension = path, dimension
        self._rows = 0

    def __enter__(self) -> Self:
        self._file = self._path.open("wb")
        self._file.write(self._header())
        return self

    def add(self, rows: "NDArray[np.float32]") -> None:
        """Appends rows, shape ``(n, dimension)``."""
        if rows.ndim != 2 or rows.shape[1] != self._dimension:
            raise StoreError(f"expected rows of {self._dimension} numbers, but they have the shape {rows.shape}")
        self._file.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())
        self._rows += len(rows)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if error is not None:
                return
            self._file.seek(0)
            self._file.write(self._header())
            self._file.flush()
            os.fsync(self._file.fileno())
        written = FaissVectors(self._path)  # what FAISS cannot read should be heard of now
        if (written.count, written.dimension) != (self._rows, self._dimension):
            raise StoreError(f"{self._path} does not read as it was written; check the disk and export again")

    def _header(self) -> bytes:
        numbers = self._rows * self._dimension
        return _HEADER.pack(b"IxFI", self._dimension, self._rows, _UNUSED, _UNUSED, True, 0, numbers)


def _read(path: Path) -> Any:
    faiss = _faiss()
    if not path.is_file():
        raise InputError(f"no such file: {path}; check the path")
    with path.open("rb") as handle:
        lists = handle.read(2) == b"Iw"  # inverted lists are mapped in another way
    flags = (faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY) if lists else getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
    try:
        return faiss.read_index(str(path), flags)
    except (RuntimeError, MemoryError) as error:
        raise _refuse(path, f"not an index that FAISS can read ({_reason(error)}); save it anew") from None


def _refuse(path: Path, why: str) -> UnreadableFile:
    return UnreadableFile(str(path), why)


def _reason(error: BaseException) -> str:
    """The last, plain part of what FAISS says, which begins with its own source lines."""
    return str(error).strip().rpartition("\n")[2].rpartition(": ")[2][:200] or type(error).__name__
