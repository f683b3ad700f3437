"""What a GGUF file says of itself before anything is loaded: context, chat template, and the memory it will take.

Only the header is read. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from selfright.domain.errors import NoModelFile

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_MOST_FIELDS = 10_000
_MOST_ITEMS = 5_000_000  # of one array: no vocabulary comes near it
_MOST_KEPT = 1_000  # items of an array that are kept: counts by layer, not vocabularies
_LONGEST_KEY = 1_000
_LONGEST_STRING = 4_000_000
_CACHE_BYTES = 2  # of one number in the cache: half precision


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF chat model. ``context``: tokens it was trained to read; ``size``: bytes of its weights;
    ``cache_bytes``: bytes that each token takes while it is read."""

    path: Path
    architecture: str
    context: int
    size: int
    cache_bytes: int


def read_model_file(path: Path) -> ModelFile:
    """What the file says of itself.

    Raises ``NoModelFile`` when there is none, when it is no GGUF file or a damaged one, or no model to chat with.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise NoModelFile(f"{path} should be a GGUF file, but is a folder; name the file in it")
        fields = read_fields(path)
    except FileNotFoundError:
        raise NoModelFile(f"there is no file {path}; check the path after 'local:'") from None
    except OSError as error:
        raise NoModelFile(f"{path} cannot be read ({type(error).__name__}); check who may read it") from None
    return _model_file(path, size, fields)


def _model_file(path: Path, size: int, fields: Mapping[str, Any]) -> ModelFile:
    architecture = str(fields.get("general.architecture") or "")
    context = _count(fields.get(f"{architecture}.context_length"))
    if not architecture or not context or fields.get("general.type", "model") != "model":
        raise NoModelFile(f"{path} holds no language model (no context length); name the file of a chat model")
    if not fields.get("tokenizer.chat_template"):
        raise NoModelFile(
            f"{path} has no chat template, so it is a base model that cannot follow instructions; use its instruct "
            "version (often with 'instruct', 'it' or 'chat' in the name)"
        )
    if _count(fields.get("split.count")) > 1:
        size = _split_size(path, size, _count(fields.get("split.count")))
    return ModelFile(path, architecture, context, size, _cache_bytes(architecture, fields))


def _split_size(path: Path, size: int, parts: int) -> int:
    """Bytes of all parts (``NAME-00001-of-00003.gguf``); raises ``NoModelFile`` where one lacks."""
    ending = f"-00001-of-{parts:05d}.gguf"
    if not path.name.endswith(ending):
        raise NoModelFile(f"{path} is a part of {parts}; name the first one, which ends in {ending}")
    stem = path.name.removesuffix(ending)
    for n in range(2, min(parts, _MOST_FIELDS) + 1):
        part = path.with_name(f"{stem}-{n:05d}-of-{parts:05d}.gguf")
        if not part.is_file():
            raise NoModelFile(f"{path} has {parts} parts, but {part.name} is missing; download it too")
        size += part.stat().st_size
    return size


def _cache_bytes(architecture: str, fields: Mapping[str, Any]) -> int:
    """Keys and values of all layers for one token; an upper bound where layers share or forget them."""

    def of(name: str) -> Any:
        return fields.get(f"{architecture}.{name}")

    counts = of("attention.head_count")
    heads = max(1, *map(_count, counts if isinstance(counts, list) else [counts]))
    layers = max(1, _count(of("block_count")))
    by_layer = of("attention.head_count_kv")
    groups = sum(map(_count, by_layer)) if isinstance(by_layer, list) else layers * (_count(by_layer) or heads)
    width = _count(of("embedding_length")) // heads
    keys, values = _count(of("attention.key_length")) or width, _count(of("attention.value_length")) or width
    return groups * (keys + values) * _CACHE_BYTES


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def read_fields(path: Path) -> dict[str, Any]:
    """The file's fields by name; of long arrays, as vocabularies are, only the first thousand items.

    Raises ``NoModelFile`` for what is no GGUF file or ends before its header does, ``OSError`` for one that cannot be
    read.
    """
    with path.open("rb") as file:
        if file.read(4) != _MAGIC:
            raise NoModelFile(f"{path} is no GGUF file; llama.cpp reads nothing else, so convert it or get its .gguf")
        try:
            return _fields(file)
        except (struct.error, ValueError, KeyError):
            raise NoModelFile(f"{path} is a damaged GGUF file: its header breaks off; download it again") from None


def _fields(file: IO[bytes]) -> dict[str, Any]:
    if _number(file, "<I") not in _VERSIONS:
        raise ValueError("a version that is not known")
    _number(file, "<Q")  # tensors
    count = _length(file, _MOST_FIELDS)
    return {_string(file, _LONGEST_KEY): _value(file, _number(file, "<I")) for _ in range(count)}


def _value(file: IO[bytes], kind: int) -> Any:
    if kind == _STRING:
        return _string(file, _LONGEST_STRING)
    return _array(file) if kind == _ARRAY else _number(file, _NUMBERS[kind])


def _array(file: IO[bytes]) -> list[Any]:
    kind, count = _number(file, "<I"), _length(file, _MOST_ITEMS)
    if kind == _STRING:
        for _ in range(count):
            _string(file, _LONGEST_STRING)
        return []
    form, kept = _NUMBERS[kind], min(count, _MOST_KEPT)  # arrays of arrays are in no file that anybody makes
    values = [_number(file, form) for _ in range(kept)]
    file.seek((count - kept) * struct.calcsize(form), os.SEEK_CUR)
    return values


def _string(file: IO[bytes], most: int) -> str:
    length = _length(file, most)
    (text,) = struct.unpack(f"{length}s", file.read(length))
    return bytes(text).decode("utf-8", "replace")


def _length(file: IO[bytes], most: int) -> int:
    length: int = _number(file, "<Q")
    if length > most:
        raise ValueError("a length that cannot be")
    return length


def _number(file: IO[bytes], form: str) -> Any:
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return value
