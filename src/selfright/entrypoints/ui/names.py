"""The service's own names (nodes, verdicts, stop reasons, presets) and what it says of steps, in words for readers."""

from collections.abc import Mapping
from types import MappingProxyType

from selfright.entrypoints.client import NodeOutcome, Routing
from selfright.entrypoints.ui.words import Language, Words, table

STOPPED = table("stopped")
_FOUND = table("found")
_SIGNS = {"correct": "✓", "ambiguous": "◐", "incorrect": "✗", "unknown": "?"}
VERDICTS: Mapping[Language, Words] = MappingProxyType(
    {language: {name: f"{_SIGNS[name]} {said}" for name, said in words.items()} for language, words in _FOUND.items()}
)
WITHDRAWN = table("withdrawn")
NODES = table("nodes")
PRESETS = table("presets")


def told(names: Mapping[Language, Words], language: Language, name: str) -> str:
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
    held = {name: value for name, value in outcome if value is not None and value is not False}
    facts = held | {name: told(_CODES[name], language, held[name]).rstrip(".") for name in _CODES if name in held}
    facts["sufficiency"] = "" if outcome.sufficiency is None else f" ({outcome.sufficiency:.2f})"
    facts["sources"] = outcome.provider or _sources(outcome.routing, language)
    facts["routing"] = _reason(outcome.routing, language)
    forms = {"passages": "passages_from"} if facts["sources"] else {}
    forms |= {"slots": "slot"} if outcome.slots == 1 else {}
    clauses = _CLAUSES[language]
    names = (forms.get(name, name) for name in held)
    return ", ".join(clauses[name].format(**facts) for name in names if name in clauses) or said


def _sources(routing: Routing | None, language: Language) -> str:
    if routing is None:
        return ""
    more = len(routing.collections) - _MOST_SOURCES
    return ", ".join(routing.collections[:_MOST_SOURCES]) + (_MORE[language].format(more) if more > 0 else "")


def _reason(routing: Routing | None, language: Language) -> str:
    """Why these collections; a router of the service's own says it in words, which may hold braces."""
    if routing is None:
        return ""
    template = _REASONS[language].get(routing.reason)
    return template.format(about=routing.about) if template else routing.reason
