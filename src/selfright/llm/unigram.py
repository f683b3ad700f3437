"""A SentencePiece model made of pieces and scores, in the wire form of its protocol buffer (``ModelProto``)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfright.llm.e5_file import Pieces

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_UNIGRAM = 1
_FLOAT = b"\x15"  # field 2, 32 bits
_KIND = b"\x18"  # field 3, a whole number


def sentencepiece_model(pieces: "Pieces") -> bytes:
    """The model. Its text is normalised before it gets there, but for white space, which is collapsed and marked."""
    kinds = {pieces.begin: _CONTROL, pieces.end: _CONTROL, pieces.pad: _CONTROL, pieces.unknown: _UNKNOWN}
    kinds[len(pieces.texts) - 1] = _CONTROL  # the mask, last of all
    scores = pieces.scores.astype("<f4").tobytes()
    entries = []
    for number, text in enumerate(pieces.texts):
        entry = b"\x0a" + _length(text) + text + _FLOAT + scores[4 * number : 4 * number + 4]
        if number in kinds:
            entry += _KIND + bytes([kinds[number]])
        entries.append(b"\x0a" + _length(entry) + entry)
    ids = (pieces.unknown, pieces.begin, pieces.end, pieces.pad)
    trainer = _whole(3, _UNIGRAM) + b"".join(_whole(field, number) for field, number in enumerate(ids, start=40))
    normalizer = _text(1, b"identity") + _whole(3, 1) + _whole(4, 1) + _whole(5, 1)  # prefix, no repeats, escaped
    return b"".join(entries) + _text(2, trainer) + _text(3, normalizer)


def _length(content: bytes) -> bytes:
    return _varint(len(content))


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > 127:
        low.append(number & 127 | 128)
        number >>= 7
    return bytes([*low, number])


def _whole(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _text(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _length(content) + content
