"""Vectors out of FAISS files, whatever kind of index they are in, and into one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from selfright.domain.errors import InputError, UnreadableFile
from selfright.ingest.corpus_layout import FaissVectors

DIMENSION, COUNT = 16, 200


@pytest.fixture(scope="module")
def matrix() -> NDArray[np.float32]:
    rows = np.random.default_rng(0).normal(size=(COUNT, DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@pytest.fixture
def saved(tmp_path: Path, matrix: NDArray[np.float32]) -> Callable[..., Path]:
    """Writes an index of the given kind over the matrix; ``ids`` where it maps them."""

    def save(
        kind: str, metric: int = faiss.METRIC_INNER_PRODUCT, ids: NDArray[np.int64] | None = None, scale: float = 1
    ) -> Path:
        index: Any = faiss.index_factory(DIMENSION, kind, metric)
        index.train(matrix)
        if ids is None:
            index.add(matrix * np.float32(scale))
        else:
            index.add_with_ids(matrix[ids], ids)
        path = tmp_path / "x.faiss"
        faiss.write_index(index, str(path))
        return path

    return save


@pytest.mark.parametrize("kind", ["Flat", "HNSW8,Flat", "IVF4,Flat"])
def test_vectors_come_back(saved: Callable[..., Path], matrix: NDArray[np.float32], kind: str) -> None:
    vectors = FaissVectors(saved(kind))
    assert (vectors.count, vectors.dimension) == (COUNT, DIMENSION)
    some = [5, 199, 0, 5]
    assert np.array_equal(vectors.rows(some), matrix[some])
    assert vectors.rows([]).shape == (0, DIMENSION)


def test_an_id_is_the_number_of_its_line(saved: Callable[..., Path], matrix: NDArray[np.float32]) -> None:
    ids = np.random.default_rng(1).permutation(COUNT)
    vectors = FaissVectors(saved("IVF4,Flat", ids=ids))
    assert np.array_equal(vectors.rows(range(COUNT)), matrix)


def test_ids_that_are_no_lines_are_refused(tmp_path: Path, matrix: NDArray[np.float32]) -> None:
    index: Any = faiss.index_factory(DIMENSION, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(matrix)
    index.add_with_ids(matrix, np.arange(COUNT) + 1)
    faiss.write_index(index, str(tmp_path / "x.faiss"))
    with pytest.raises(UnreadableFile, match="does not give its vectors back"):
        FaissVectors(tmp_path / "x.faiss")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["IVF4,PQ4x4fs", "PCA8,Flat", "RaBitQ", "SQ8"])
def test_kinds_that_keep_codes_alone_are_refused(saved: Callable[..., Path], kind: str) -> None:
    with pytest.raises(UnreadableFile, match=r"x\.faiss: an index of kind Index\w+ does not give .*--no-vectors"):
        FaissVectors(saved(kind))


def test_peculiar_vectors_are_noted(saved: Callable[..., Path]) -> None:
    assert FaissVectors(saved("Flat")).notes == ()
    distances, lengths = FaissVectors(saved("Flat", faiss.METRIC_L2, scale=3)).notes
    assert "L2" in distances
    assert "length one" in lengths


def test_what_is_no_index_is_named(tmp_path: Path, saved: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"no such file: .*none\.faiss"):
        FaissVectors(tmp_path / "none.faiss")
    data = saved("Flat").read_bytes()
    for content in (b"", b"IxFI", b"this is text", data[: len(data) // 2]):
        (tmp_path / "bad.faiss").write_bytes(content)
        with pytest.raises(UnreadableFile, match=r"bad\.faiss: not an index that FAISS can read"):
            FaissVectors(tmp_path / "bad.faiss")
