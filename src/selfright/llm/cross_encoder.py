"""A reader of question and passage together, on onnxruntime: one int8 file, English only, no PyTorch.

``training/cross_encoder.py`` trains it from the embedded encoder's weights, ``training/cross_encoder_export.py`` writes
the file. Question and passage are read as one text, so every pair costs a run of its own.
"""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language
from selfright.llm.kept_pairs import KeptPairs
from selfright.llm.minilm import model_folder
from selfright.llm.pair_windows import sendable
from selfright.llm.sessions import cpu_session

MOST_PASSAGE_PIECES = 224
MOST_QUESTION_PIECES = 32
_LEAST_CHANCE = 0.001
_THREADS = 2


class CrossEncoder:
    """Says how much a passage looks like one that answers the question, in log-odds of its training data, and where.

    Implements the port ``PairJudge``. ``file`` is the shipped network and ``sha256`` what it must
    hash to; word pieces are those of the embedded encoder. Both are read on the first call (about a quarter of a
    second), which raises ``ModelFilesDamaged`` when the file is missing or another one. Safe to share between threads.
    """

    languages: ClassVar[tuple[Language, ...]] = ("en",)

    def __init__(self, file: Path, sha256: str, *, folder: Path | None = None) -> None:
        self.name = f"reader-{sha256[:12]}"
        self._file, self._sha256 = file, sha256
        self._folder = folder or model_folder()
        self._loading = threading.Lock()
        self._session: Any = None
        self._damage = ""
        self._tokenizer: Any = None
        self._kept = KeptPairs()

    def read(self, question: str, passages: Sequence[str]) -> list[PairReading]:
        """Of a passage the first 224 word pieces count, of the question the first 32; the last 256 pairs are kept."""
        self._load()
        return self._kept.read(question, passages, lambda new: [self._run(question, passage) for passage in new])

    def _run(self, question: str, passage: str) -> PairReading:
        """Runs the network for one pair: what flows in it is rounded on one scale, so company would shift the score."""
        asked = _cut(self._tokenizer.encode(sendable(question)).ids, MOST_QUESTION_PIECES)
        encoding = self._tokenizer.encode(sendable(passage))
        shown = _cut(encoding.ids, MOST_PASSAGE_PIECES)[1:]
        ids = np.array([[*asked, *shown]], dtype=np.int64)
        kinds = np.array([[0] * len(asked) + [1] * len(shown)], dtype=np.int64)
        logits, ends = self._session.run(None, {"ids": ids, "kinds": kinds})
        pieces = zip(encoding.offsets[1 : len(shown)], ends[0, len(asked) :].tolist(), strict=False)
        likely = (AnswerPlace(*at, *chances) for at, chances in pieces if max(chances) >= _LEAST_CHANCE)
        return PairReading(float(logits[0, 0]), tuple(likely))

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._damage:  # hashing the file at each question would find the same
                raise ModelFilesDamaged(self._damage)
            if self._session is None:
                self._tokenizer = _tokenizer(self._folder / "tokenizer.json")
                self._session = cpu_session(self._content(), _THREADS)

    def _content(self) -> bytes:
        try:
            return _checked(self._file, self._sha256)
        except ModelFilesDamaged as error:
            self._damage = str(error)
            raise


def _cut(pieces: list[int], most: int) -> list[int]:
    """At most ``most`` word pieces, the mark of the end kept."""
    return pieces if len(pieces) <= most else [*pieces[: most - 1], pieces[-1]]


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
