"""GGUF files as tests want them: headers of any content, and a real model whose weights make no sense."""

import random
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHAT = {
    "general.architecture": "llama",
    "general.type": "model",
    "llama.context_length": 4_096,
    "llama.block_count": 4,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 8,
    "llama.attention.head_count_kv": 2,
    "tokenizer.chat_template": "{{ messages }}",
    "tokenizer.ggml.tokens": ["<s>", "a", "b"],
    "tokenizer.ggml.scores": [0.0, -1.0, -2.0],
}
"""What a file of a small chat model says of itself."""

_ALIGNED = 32
_BLOCK_BYTES = {2: 18, 3: 20, 8: 34, 14: 210}  # of Q4_0, Q4_1, Q8_0, Q6_K
_BLOCK_VALUES = {2: 32, 3: 32, 8: 32, 14: 256}


def header(fields: Mapping[str, Any] = CHAT, *, version: int = 3) -> bytes:
    """The beginning of a GGUF file with these fields and no tensors."""
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(fields)) + b"".join(map(_field, fields, fields.values()))


def _field(name: str, value: Any) -> bytes:
    return _text(name) + _value(value)


def _value(value: Any) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case _:
            return struct.pack("<I", 9) + _items(value)


def _items(values: Sequence[Any]) -> bytes:
    kinds = {str: 8, float: 6, int: 4}
    kind = kinds[type(values[0])]
    packed = [_text(v) if kind == 8 else struct.pack("<f" if kind == 6 else "<I", v) for v in values]
    return struct.pack("<IQ", kind, len(values)) + b"".join(packed)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def scrambled(source: Path, target: Path) -> Path:
    """The same model with the blocks of each tensor in another order: it loads, and writes nonsense."""
    data = bytearray(source.read_bytes())
    tensors, start = _tensors(data)
    order = random.Random(5)
    for kind, count, offset in tensors:
        if kind not in _BLOCK_BYTES:
            continue
        size, blocks = _BLOCK_BYTES[kind], count // _BLOCK_VALUES[kind]
        at = start + offset
        turned = order.randrange(1, blocks)
        whole = bytes(data[at : at + blocks * size])
        pieces = [whole[n * size : (n + 1) * size] for n in range(blocks)]
        mixed = pieces[turned:] + pieces[:turned]
        order.shuffle(mixed)
        data[at : at + blocks * size] = b"".join(mixed)
    target.write_bytes(data)
    return target


def _tensors(data: bytearray) -> tuple[list[tuple[int, int, int]], int]:
    """Type, count of values and offset of each tensor, and where the first one begins."""
    reader = _Reader(data)
    tensors, fields = reader.number("<Q"), reader.number("<Q")
    for _ in range(fields):
        reader.text()
        reader.skip_value(reader.number("<I"))
    found = []
    for _ in range(tensors):
        reader.text()
        count = 1
        for _ in range(reader.number("<I")):
            count *= reader.number("<Q")
        found.append((reader.number("<I"), count, reader.number("<Q")))
    return found, -(-reader.at // _ALIGNED) * _ALIGNED


class _Reader:
    """Reads on from behind the version."""

    _FORMS = ("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", "", "", "<Q", "<q", "<d")

    def __init__(self, data: bytearray) -> None:
        self.data, self.at = data, 8

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def text(self) -> None:
        length = self.number("<Q")  # first: it moves on, too
        self.at += length

    def skip_value(self, kind: int) -> None:
        if kind == 8:
            self.text()
        elif kind == 9:
            inner, count = self.number("<I"), self.number("<Q")
            for _ in range(count):
                self.skip_value(inner)
        else:
            self.at += struct.calcsize(self._FORMS[kind])
