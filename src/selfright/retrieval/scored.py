"""What one half of a search brings: passages with their scores, in an order that does not depend on how they lie."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SPARE = 20  # fetched beyond what is wanted, so that ties at its edge are broken by us and not by the index's layout
_DIGITS = 4  # scores that differ by less are ties: the order of summation alone makes such differences


class Scored(NamedTuple):
    """Keys, marks and scores of passages, best first; ties go to the smaller mark."""

    keys: Sequence[int] = ()
    marks: Sequence[int] = ()
    scores: Sequence[float] = ()


def in_order(keys: "ArrayLike", marks: "ArrayLike", scores: "ArrayLike", limit: int) -> Scored:
    """The ``limit`` best."""
    keys, marks, scores = np.asarray(keys), np.asarray(marks), np.asarray(scores)
    order = np.lexsort((marks, -scores.round(_DIGITS)))[:limit]
    return Scored(keys[order].tolist(), marks[order].tolist(), scores[order].tolist())
