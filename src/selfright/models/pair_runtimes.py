"""Pair models on onnxruntime, which is installed with Selfright, or on PyTorch (extra ``judges``)."""

import importlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.models.files import cpu_session
from selfright.models.pair_files import Layout, first_position, window
from selfright.models.pair_readings import Job, Labels, most_text_pieces
from selfright.models.pieces import sendable

_BEYOND = 16
_THREADS = 2
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxPairs:
    """Logits of pairs, one run for each: in a quantized model company on the same scale would shift them.

    Raises ``ModelFilesDamaged`` when the file cannot be loaded, asks for what a pair of texts has not, or gives what
    the labels do not tell how to read. Safe to share between threads.
    """

    def __init__(self, folder: Path, layout: Layout, config: Mapping[str, Any], labels: Labels, job: Job) -> None:
        self._file = folder / layout.weights[0]
        self._labels, self._job = labels, job
        self._window = window(folder, config)
        self._first_position = first_position(config)
        self._kinds = config.get("type_vocab_size") != 1
        self._tokenizer = _tokenizer(folder / "tokenizer.json")
        self._marks = self._tokenizer.num_special_tokens_to_add(True)
        self._session = self._opened()
        self._inputs = self._taken()
        self.rows("question", ["passage"])  # what is wrong with the outputs is to be found before anything is judged

    def rows(self, text: str, passages: Sequence[str]) -> list[list[float]]:
        """A row of logits for each passage."""
        said = self._pieces(text, most_text_pieces(self._window))
        return [self._run(said, self._pieces(passage, self._window - self._marks - len(said))) for passage in passages]

    def _pieces(self, text: str, most: int) -> Any:
        """The first pieces of a text, which are those that it has as a whole: a word may be split otherwise if cut."""
        said = sendable(text)
        encoding = self._tokenizer.encode(said, add_special_tokens=False)
        if len(encoding) > most + _BEYOND:
            # What is cut off is kept as parts, of which pairs would be made as well: one part is enough.
            said = said[: encoding.offsets[most + _BEYOND][1]]
            encoding = self._tokenizer.encode(said, add_special_tokens=False)
        encoding.truncate(most)
        return encoding

    def _run(self, said: Any, passage: Any) -> list[float]:
        first, second = (said, passage) if self._job == "passages" else (passage, said)
        pair = self._tokenizer.post_process(first, second)
        values: dict[str, Sequence[int]] = {
            "input_ids": pair.ids,
            "attention_mask": [1] * len(pair.ids),
            "token_type_ids": pair.type_ids if self._kinds else [0] * len(pair.ids),
            "position_ids": range(self._first_position, self._first_position + len(pair.ids)),
        }
        fed = {name: np.array([values[name]], dtype=kind) for name, kind in self._inputs.items()}
        outputs = self._session.run(None, fed)
        for output in outputs:
            if output.ndim == 2 and output.shape[0] == 1 and self._labels.fit(output.shape[1]):
                return [float(value) for value in output[0]]
        shapes = ", ".join(str(output.shape) for output in outputs)
        raise ModelFilesDamaged(
            f"{self._file} should give an output of shape (1, {self._labels.count or '1 or 2'}), one number for each "
            f"label in config.json, but gave {shapes}; export it as a model that classifies sequences"
        )

    def _opened(self) -> Any:
        try:
            return cpu_session(str(self._file), _THREADS)
        except Exception as error:
            raise ModelFilesDamaged(
                f"{self._file} should be a whole ONNX file, but onnxruntime cannot load it "
                f"({type(error).__name__}); export or download it again"
            ) from error

    def _taken(self) -> dict[str, Any]:
        """The inputs that the graph declares, with the type of each."""
        known = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
        declared = {found.name: found.type for found in self._session.get_inputs()}
        for name, kind in declared.items():
            if name not in known or kind not in _TYPES:
                raise ModelFilesDamaged(
                    f"{self._file} should take whole numbers as {', '.join(known)} or some of them, "
                    f"but asks for '{name}' as {kind}; export it as a model that classifies sequences"
                )
        return {name: _TYPES[kind] for name, kind in declared.items()}


def _tokenizer(file: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ModelFilesDamaged(
            f"{file} should be written by the tokenizers library, but cannot be read; export or download it again"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a passage that spells out a mark must not be able to end itself
    return tokenizer


_TORCH = 'pip install "selfright[judges]"'
_BATCH = 16


def check_torch_installed() -> None:
    """Raises ``MissingExtra`` where sentence-transformers is not installed; does not import it, which takes seconds."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("sentence-transformers, which runs a pair model that is not an ONNX file,", _TORCH)


class TorchPairs:
    """Logits of pairs from sentence-transformers' ``CrossEncoder``, 16 pairs at a time, on the device that it picks.

    Raises ``ModelFilesDamaged`` when it cannot be loaded. One thread at a time runs it.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], labels: Labels, job: Job) -> None:
        check_torch_installed()
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
