"""The files of the two networks that ship, with their hashes in ``networks.json``, and how both cut text into pieces.

``training/export_networks.py`` writes all of them.
"""

import hashlib
import importlib
import json
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import ModelFilesDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

FOLDER = Path(__file__).parent
LIST = "networks.json"
_FATAL = 4


@cache
def list_files(folder: Path = FOLDER) -> dict[str, Any]:
    """What ``networks.json`` says: ``reader``, the name of its weights, and ``sha256`` by file.

    Raises ``ModelFilesDamaged``.
    """
    try:
        return dict(json.loads((folder / LIST).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ModelFilesDamaged(f"cannot read {folder / LIST} ({error}); reinstall selfright") from None


@cache
def model_file(name: str, folder: Path = FOLDER) -> Path:
    """The path of a file that ships. Raises ``ModelFilesDamaged`` when it cannot be read or is another one."""
    path, expected = folder / name, list_files(folder)["sha256"][name]
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFilesDamaged(f"cannot read {path} ({error.strerror}); reinstall selfright") from None
    if found != expected:
        raise ModelFilesDamaged(f"{path} should have the SHA-256 {expected}, but has {found}; reinstall selfright")
    return path


class Network:
    """The network ``name`` in onnxruntime, which computes on the caller's core. Its files are read at the
    first use, which raises ``ModelFilesDamaged``. Safe to share between threads.
    """

    def __init__(self, name: str, folder: Path = FOLDER) -> None:
        self._name, self._folder = name, folder
        self._loading = threading.Lock()
        self._session: Any = None
        self._damage = ""

    def run(self, inputs: "Mapping[str, NDArray[np.int64]]") -> list[Any]:
        """What it gives, in its order."""
        self.load()
        return list(self._session.run(None, inputs))

    def load(self) -> None:
        """Reads the weights; raises what the first use would."""
        if self._session is not None:
            return
        with self._loading:
            if self._damage:  # hashing the files each time would find the same
                raise ModelFilesDamaged(self._damage)
            if self._session is None:
                try:
                    self._session = self._open()
                except ModelFilesDamaged as error:
                    self._damage = str(error)
                    raise

    def _open(self) -> Any:
        model_file("words.bin", self._folder)  # which both networks read
        runtime: Any = importlib.import_module("onnxruntime")  # it does not declare what it exports
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL  # what goes wrong is raised; it need not be printed as well
        path = model_file(f"{self._name}.onnx", self._folder)
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


BEGIN, PAD, END, UNKNOWN = range(4)
MOST_CHARACTERS = 20_000  # many times what a window holds: a passage of megabytes is not cut for nothing


@cache
def tokenizer() -> "Tokenizer":
    """The tokenizer that ships, Unigram over 140,000 pieces. Raises ``ModelFilesDamaged``."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(model_file("tokenizer.json")))


def piece_numbers(texts: Sequence[str]) -> list[list[int]]:
    """The numbers of each text's pieces, without marks of begin and end; letters it does not know are ``UNKNOWN``."""
    found = tokenizer().encode_batch_fast([sendable(text) for text in texts], add_special_tokens=False)
    return [one.ids for one in found]


def pieces_and_places(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """The numbers of a text's pieces, and the characters of the text that each of them stands for."""
    found = tokenizer().encode(sendable(text), add_special_tokens=False)
    return found.ids, found.offsets


def sendable(text: str) -> str:
    """The text with half characters (lone surrogates), which tokenizers refuse, replaced; at most 20,000 characters."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
