"""The vectors of an index: unit rows of float32 in one append-only file, a part of the catalogue.

A row is written and flushed to disk before the catalogue commits the record that names it; rows that no record names
are waste, which compaction leaves behind. Each record also holds its row's checksum, so every read is checked.
"""

import mmap
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from selfright.domain.errors import IndexDamaged, StoreError
from selfright.retrieval.records import vector_sums
from selfright.storage.files import sync

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = "vectors"
FIRST_FILE = "rows-1.f32"
_BLOCK = 16_384  # rows read at a time when all are read
_MANY = 64  # rows that are worth asking for in advance, and whose time tells whether they were in memory
_SLOW = 3e-6  # seconds a row; from memory it is a fifth of that, from an SSD ten times as much
_ADVISES = hasattr(mmap.mmap, "madvise")


class VectorFile:
    """Rows of ``dimension`` floats in the file ``path``; read from any thread, written by the writer alone."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        self._mapped: tuple[NDArray[np.float32], mmap.mmap] | None = None
        self._cold = True

    def rows(self) -> int:
        """How many whole rows the file has; 0 when there is none."""
        try:
            return self.path.stat().st_size // (4 * self.dimension)
        except FileNotFoundError:
            return 0

    def read(self, rows: "NDArray[np.int64]", sums: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """These rows, shape ``(len(rows), dimension)``; raises ``IndexDamaged`` when one is not what was written."""
        if not len(rows):
            return np.empty((0, self.dimension), dtype=np.float32)
        matrix = self._take(rows)
        if not np.array_equal(vector_sums(matrix), sums):
            raise self.damage_error("holds other vectors than were written")
        return matrix

    def read_all(
        self, rows: "NDArray[np.int64]", sums: "NDArray[np.int64]"
    ) -> "Iterator[tuple[int, NDArray[np.float32]]]":
        """The same in blocks, each with the place of its first row among ``rows``."""
        for start in range(0, len(rows), _BLOCK):
            yield start, self.read(rows[start : start + _BLOCK], sums[start : start + _BLOCK])

    def intact(self, rows: "NDArray[np.int64]", sums: "NDArray[np.int64]") -> "NDArray[np.bool_]":
        """Which of these rows are what was written."""
        good = np.zeros(len(rows), dtype=np.bool_)
        held = self.rows()
        for start in range(0, len(rows), _BLOCK):
            some = slice(start, start + _BLOCK)
            within = np.flatnonzero((rows[some] >= 0) & (rows[some] < held))
            if len(within):
                matrix = self._take(rows[some][within])
                good[start + within] = vector_sums(matrix) == sums[some][within]
        return good

    def write(self, first: int, matrix: "NDArray[np.float32]") -> None:
        """Puts rows into the file from row ``first`` on; nothing is safe before ``sync``. Raises ``StoreError``."""
        with self._explain_errors():
            self.path.parent.mkdir(exist_ok=True)
            new = not self.path.exists()
            with open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0) as file:
                file.seek(first * 4 * self.dimension)
                data = memoryview(np.ascontiguousarray(matrix, dtype="<f4").tobytes())
                while data:
                    data = data[file.write(data) :]
            if new:
                sync(self.path.parent)
                sync(self.path.parent.parent)

    def sync(self) -> None:
        """Makes what was written lasting. Raises ``StoreError``."""
        with self._explain_errors():
            sync(self.path)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"vectors could not be kept in {self.path} ({error}); the index is as it was: see to that (is the disk "
                "full?), then run it again"
            ) from error

    def damage_error(self, what: str) -> IndexDamaged:
        """The error to raise."""
        return IndexDamaged(f"{self.path} {what}; mend it with: selfright index verify --repair")

    def _take(self, rows: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """These rows. While the file is not in memory, many are asked for at once, so that they are read side by side.

        (The system would read them one after the other, and megabytes around each.)
        """
        mapped, pages = self._covering(int(rows.max()))
        if len(rows) < _MANY:
            return mapped[rows]
        started = time.perf_counter()
        if self._cold and _ADVISES:
            length = 4 * self.dimension
            for start in (rows * length).tolist():
                page = start - start % mmap.PAGESIZE
                pages.madvise(mmap.MADV_WILLNEED, page, start + length - page)
        matrix = mapped[rows]
        self._cold = time.perf_counter() - started > _SLOW * len(rows)
        return matrix

    def _covering(self, last: int) -> "tuple[NDArray[np.float32], mmap.mmap]":
        """The mapped rows, at least up to ``last``, and the map itself."""
        mapped = self._mapped
        if mapped is None or last >= len(mapped[0]):
            held = self.rows()
            if last >= held:
                raise self.damage_error(f"should have at least {last + 1:,} vectors but has {held:,}")
            with self.path.open("rb") as file:
                pages = mmap.mmap(file.fileno(), held * 4 * self.dimension, access=mmap.ACCESS_READ)
            if _ADVISES:
                pages.madvise(mmap.MADV_RANDOM)
            mapped = self._mapped = np.frombuffer(pages, dtype="<f4").reshape(held, self.dimension), pages
        return mapped


def arrays(pairs: Sequence[Sequence[int]], columns: int) -> "NDArray[np.int64]":
    """Rows of whole numbers as a matrix ``(len(pairs), columns)``."""
    return np.array(pairs, dtype=np.int64).reshape(-1, columns)
