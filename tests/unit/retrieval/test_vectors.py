"""The file of vectors: rows come back as they were written, however many are read, and while it grows."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import IndexDamaged
from selfright.retrieval.records import vector_sums
from selfright.retrieval.vectors import VectorFile

DIMENSION = 387  # no whole number of rows fits on a page
MATRIX = np.random.default_rng(1).standard_normal((300, DIMENSION), dtype=np.float32)
SUMS = vector_sums(MATRIX)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "folder" / "rows.f32"
    VectorFile(path, DIMENSION).write(0, MATRIX)
    return path


@given(rows=st.lists(st.integers(0, 299), min_size=1, max_size=200), again=st.integers(1, 3))
def test_rows_come_back_as_written(path: Path, rows: list[int], again: int) -> None:
    file = VectorFile(path, DIMENSION)
    wanted = np.array(rows, dtype=np.int64)
    for _ in range(again):  # asked for in advance at first, then as from memory
        assert np.array_equal(file.read(wanted, SUMS[wanted]), MATRIX[wanted])


def test_rows_that_were_written_later_are_found(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "folder" / "rows.f32", DIMENSION)
    every = np.arange(300)
    file.write(0, MATRIX[:100])
    assert np.array_equal(file.read(every[:100], SUMS[:100]), MATRIX[:100])
    file.write(100, MATRIX[100:])
    assert np.array_equal(file.read(every, SUMS), MATRIX)


def test_other_rows_than_were_written_are_damage(path: Path) -> None:
    file = VectorFile(path, DIMENSION)
    rows = np.arange(100)
    with pytest.raises(IndexDamaged, match="other vectors"):
        file.read(rows, SUMS[1:101])
    with pytest.raises(IndexDamaged, match="at least 301 vectors but has 300"):
        file.read(rows + 201, SUMS[:100])
