"""Pair models as safetensors, on PyTorch: the extra ``judges``. What is not safetensors is not read, nor code run."""

import importlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.llm.pair_files import window
from selfright.llm.pair_labels import Job, Labels
from selfright.llm.pair_windows import most_text_pieces, sendable

INSTALL = 'pip install "selfright[judges]"'
_BATCH = 16


def check_installed() -> None:
    """Raises ``MissingExtra`` where sentence-transformers is not installed; does not import it, which takes seconds."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("sentence-transformers, which runs a pair model that is not an ONNX file,", INSTALL)


class TorchPairs:
    """Logits of pairs from sentence-transformers' ``CrossEncoder``, 16 pairs at a time, on the device that it picks.

    Raises ``ModelFilesDamaged`` when it cannot be loaded. One thread at a time runs it.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], labels: Labels, job: Job) -> None:
        check_installed()
        self._folder, self._labels, self._job = folder, labels, job
        self._window = window(folder, config)
        self._running = threading.Lock()
        self._model = self._loaded()
        self.rows("question", ["passage"])  # what is wrong with the outputs is to be found before anything is judged

    def rows(self, text: str, passages: Sequence[str]) -> list[list[float]]:
        """A row of logits for each passage."""
        with self._running:
            said = self._cut(sendable(text))
            shown = [sendable(passage) for passage in passages]
            pairs = [(said, one) if self._job == "passages" else (one, said) for one in shown]
            found = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False, apply_softmax=False)
        rows: list[list[float]] = found.reshape(len(pairs), -1).tolist()
        if not self._labels.fit(len(rows[0])):
            raise ModelFilesDamaged(
                f"{self._folder} should give {self._labels.count or '1 or 2'} numbers for a pair, one for each label "
                f"in config.json, but gave {len(rows[0])}; save the model again"
            )
        return rows

    def _cut(self, text: str) -> str:
        """The question or claim so far as it counts; the library then cuts the longer of the two, the passage."""
        most = most_text_pieces(self._window)
        tokenizer = self._model.tokenizer
        pieces = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        return text if len(pieces) <= most else str(tokenizer.decode(pieces[:most]))

    def _loaded(self) -> Any:
        library = importlib.import_module("sentence_transformers")
        torch = importlib.import_module("torch")
        try:
            with _quiet():
                return library.CrossEncoder(
                    str(self._folder),
                    max_length=self._window,
                    activation_fn=torch.nn.Identity(),  # log-odds are wanted, not what a sigmoid makes of them
                    trust_remote_code=False,
                    local_files_only=True,
                    model_kwargs={"use_safetensors": True},
                )
        except Exception as error:
            raise ModelFilesDamaged(
                f"{self._folder} should hold a model that sentence-transformers can load, but it cannot "
                f"({type(error).__name__}); save or download it again, or export it to ONNX"
            ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars that transformers draws on the terminal while it loads."""
    bars = importlib.import_module("transformers.utils.logging")
    drawn = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            bars.enable_progress_bar()
