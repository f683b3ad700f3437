"""Vectors in FAISS files, as an index made elsewhere has them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.errors import InputError, MissingExtra, UnreadableFile

# Kinds that keep their vectors whole. Others keep codes from which no good vector comes back, and some of them crash
# the process when they are asked for one.
_KINDS = ("IndexFlat", "IndexFlatIP", "IndexFlatL2", "IndexHNSWFlat", "IndexIVFFlat")
_ADVICE = "import the texts alone with --no-vectors, or save the vectors in an IndexFlatIP"


class FaissVectors:
    """The vectors of a FAISS index by their ids, which must be 0 … n-1. Mapped into memory where FAISS can do that.

    Raises ``UnreadableFile`` for what is no FAISS index, or one that does not give its vectors back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = _read(path)
        self.kind = type(self._index).__name__
        if self.kind not in _KINDS:
            raise self._refuse(f"an index of kind {self.kind} does not give its vectors back; {_ADVICE}")
        self.count, self.dimension = int(self._index.ntotal), int(self._index.d)
        try:
            if (ivf := faiss().try_extract_index_ivf(self._index)) is not None:
                ivf.make_direct_map()
            self.notes = self._peculiarities()
        except RuntimeError as error:
            why = f"this {self.kind} does not give its vectors back ({_reason(error)}); {_ADVICE}"
            raise self._refuse(why) from None

    def rows(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """These vectors as they are stored, shape ``(len(numbers), dimension)``."""
        wanted = np.asarray(numbers, dtype=np.int64)
        if not len(wanted):
            return np.empty((0, self.dimension), dtype=np.float32)
        rows: NDArray[np.float32] = self._index.reconstruct_batch(wanted)
        return rows

    def _peculiarities(self) -> tuple[str, ...]:
        notes = []
        if self._index.metric_type != faiss().METRIC_INNER_PRODUCT:
            notes.append("the index measured distances (L2); its vectors are ranked by cosine here")
        lengths = np.linalg.norm(self.rows(range(min(self.count, 64))), axis=1)
        if np.abs(lengths[lengths > 0] - 1).max(initial=0) > 0.02:  # zeros stand for texts without a vector
            notes.append("the vectors were not of length one; they are scaled to it")
        return tuple(notes)

    def _refuse(self, why: str) -> UnreadableFile:
        return UnreadableFile(str(self.path), why)


def faiss() -> Any:
    """FAISS, imported late for it takes a third of a second; raises ``MissingExtra``."""
    return MissingExtra.load("FAISS, which this index or file needs,", "faiss", "faiss")


def _read(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"no such file: {path}; check the path")
    with path.open("rb") as handle:
        lists = handle.read(2) == b"Iw"  # inverted lists are mapped in another way
    flags = (faiss().IO_FLAG_MMAP | faiss().IO_FLAG_READ_ONLY) if lists else getattr(faiss(), "IO_FLAG_MMAP_IFC", 0)
    try:
        return faiss().read_index(str(path), flags)
    except (RuntimeError, MemoryError) as error:
        why = f"not an index that FAISS can read ({_reason(error)}); save it anew"
        raise UnreadableFile(str(path), why) from None


def _reason(error: BaseException) -> str:
    """The last, plain part of what FAISS says, which begins with its own source lines."""
    return str(error).strip().rpartition("\n")[2].rpartition(": ")[2][:200] or type(error).__name__
