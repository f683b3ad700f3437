"""What one half of a search brings: passages with their scores, in an order that does not depend on how they lie."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SPARE = 20  # fetched beyond what is wanted, so that ties at its edge are broken by us and not by the index's layout
_BLAS_FROM = 2_000  # rows
_DIGITS = 4  # scores that differ by less are ties: the order of summation alone makes such differences


class Scored(NamedTuple):
    """Keys, id hashes and scores of passages, best first; ties go to the smaller id hash."""

    keys: Sequence[int] = ()
    id_hashes: Sequence[int] = ()
    scores: Sequence[float] = ()


def in_order(keys: "ArrayLike", id_hashes: "ArrayLike", scores: "ArrayLike", limit: int) -> Scored:
    """The ``limit`` best."""
    keys, id_hashes, scores = np.asarray(keys), np.asarray(id_hashes), np.asarray(scores)
    order = np.lexsort((id_hashes, -scores.round(_DIGITS)))[:limit]
    return Scored(keys[order].tolist(), id_hashes[order].tolist(), scores[order].tolist())


def inner_products(matrix: "NDArray[np.float32]", vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """The inner product of each row; not by BLAS when there are few, whose threads would go on spinning for a while.

    Few rows are summed one by one, so that a score does not depend on what else is asked for.
    """
    if len(matrix) > _BLAS_FROM:
        return matrix @ vector
    products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return products


def highest(scores: "NDArray[np.float32]", limit: int) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
    """The places of the highest scores, unordered, and these scores; impossible ones are left out."""
    places = np.argpartition(-scores, limit)[:limit] if len(scores) > limit else np.arange(len(scores))
    places = places[np.isfinite(scores[places])]
    return places, scores[places]
