"""A reader of question and passage together, on onnxruntime: one int8 file, English only, no PyTorch.

``training/cross_encoder.py`` trains it from the embedded encoder's weights, ``training/cross_encoder_export.py`` writes
the file. Question and passage are read as one text, so every pair costs a run of its own.
"""

import hashlib
import importlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.passages import Language
from selfright.llm.minilm import model_folder

MOST_PASSAGE_PIECES = 224
MOST_QUESTION_PIECES = 32
_BATCH_PIECES = 1_024  # pairs x length of one run: small enough for the caches of two cores
_THREADS = 2


class CrossEncoder:
    """Says how much a passage looks like one that answers the question, in log-odds of its training data.

    Implements the port ``PairJudge``. ``file`` is the shipped network and ``sha256`` what it must hash to; word pieces
    are those of the embedded encoder. Both are read on the first call (about a quarter of a second), which raises
    ``ModelFilesDamaged`` when the file is missing or another one. Safe to share between threads.
    """

    languages: ClassVar[tuple[Language, ...]] = ("en",)

    def __init__(self, file: Path, sha256: str, *, folder: Path | None = None) -> None:
        self.name = f"reader-{sha256[:12]}"
        self._file, self._sha256 = file, sha256
        self._folder = folder or model_folder()
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """One number per passage; of a passage the first 224 word pieces count, of the question the first 32."""
        self._load()
        asked = _cut(self._tokenizer.encode(question).ids, MOST_QUESTION_PIECES)
        read = self._tokenizer.encode_batch(list(passages))
        pairs = [[*asked, *_cut(encoding.ids, MOST_PASSAGE_PIECES)[1:]] for encoding in read]
        scores = [0.0] * len(pairs)
        for rows in _batches(pairs):
            for row, score in zip(rows, self._run(len(asked), [pairs[row] for row in rows]), strict=True):
                scores[row] = float(score)
        return scores

    def _run(self, asked: int, pairs: Sequence[Sequence[int]]) -> Any:
        """Log-odds of pairs whose first ``asked`` word pieces are the question."""
        ids = np.zeros((len(pairs), max(map(len, pairs))), dtype=np.int64)
        for row, pieces in enumerate(pairs):
            ids[row, : len(pieces)] = pieces
        kinds = np.zeros_like(ids)
        kinds[:, asked:] = 1
        return self._session.run(None, {"ids": ids, "kinds": kinds})[0][:, 0]

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._session is None:
                self._tokenizer = _tokenizer(self._folder / "tokenizer.json")
                self._session = _session(_checked(self._file, self._sha256))


def _cut(pieces: list[int], most: int) -> list[int]:
    """At most ``most`` word pieces, the mark of the end kept."""
    return pieces if len(pieces) <= most else [*pieces[: most - 1], pieces[-1]]


def _batches(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers, shortest first, cut so that a batch padded to its longest row stays within the bound."""
    batch: list[int] = []
    for row in sorted(range(len(pieces)), key=lambda row: len(pieces[row])):
        if batch and len(pieces[row]) * (len(batch) + 1) > _BATCH_PIECES:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _checked(file: Path, sha256: str) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelFilesDamaged(f"cannot read {file} ({error}); reinstall selfright") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise ModelFilesDamaged(f"{file} should have the SHA-256 {sha256}, but has {digest}; reinstall selfright")
    return content


def _tokenizer(file: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _session(content: bytes) -> Any:
    runtime: Any = importlib.import_module("onnxruntime")  # it does not declare what it exports
    options = runtime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.inter_op_num_threads = 1
    # Threads that spin while they wait take the processor from others: on a busy machine many times what they use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
