"""Embeddings without a model: words hashed to places, so that texts with the same words lie near one another."""

import base64
import math
import re
import zlib
from array import array
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from selfright.testing.replies import tokens

MOST_DIMENSIONS = 8_192
MOST_TEXTS = 2_048
_WORD = re.compile(r"[a-z0-9]+|[가-힣]+")


def embed(text: str, dimension: int) -> "array[float]":
    """A float32 vector of length one; the same text always gives the same one, on any machine."""
    sums = [0.0] * dimension
    for feature in _features(text) or ["\0"]:
        place, sign = _place(feature)
        sums[place % dimension] += sign
    length = math.sqrt(sum(value * value for value in sums))
    if length == 0.0:  # two words that cancel out
        sums[0] = length = 1.0
    return array("f", (value / length for value in sums))


def embeddings(body: Mapping[str, Any], dimension: int) -> dict[str, Any]:
    """The answer to ``POST /v1/embeddings``. Raises ``ValueError`` for what cannot be embedded."""
    texts = _texts(body.get("input"))
    wanted = body.get("dimensions", dimension)
    if not isinstance(wanted, int) or not 1 <= wanted <= MOST_DIMENSIONS:
        raise ValueError(f"'dimensions' should be a whole number from 1 to {MOST_DIMENSIONS}")
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else vector.tolist()}
        for index, vector in enumerate(embed(text, wanted) for text in texts)
    ]
    count = sum(map(tokens, texts))
    used = {"prompt_tokens": count, "total_tokens": count}
    return {"object": "list", "data": data, "model": str(body.get("model", "scripted")), "usage": used}


def _texts(given: Any) -> list[str]:
    """One text, several, or the same as lists of token numbers, which then stand for words."""
    items = given if isinstance(given, list) else [given]
    if items and all(isinstance(item, int) for item in items):
        items = [items]
    texts = [" ".join(map(str, item)) if isinstance(item, list) else item for item in items]
    if not texts or len(texts) > MOST_TEXTS or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"'input' should be a text, or a list of 1 to {MOST_TEXTS} texts")
    return texts


def _features(text: str) -> list[str]:
    """The words, and of Korean words also their pairs of syllables, for particles change the word."""
    words: list[str] = _WORD.findall(text.lower())
    pairs = [word[i : i + 2] for word in words if word[0] >= "가" for i in range(len(word) - 1)]
    return words + pairs


@lru_cache(maxsize=65_536)
def _place(feature: str) -> tuple[int, float]:
    code = zlib.crc32(feature.encode("utf-8"))
    return code >> 1, 1.0 if code & 1 else -1.0


def _packed(vector: "array[float]") -> str:
    return base64.b64encode(vector.tobytes()).decode("ascii")
