"""A SentencePiece model made of pieces and scores, in the wire form of its protocol buffer (``ModelProto``)."""

from typing import TYPE_CHECKING

import numpy as np

from selfright.domain.errors import ModelFilesDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfright.llm.e5_file import Pieces

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_UNIGRAM = 1
_TEXT, _SCORE, _KIND = 0x0A, 0x15, 0x18  # fields of a piece: bytes, 32 bits, a whole number
_AROUND = 9  # bytes of a piece beside its text
_LONGEST = 127 - _AROUND  # bytes; a length below 128 takes one byte


def sentencepiece_model(pieces: "Pieces") -> bytes:
    """The model. Its text is normalised before it gets there, but for white space, which is collapsed and marked.

    Raises ``ModelFilesDamaged`` for pieces too long to be any.
    """
    ids = (pieces.unknown, pieces.begin, pieces.end, pieces.pad)
    trainer = _whole(3, _UNIGRAM) + b"".join(_whole(field, number) for field, number in enumerate(ids, start=40))
    normalizer = _text(1, b"identity") + _whole(3, 1) + _whole(4, 1) + _whole(5, 1)  # prefix, no repeats, escaped
    return _entries(pieces).tobytes() + _text(2, trainer) + _text(3, normalizer)


def _entries(pieces: "Pieces") -> "NDArray[np.uint8]":
    """All pieces, written side by side: a quarter of a million, one by one, would take half a second."""
    lengths = np.diff(pieces.ends).astype(np.int64)
    if lengths.max() > _LONGEST:
        raise ModelFilesDamaged(f"a piece should have at most {_LONGEST} bytes, but one has {lengths.max()}")
    kinds = np.full(len(lengths), _NORMAL)
    kinds[[pieces.begin, pieces.end, pieces.pad, -1]] = _CONTROL  # the mask, last of all
    kinds[pieces.unknown] = _UNKNOWN
    sizes = lengths + _AROUND + 2
    first = np.cumsum(sizes) - sizes
    behind = first + 4 + lengths  # the text
    written = np.empty(int(sizes.sum()), dtype=np.uint8)
    written[np.arange(len(pieces.texts)) + np.repeat(first + 4 - pieces.ends[:-1], lengths)] = pieces.texts
    written[behind[:, None] + np.arange(1, 5)] = pieces.scores.astype("<f4").view(np.uint8).reshape(-1, 4)
    around = ((first, _TEXT), (first + 1, lengths + _AROUND), (first + 2, _TEXT), (first + 3, lengths))
    for places, values in (*around, (behind, _SCORE), (behind + 5, _KIND), (behind + 6, kinds)):
        written[places] = values
    return written


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > 127:
        low.append(number & 127 | 128)
        number >>= 7
    return bytes([*low, number])


def _whole(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _text(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content
