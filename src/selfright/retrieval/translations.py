"""What says a term in the other language: a list learnt from two encoders, made by ``training/fit_translations.py``."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from selfright.domain.text import has_hangul

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = "translations.npz"
Translated = Sequence[tuple[str, float]]
"""Terms, each with its weight, 0…1."""


@dataclass(frozen=True, slots=True)
class _Direction:
    """Row of each term, and for each row the places of its translations (from ``starts[row]`` on), with weights."""

    rows: Mapping[str, int]
    starts: "NDArray[np.generic]"
    targets: "NDArray[np.generic]"
    weights: "NDArray[np.generic]"


class Translations:
    """Korean terms for English ones and back; index terms on both sides, as ``BilingualTokenizer`` cuts them.

    The squared weights of a term's translations add up to one at most; the weights themselves may add up to more.
    ``stored``: the arrays of the file.
    """

    def __init__(self, stored: "Mapping[str, NDArray[np.generic]]") -> None:
        korean, english = (stored[name].tobytes().decode().split("\n") for name in ("ko", "en"))
        self._names = {"ko": english, "en": korean}  # what a term of that language is translated into
        self._directions = {
            language: _Direction(
                {term: row for row, term in enumerate(terms)},
                stored[f"{language}_starts"],
                stored[f"{language}_targets"],
                stored[f"{language}_weights"],
            )
            for language, terms in (("ko", korean), ("en", english))
        }

    def of(self, term: str) -> Translated:
        """Terms of the other language, the likeliest first; nothing for a term that is not known."""
        language = "ko" if has_hangul(term) else "en"
        direction = self._directions[language]
        row = direction.rows.get(term)
        if row is None:
            return ()
        span = slice(int(direction.starts[row]), int(direction.starts[row + 1]))
        targets, weights = direction.targets[span].tolist(), direction.weights[span].tolist()
        return [(self._names[language][target], weight) for target, weight in zip(targets, weights, strict=True)]


@cache
def shipped_translations() -> Translations:
    """The list of the package, read once per process: about 0.1 s."""
    import numpy as np

    content = files("selfright.retrieval").joinpath(FILE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Translations({name: arrays[name] for name in arrays.files})
