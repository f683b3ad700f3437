"""Signs in a message that call for help at once, before any answer: emergency guidance, in the reader's language.

What counts is in ``red_flags.toml``, each sign with its source. A sign is seen when every one of its patterns is found
in the message, none of them denied or long past. It errs towards help: a question about such signs gets it, too.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from selfright.domain.passages import Language
from selfright.domain.tables import read_table

HelpKind = Literal["emergency", "crisis", "poison"]

_LONGEST = 10_000
_CLAUSE = re.compile(r"[.!?。\n;,]|\b(?:but|however|though)\b|(?:지만|는데|으나|하나)\s")
_DENIED_EN = re.compile(
    r"\b(?:no|not|without|denies|denied|never|neither|nor|(?:do|does|did|is|was|has|have)n['’]?t)\b[^.!?]{0,40}$", re.I
)
_DENIED_KO = re.compile(r"^[^.!?\n]{0,10}?(?:없|않|아니|아닙)")
_PAST = re.compile(
    r"\b(?:\d+|a few|several|many|one|two|three|four|five|six|ten) years? ago\b|\blast year\b|\bused to\b"
    r"|\bwhen I was (?:a )?(?:child|kid|young)"
    r"|\d+\s*년\s*전|작년|재작년|예전에|옛날에|어렸을 때|어릴 때",
    re.I,
)
# What a pattern ends in that needs its "않" to say what it says.
_NOT_A_DENIAL = re.compile(r"(?:수(?:가|도|조차)?|멈추지|멎지|싶지|되지|없어지지|사라지지|느껴지지|움직이지|일어나지)$")


@dataclass(frozen=True, slots=True)
class RedFlag:
    """One sign: ``patterns`` must all be found; ``what`` names it to a reader; ``source`` says who calls it urgent."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    what: Mapping[Language, str]
    source: str
    call: HelpKind = "emergency"


@functools.cache
def red_flags() -> tuple[RedFlag, ...]:
    """The signs that ship, the most pressing first."""
    return tuple(
        RedFlag(
            name=entry["name"],
            patterns=tuple(re.compile(pattern, re.IGNORECASE) for pattern in entry["all"]),
            what={"en": entry["en"], "ko": entry["ko"]},
            source=entry["source"],
            call=entry.get("call", "emergency"),
        )
        for entry in read_table(__package__, "red_flags")["flag"]
    )


def find_flags(text: str) -> Iterator[RedFlag]:
    """The signs in a message, the most pressing first."""
    text = text[:_LONGEST]
    for flag in red_flags():
        places = (pattern.finditer(text) for pattern in flag.patterns)
        if all(any(not _is_denied(text, *match.span()) for match in found) for found in places):
            yield flag


def urgent(text: str, language: Language) -> str:
    """What a message calls for at once; empty for most messages. Several signs of one kind share one call."""
    calls: dict[HelpKind, list[str]] = {}
    for flag in find_flags(text):
        calls.setdefault(flag.call, []).append(flag.what[language])
    said = read_table(__package__, "red_flags")["calls"]
    return "\n".join(said[call][language].format(what=", ".join(what)) for call, what in calls.items())


def _is_denied(text: str, start: int, end: int) -> bool:
    """Whether what stands there is denied, or told of long ago, within its clause."""
    before = _CLAUSE.split(text[max(0, start - 80) : start])[-1]
    after = _CLAUSE.split(text[end : end + 60])[0]
    said = text[start:end]
    if _PAST.search(f"{before} {said} {after}") or _DENIED_EN.search(before):
        return True
    return _DENIED_KO.search(after) is not None and not _NOT_A_DENIAL.search(said)
