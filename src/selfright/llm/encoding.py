"""What the embedded encoders share: batches of one length, the texts embedded last, and a session of the runtime."""

import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfright.llm.encoder_graph import EncoderGraph

_BLOCK = 2_048  # texts that are tokenized at a time, so that memory stays bounded
CACHED_TEXTS = 4_096
_CACHED_CHARACTERS = 400  # claims, strips and questions; longer texts are embedded once and stored by the index
BATCH_TOKENS = 640  # rows x length of one run: small enough for the caches of two cores, and for little padding


def embedded(
    texts: Sequence[str], recent: "RecentVectors", encode: "Callable[[Sequence[str]], NDArray[np.float32]]", size: int
) -> "NDArray[np.float32]":
    """One row of ``size`` numbers per text: those of ``recent`` as they are, the others encoded block by block."""
    vectors = np.empty((len(texts), size), dtype=np.float32)
    missing = recent.fill(texts, vectors)
    for start in range(0, len(missing), _BLOCK):
        block = missing[start : start + _BLOCK]
        vectors[block] = encode([texts[row] for row in block])
    recent.keep((texts[row], vectors[row]) for row in missing if len(texts[row]) <= _CACHED_CHARACTERS)
    return vectors


def padded(pieces: Sequence[Sequence[int]], pad: int = 0) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Numbers of pieces as a matrix filled up with ``pad``, and a mask of the same shape: 1 where a piece is."""
    ids = np.full((len(pieces), max(map(len, pieces))), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(pieces):
        ids[row, : len(piece)] = piece
        mask[row, : len(piece)] = 1
    return ids, mask


class RecentVectors:
    """The vectors of the texts embedded last, at most ``size`` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def fill(self, texts: Sequence[str], vectors: "NDArray[np.float32]") -> list[int]:
        """Writes the known rows into ``vectors`` and gives the numbers of the others."""
        missing = []
        with self._lock:
            for row, text in enumerate(texts):
                known = self._vectors.get(text)
                if known is None:
                    missing.append(row)
                else:
                    self._vectors.move_to_end(text)
                    vectors[row] = known
        return missing

    def keep(self, embedded: "Iterable[tuple[str, NDArray[np.float32]]]") -> None:
        """Keeps the vectors of these texts, in the place of those used longest ago."""
        with self._lock:
            for text, vector in embedded:
                self._vectors[text] = vector.copy()
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Row numbers, shortest texts first, cut so that a batch padded to its longest text stays within the bound."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if batch and lengths[row] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def encoder_session(graph: "EncoderGraph", threads: int) -> Any:
    """A session over the graph on the processor; the graph's weights must live as long as it does."""
    runtime: Any = importlib.import_module("onnxruntime")  # it does not declare what it exports
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # An idle thread of the pool would spin for a while after each run: time of a core that the turn's Python needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    return runtime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
