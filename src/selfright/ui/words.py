"""What the page says, in Korean and English, Streamlit's own words included; and the service's own names for readers.

Streamlit says some things itself, in English alone: its widgets take labels and placeholders, but not the words of
their parts (the uploader's button, what a screen reader hears of an arrow). A small script that is the same for
everybody exchanges just those; what people wrote is not looked at. It goes both ways, for Streamlit keeps what stands
in the page when the language is switched.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import streamlit as st

from selfright.schemas import Wording, wordings

Language = Literal["ko", "en"]
Words = Mapping[str, str]

LANGUAGES: Mapping[Language, str] = MappingProxyType({"en": "English", "ko": "한국어"})


def language_of(locale: str | None) -> Language:
    """The page's language for what a browser says of itself (``ko-KR``, ``en-GB``); English for all others."""
    return "ko" if (locale or "").lower().partition("-")[0] == "ko" else "en"


@cache
def resource(name: str) -> str:
    """A file of this package as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def table(name: str) -> Mapping[Language, Words]:
    """One table of ``words.en.toml`` and ``words.ko.toml``."""
    return MappingProxyType({language: TABLES[language][name] for language in LANGUAGES})


TABLES = wordings(__package__, "words")
"""The tables of both files. What Streamlit says by itself is in Korean alone."""
WORDS = table("words")


ERRORS: Mapping[Language, Words] = {"en": {}, "ko": TABLES["ko"]["errors"]}
"""Errors of the service by their code; in English it speaks for itself."""

STOPPED = table("stopped")
_FOUND = table("found")
_SIGNS = {"correct": "✓", "ambiguous": "◐", "incorrect": "✗", "unknown": "?"}
VERDICTS: Mapping[Language, Words] = MappingProxyType(
    {language: {name: f"{_SIGNS[name]} {said}" for name, said in words.items()} for language, words in _FOUND.items()}
)
WITHDRAWN = table("withdrawn")
NODES = table("nodes")
PRESETS = table("presets")


def plural_text(names: Mapping[Language, Words], language: Language, name: str) -> str:
    """What a name means, or the name itself where the page does not know it."""
    return names[language].get(name, name)


_CODES = {
    "query_class": "classes",
    "verdict": "found",
    "quality": "qualities",
    "judge": "judges",
    "stop": "stopped",
    "again": "where",
    "ended": "stopped",
    "routing": "reasons",
    "withheld": "withheld",
}
OUTCOMES: Mapping[Language, Wording] = MappingProxyType(
    {
        language: Wording(
            tables["clauses"],
            {fact: {name: said.rstrip(".") for name, said in tables[kind].items()} for fact, kind in _CODES.items()},
        )
        for language, tables in TABLES.items()
    }
)
"""How a step is told."""


KOREAN = TABLES["ko"]["streamlit"]
"""Texts as a whole."""

WITH_A_PART = TABLES["ko"]["streamlit_around"]
"""Texts around a part that stays."""

# Texts are exchanged only inside of these parts, attributes everywhere but in what the service and its users wrote.
_PARTS = (
    "stFileUploaderDropzone",
    "stFileUploader",
    "stSkipToContent",
    "stSelectboxVirtualDropdown",
    "InputInstructions",
)


def say_in(language: Language) -> None:
    """Puts Streamlit's own words of the page into ``language``, now and when more of them come."""
    st.html(script(language), unsafe_allow_javascript=True)


def script(language: Language) -> str:
    """The script as an element."""
    korean = language == "ko"
    pairs = [(a.split("{}"), b.split("{}")) for a, b in WITH_A_PART.items()]
    words = {
        "language": language,
        "whole": dict(KOREAN) if korean else {said: english for english, said in KOREAN.items()},
        "around": [[*english, *said] if korean else [*said, *english] for english, said in pairs],
        "parts": _PARTS,
    }
    said = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    return f"<script>{resource('built_in.js').strip() % said}</script>"
