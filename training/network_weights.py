"""The weights of the two networks that ship, read back from their ONNX files: what training begins with."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from training.network_graphs import PARTS, WIDTH

Floats = NDArray[np.float32]
KINDS = ("weight", "bias")


class NetworkWeights:
    """Weights of the files in ``folder``, as floats."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def words(self, pieces: NDArray[np.int64]) -> Floats:
        """The vectors of pieces by number: any shape, with one axis of 384 more."""
        numbers, scales = self._encoder["words.numbers"][pieces], self._encoder["words.scales"][pieces]
        blocks = numbers.astype(np.float32).reshape(*scales.shape, -1) * scales.astype(np.float32)[..., None]
        return blocks.reshape(*pieces.shape, WIDTH)

    def positions(self) -> Floats:
        """The vectors of places in a text, shape (places, 384)."""
        return self._encoder["positions"]

    def encoder(self) -> dict[str, Floats]:
        """The encoder's parameters by their names in the published checkpoint."""
        stored = ((name, value) for name, value in self._encoder.items() if name.endswith(KINDS))
        found: dict[str, Floats] = {name: value.T.astype(np.float32) for name, value in stored}
        for name in [name for name in self._encoder if name.endswith(".whole")]:
            stem = name.removesuffix(".whole")
            found[f"{stem}.weight"] = self._encoder[name].T * self._encoder[f"{stem}.scale"][:, None]
        for name in [name for name in found if name.endswith("attention.self.bias")]:
            _split_bias(found, name.removesuffix("attention.self.bias"))
        return found

    def reader(self) -> dict[str, Floats]:
        """The reader's parameters as training names them."""
        stored = {name: value for name, value in _tensors(self._folder / "reader.onnx").items() if name.endswith(KINDS)}
        found: dict[str, Floats] = {}
        for name in [name for name in stored if name.endswith("attention.self.bias")]:
            _split_bias(stored, name.removesuffix("attention.self.bias"))
        of = {theirs: ours for ours, theirs in PARTS.items()}
        for name, value in stored.items():
            stem, _, kind = name.rpartition(".")
            matrix = value.T if kind == "weight" and value.ndim == 2 and stem not in ("kinds", "matches") else value
            if stem.startswith("encoder.layer."):
                _, _, number, part = stem.split(".", 3)
                if part in of:
                    found[f"layers.{number}.{of[part]}.{kind}"] = matrix.astype(np.float32)
            else:
                found[f"{stem.replace('embeddings.LayerNorm', 'first_norm')}.{kind}"] = matrix.astype(np.float32)
        return found

    @cached_property
    def _encoder(self) -> dict[str, NDArray[Any]]:
        return _tensors(self._folder / "encoder.onnx")


def _split_bias(found: dict[str, NDArray[Any]], layer: str) -> None:
    """The graph holds the biases of query, key and value as one."""
    parts = np.split(np.asarray(found[f"{layer}attention.self.bias"], dtype=np.float32), 3)
    for part, bias in zip(("query", "key", "value"), parts, strict=True):
        found[f"{layer}attention.self.{part}.bias"] = bias


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    return {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
