"""The file that holds multilingual-e5-small: its parameters in blocks of four bits, and the pieces of its tokenizer.

Little-endian: a header, the pieces with their scores, a table of tensors (name, kind, count, offset, bytes), these.
A block is a float16 scale and 32 numbers of four bits, 8 standing for zero; the low halves of its 16 bytes come first.
"""

import hashlib
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.errors import ModelFilesDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_MAGIC, _HEADER, _PIECES = b"E5S1", struct.Struct("<7ifi"), struct.Struct("<5iQ")
_TENSOR = struct.Struct("<IQQ")
_BLOCK = np.dtype([("scale", "<f2"), ("numbers", "u1", 16)])
_READ_AT_ONCE = 1 << 20
# Names in the file and in the published checkpoint.
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokenizer's pieces in the order of their numbers, and the numbers of four of them.

    ``texts``: all in UTF-8, one behind the other; ``ends``: where each begins there, and where the last one ends.
    """

    texts: "NDArray[np.uint8]"
    ends: "NDArray[np.uint32]"
    scores: "NDArray[np.float32]"
    begin: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class FourBits:
    """A matrix of numbers of four bits, in the form of onnxruntime's operator ``MatMulNBits``.

    ``numbers``: uint8, shape (rows, blocks, 16): 32 numbers of a row, two neighbours in a byte, the first one low, 8
    standing for zero. ``scales``: float32, shape (rows, blocks).
    """

    numbers: "NDArray[np.uint8]"
    scales: "NDArray[np.float32]"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "NDArray[Any]":
        """The matrix itself, shape (rows, 32 x blocks): what training begins with."""
        numbers = np.stack([self.numbers & 15, self.numbers >> 4], axis=-1).reshape(*self.scales.shape, -1)
        floats = (numbers.astype(np.float32) - 8) * self.scales[..., None]
        return floats.reshape(len(floats), -1).astype(dtype or np.float32, copy=False)


class E5File:
    """A file of weights, mapped into memory: what is not asked for is not read.

    Raises ``ModelFilesDamaged`` for a file that cannot be read, or is not the one that was pinned.
    """

    def __init__(self, path: Path, advice: str) -> None:
        self._path, self._advice = path, advice
        found = self._digest()
        if found != SHA256:
            raise ModelFilesDamaged(f"{path} should have the SHA-256 {SHA256}, but has {found}; {advice}")
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._bytes[:4] != _MAGIC:
            raise ModelFilesDamaged(f"{path} should begin with {_MAGIC!r}, but does not; {advice}")
        self.width, self.layers, _, _, self._words, *_ = _HEADER.unpack_from(self._bytes, 8)
        count, *_, length = _PIECES.unpack_from(self._bytes, 44)
        place = 72 + 8 * count + 4 + length
        (normalizer,) = struct.unpack_from("<i", self._bytes, place + 4)
        self._tensors = self._table(place + 8 + normalizer)

    def pieces(self) -> Pieces:
        """The pieces of the tokenizer."""
        count, begin, end, pad, unknown, length = _PIECES.unpack_from(self._bytes, 44)
        ends = np.frombuffer(self._bytes, "<u4", count + 1, 72)
        scores = np.frombuffer(self._bytes, "<f4", count, 72 + 4 * (count + 1))
        texts = np.frombuffer(self._bytes, np.uint8, length, 72 + 8 * count + 4)
        return Pieces(texts, ends, scores, begin, end, pad, unknown)

    def words(self, numbers: "NDArray[np.int64]") -> FourBits:
        """The vectors of pieces by number, one row each."""
        return _paired(self._blocks("emb.word", self._words)[numbers])

    def positions(self) -> "NDArray[np.float32]":
        """The vectors of places in a text, one row each, with that of the only kind of text there is added."""
        rows: NDArray[np.float32] = self._plain("emb.pos").reshape(-1, self.width)
        return rows + self._plain("emb.type")[: self.width]

    def parameters(self) -> "dict[str, NDArray[np.float32] | FourBits]":
        """All others by their names in the checkpoint: large matrices of weights in four bits, the rest as floats."""
        found: dict[str, NDArray[np.float32] | FourBits] = {
            f"embeddings.LayerNorm.{kind}": self._plain(f"emb.ln.{kind[0]}") for kind in ("weight", "bias")
        }
        for layer in range(self.layers):
            for part, name in _PARTS.items():
                here, there = f"l{layer}.{part}", f"encoder.layer.{layer}.{name}"
                bias = self._plain(f"{here}.b")
                found[f"{there}.bias"] = bias
                found[f"{there}.weight"] = (
                    self._plain(f"{here}.w") if part.endswith("ln") else _paired(self._blocks(f"{here}.w", len(bias)))
                )
        return found

    def _digest(self) -> str:
        digest = hashlib.sha256()
        try:
            with self._path.open("rb") as file:
                while part := file.read(_READ_AT_ONCE):
                    digest.update(part)
        except OSError as error:
            raise ModelFilesDamaged(f"cannot read {self._path} ({error.strerror}); {self._advice}") from None
        return digest.hexdigest()

    def _table(self, place: int) -> dict[str, tuple[int, int]]:
        """Offset and bytes of each tensor, by name."""
        (count,) = struct.unpack_from("<i", self._bytes, place)
        place += 4
        tensors = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._bytes, place)
            name = self._bytes[place + 2 : place + 2 + length].decode()
            place += 2 + length + 1
            _, offset, size = _TENSOR.unpack_from(self._bytes, place)
            place += _TENSOR.size
            tensors[name] = (offset, size)
        return tensors

    def _plain(self, name: str) -> "NDArray[np.float32]":
        offset, size = self._tensors[name]
        found: NDArray[np.float32] = np.frombuffer(self._bytes, "<f4", size // 4, offset)
        return found

    def _blocks(self, name: str, rows: int) -> "NDArray[np.void]":
        offset, size = self._tensors[name]
        blocks: NDArray[np.void] = np.frombuffer(self._bytes, _BLOCK, size // _BLOCK.itemsize, offset)
        return blocks.reshape(rows, -1)


def _paired(blocks: "NDArray[np.void]") -> FourBits:
    """Blocks with the numbers of each byte next to each other."""
    halves = np.concatenate([blocks["numbers"] & 15, blocks["numbers"] >> 4], axis=-1)
    return FourBits(halves[..., ::2] | halves[..., 1::2] << 4, blocks["scale"].astype(np.float32))
