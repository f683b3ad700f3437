"""What the page says, in Korean and English, Streamlit's own words included; and the service's own names for readers.

Streamlit says some things itself, in English alone: its widgets take labels and placeholders, but not the words of
their parts (the uploader's button, what a screen reader hears of an arrow). A small script that is the same for
everybody exchanges just those; what people wrote is not looked at. It goes both ways, for Streamlit keeps what stands
in the page when the language is switched.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import streamlit as st

from selfright.schemas import NodeOutcome, RoutingDecision

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


TABLES: Mapping[Language, Mapping[str, Words]] = {
    language: tomllib.loads(resource(f"words.{language}.toml")) for language in LANGUAGES
}
"""The tables of both files. What Streamlit says by itself is in Korean alone."""
WORDS = table("words")


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


_CLAUSES = table("clauses")
_CLASSES = table("classes")
_QUALITIES = table("qualities")
_JUDGES = table("judges")
_WHERE = table("where")
_REASONS = table("reasons")
_CODES = {
    "query_class": _CLASSES,
    "verdict": _FOUND,
    "quality": _QUALITIES,
    "judge": _JUDGES,
    "stop": STOPPED,
    "again": _WHERE,
    "ended": STOPPED,
}
_MOST_SOURCES = 5
_MORE: Mapping[Language, str] = MappingProxyType({"en": " and {} more", "ko": " 외 {}개"})


def in_words(outcome: NodeOutcome | None, said: str, language: Language) -> str:
    """One step's line; ``said``, as it came, where the facts are not known: the service may be older, or newer."""
    if outcome is None:
        return said
    facts_of = ((field.name, getattr(outcome, field.name)) for field in fields(outcome))
    held = {name: value for name, value in facts_of if value is not None and value is not False and value != ""}
    facts = held | {
        name: plural_text(_CODES[name], language, held[name]).rstrip(".") for name in _CODES if name in held
    }
    facts["sufficiency"] = "" if outcome.sufficiency is None else f" ({outcome.sufficiency:.2f})"
    facts["sources"] = outcome.provider or _sources(outcome.routing, language)
    facts["routing"] = _reason(outcome.routing, language)
    forms = {"passages": "passages_from"} if facts["sources"] else {}
    forms |= {"slots": "slot"} if outcome.slots == 1 else {}
    clauses = _CLAUSES[language]
    names = (forms.get(name, name) for name in held)
    return ", ".join(clauses[name].format(**facts) for name in names if name in clauses) or said


def _sources(routing: RoutingDecision | None, language: Language) -> str:
    if routing is None:
        return ""
    more = len(routing.collections) - _MOST_SOURCES
    return ", ".join(routing.collections[:_MOST_SOURCES]) + (_MORE[language].format(more) if more > 0 else "")


def _reason(routing: RoutingDecision | None, language: Language) -> str:
    """Why these collections; a router of the service's own says it in words, which may hold braces."""
    if routing is None:
        return ""
    template = _REASONS[language].get(routing.reason)
    return template.format(about=routing.about) if template else routing.reason


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
