"""Vectors on their way into an index in Milvus."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Vectors:
    """The vectors of one batch; Milvus is not asked for those that it has already."""

    def __init__(self) -> None:
        self.by_row: dict[int, NDArray[np.float32]] = {}

    def rows(self, _text_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[int, int]]:
        """None."""
        return {}

    def append(self, matrix: "NDArray[np.float32]") -> list[tuple[int, int]]:
        """Takes new ones."""
        first = len(self.by_row)
        self.by_row.update(enumerate(matrix, start=first))
        return [(row, 0) for row in range(first, first + len(matrix))]
