"""The weights of the two networks that ship, read back from their ONNX files: what training begins with."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from training.graph_builder import WIDTH
from training.network_graphs import PARTS

Floats = NDArray[np.float32]
KINDS = ("weight", "bias")
TABLES = ("kinds", "matches")  # which are looked up


class NetworkWeights:
    """Weights of the files in ``folder``, as floats."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def words(self, pieces: NDArray[np.int64]) -> Floats:
        """The vectors of pieces by number: any shape, with one axis of 384 more."""
        numbers, scales = self._encoder["words.numbers"][pieces], self._encoder["words.scales"][pieces]
        blocks = numbers.astype(np.float32).reshape(*scales.shape, -1) * scales.astype(np.float32)[..., None]
        return blocks.reshape(*pieces.shape, WIDTH)

    @property
    def pieces(self) -> int:
        """How many pieces have word vectors."""
        return len(self._encoder["words.scales"])

    def positions(self) -> Floats:
        """The vectors of places in a text, shape (places, 384)."""
        return self._encoder["positions"]

    def encoder(self) -> dict[str, Floats]:
        """The encoder's parameters by their names in the published checkpoint."""
        return _floats(self._encoder)

    def reader(self) -> dict[str, Floats]:
        """The reader's parameters as training names them."""
        of = {theirs: ours for ours, theirs in PARTS.items()}
        found: dict[str, Floats] = {}
        for name, value in _floats(_tensors(self._folder / "reader.onnx")).items():
            stem, _, kind = name.rpartition(".")
            if stem.startswith("encoder.layer."):
                _, _, number, part = stem.split(".", 3)
                if part in of:
                    found[f"layers.{number}.{of[part]}.{kind}"] = value
            else:
                found[f"{stem.replace('embeddings.LayerNorm', 'first_norm')}.{kind}"] = value
        return found

    @cached_property
    def _encoder(self) -> dict[str, NDArray[Any]]:
        return _tensors(self._folder / "encoder.onnx")


def _floats(stored: dict[str, NDArray[Any]]) -> dict[str, Floats]:
    """Parameters of a graph as a checkpoint has them: matrices turned, those in whole numbers by their scales."""
    found: dict[str, Floats] = {}
    for name, value in stored.items():
        stem, _, kind = name.rpartition(".")
        if kind == "whole":
            found[f"{stem}.weight"] = value.T * stored[f"{stem}.scale"][:, None]
        elif kind in KINDS:
            turned = kind == "weight" and value.ndim == 2 and stem not in TABLES
            found[name] = (value.T if turned else value).astype(np.float32)
    for name in [name for name in found if name.endswith("attention.self.bias")]:
        _split_bias(found, name.removesuffix("attention.self.bias"))
    return found


def _split_bias(found: dict[str, Floats], layer: str) -> None:
    """The graph holds the biases of query, key and value as one."""
    parts = np.split(found[f"{layer}attention.self.bias"], 3)
    for part, bias in zip(("query", "key", "value"), parts, strict=True):
        found[f"{layer}attention.self.{part}.bias"] = bias


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    return {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
