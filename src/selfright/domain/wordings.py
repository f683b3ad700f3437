"""Texts in two languages, kept as data: ``NAME.en.toml`` and ``NAME.ko.toml`` beside the modules of a package."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from selfright.domain.passages import Language

Texts = Mapping[str, Mapping[str, str]]
"""The tables of a file, each with its texts by name."""


@cache
def wordings(package: str, name: str) -> Mapping[Language, Texts]:
    """The texts of a package by language. Raises ``FileNotFoundError`` for a name that has no files."""
    languages: tuple[Language, ...] = ("en", "ko")
    read = {
        language: tomllib.loads(files(package).joinpath(f"{name}.{language}.toml").read_text(encoding="utf-8"))
        for language in languages
    }
    return MappingProxyType(read)
