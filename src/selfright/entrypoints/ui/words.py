"""What the page says, in Korean and English: the texts of ``words.en.toml`` and ``words.ko.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

Language = Literal["ko", "en"]
Words = Mapping[str, str]

LANGUAGES: Mapping[Language, str] = MappingProxyType({"en": "English", "ko": "한국어"})


def language_of(locale: str | None) -> Language:
    """The page's language for what a browser says of itself (``ko-KR``, ``en-GB``); English for all others."""
    return "ko" if (locale or "").lower().partition("-")[0] == "ko" else "en"


def _read(language: Language) -> Mapping[str, Words]:
    return tomllib.loads(resource(f"words.{language}.toml"))


@cache
def resource(name: str) -> str:
    """A file of this package as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def table(name: str) -> Mapping[Language, Words]:
    """One table of ``words.en.toml`` and ``words.ko.toml``."""
    return MappingProxyType({language: TABLES[language][name] for language in LANGUAGES})


TABLES: Mapping[Language, Mapping[str, Words]] = {language: _read(language) for language in LANGUAGES}
"""The tables of both files. What Streamlit says by itself is in Korean alone."""
WORDS = table("words")
