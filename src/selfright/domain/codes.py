"""Codes and versions: names that are known by how they are written, where one character makes another thing."""

import re
from functools import lru_cache
from typing import NamedTuple

_CODE = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z]{1,12}[-‐‑]?\d[A-Za-z\d]*(?:[-‐‑]\d[A-Za-z\d]*)*(?![\w.]*\d|[A-Za-z_])")
_NUMBERED = re.compile(r"(?<![A-Za-z0-9_.])(?P<family>0x)[0-9A-Fa-f]{2,16}(?![A-Za-z0-9_])")
_CONSTANT = re.compile(r"(?<![A-Za-z0-9_.])(?P<family>[A-Z][A-Z\d]*)(?:_[A-Z\d]+)+(?![A-Za-z0-9_])")
_VERSIONS = (
    re.compile(r"(?<![A-Za-z0-9_.])[vV]?(?P<v>\d+\.\d+\.\d+(?:\.\d+)*(?:-[A-Za-z][\w.]*)?)(?!\.?\d|[A-Za-z_])"),
    re.compile(r"(?<![A-Za-z0-9_.])[vV](?P<v>\d+(?:\.\d+)*)(?!\.?\d|[A-Za-z_])"),
    re.compile(r"(?:\b[vV]ersions?|버전은?|판은?)\s*(?P<v>\d+(?:\.\d+)+)(?!\.?\d|[A-Za-z_])"),
    re.compile(r"(?<![\w.])(?P<v>\d+(?:\.\d+)*)(?=\s?버전)"),
)
_ARTICLE = re.compile(r"(?P<family>제)\s?\d+\s?조(?:의\s?\d+)?|(?P<other>\bArticle|§)\s?\d+(?!\w)", re.IGNORECASE)
_YEAR = re.compile(r"[a-z]+-?(?:19|20)\d\ds?")  # mid-1980s
_GAP = r"[\s\-‐‑–_]*"
_MAY_BE_CODE = re.compile(r"[\d_]")
_HYPHENS = re.compile(r"[-‐‑]")
_SHORTEST = 3


class Code(NamedTuple):
    """``name`` is in small letters, without hyphens and the ``v`` of a version; ``family`` is what those of a kind
    have in common: what they begin with, or "version"."""

    family: str
    name: str


@lru_cache(maxsize=2_048)
def codes_in(text: str) -> frozenset[Code]:
    """The codes (``ORA-01555``, ``0x80070057``, ``ERR_CERT``), versions (``v2.3.1``), articles (``제3조``) of a text.

    What is written in small letters alone is no code, nor is a year.
    """
    if not _MAY_BE_CODE.search(text):
        return frozenset()
    found = {Code("version", match["v"].lower()) for pattern in _VERSIONS for match in pattern.finditer(text)}
    for pattern in (_NUMBERED, _CONSTANT, _CODE):
        for match in pattern.finditer(text):
            name = _HYPHENS.sub("", match.group())
            is_code = pattern is not _CODE or not (name.islower() or _YEAR.fullmatch(match.group().lower()))
            if is_code and len(name) >= _SHORTEST and match.group().lower() not in {f"v{v}" for _, v in found}:
                family = name.rstrip("0123456789") if pattern is _CODE else match["family"]
                found.add(Code(family.lower(), name.lower()))
    articles = (
        ("".join(match.group().split()), match["family"] or match["other"]) for match in _ARTICLE.finditer(text)
    )
    return frozenset(found) | {Code(family.lower(), name.lower()) for name, family in articles}


def is_named(code: Code, text: str) -> bool:
    """Whether a text names the code, hyphens apart: ``FX 1042`` is ``FX-1042``, but ``2.3.10`` is not ``2.3.1``."""
    return _pattern(code.name).search(text) is not None


@lru_cache(maxsize=4_096)  # a question may name some thousand
def _pattern(name: str) -> re.Pattern[str]:
    signs = _GAP.join(map(re.escape, name.replace("_", "")))
    return re.compile(rf"(?<![A-Za-z0-9.])v?{signs}(?!\.?\d|[A-Za-z_]|(?<=조)의\s?\d)", re.IGNORECASE)
