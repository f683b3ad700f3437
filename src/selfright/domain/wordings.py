"""What people read of a turn in their language: a node's outcome in one short line, and texts kept as data.

The texts are in ``NAME.en.toml`` and ``NAME.ko.toml`` beside the modules of a package.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType

from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.passages import Language
from selfright.domain.routing import RoutingDecision
from selfright.domain.tables import read_table
from selfright.domain.text import singular

Texts = Mapping[str, Mapping[str, str]]
"""The tables of a file, each with its texts by name."""


@cache
def wordings(package: str, name: str) -> Mapping[Language, Texts]:
    """The texts of a package by language. Raises ``FileNotFoundError`` for a name that has no files."""
    languages: tuple[Language, ...] = ("en", "ko")
    return MappingProxyType({language: read_table(package, f"{name}.{language}") for language in languages})


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a language: a clause for each fact that is said, and by fact the names of its codes.

    A code without a name is said as it is.
    """

    clauses: Mapping[str, str]
    names: Mapping[str, Mapping[str, str]]


@cache
def english() -> Wording:
    """The words in which a turn's own events and traces tell outcomes."""
    texts = wordings(__package__, "outcomes")["en"]
    return Wording(texts["clauses"], {"routing": texts["reasons"], "withheld": texts["withheld"]})


CODES = ("query_class", "verdict", "quality", "judge", "stop", "again", "ended", "withheld")
_MOST_SOURCES = 5


def format_outcome(outcome: NodeOutcome, wording: Wording | None = None) -> str:
    """The line, in English where no ``wording`` is given; empty for a node that decides nothing."""
    wording = wording or english()
    held = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    held = {
        name: value
        for name, value in held.items()
        if value is not None and value is not False and value not in ("", ())
    }
    facts = {
        name: wording.names.get(name, {}).get(value, value) if name in CODES else value for name, value in held.items()
    }
    facts["sources"] = outcome.provider or _sources(outcome.routing, wording)
    facts["sufficiency"] = "" if outcome.sufficiency is None else f" ({outcome.sufficiency:.2f})"
    facts["routing"] = _reason(outcome.routing, wording)
    reasons, facts["withheld"] = wording.names.get("withheld", {}), len(outcome.withheld)
    facts["why"] = ", ".join(dict.fromkeys(reasons.get(one.reason, one.reason) for one in outcome.withheld))
    names = ("passages_from" if name == "passages" and facts["sources"] else name for name in held)
    return singular(", ".join(wording.clauses[name].format(**facts) for name in names if name in wording.clauses))


def _sources(routing: RoutingDecision | None, wording: Wording) -> str:
    """The collections; of many only the first."""
    if routing is None:
        return ""
    rest = len(routing.collections) - _MOST_SOURCES
    more = wording.clauses["more"].format(count=rest) if rest > 0 else ""
    return ", ".join(routing.collections[:_MOST_SOURCES]) + more


def _reason(routing: RoutingDecision | None, wording: Wording) -> str:
    """Why these collections were searched; a custom router says it in words, which may contain braces."""
    if routing is None:
        return ""
    template = wording.names.get("routing", {}).get(routing.reason)
    return template.format(about=routing.about) if template else routing.reason
