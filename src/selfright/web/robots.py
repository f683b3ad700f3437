"""robots.txt, as RFC 9309 has it: groups by agent, the longest rule wins, ``*`` and ``$``.

Written here because rules come from strangers: matching is linear in the length of the path, whatever they say.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

MAX_BYTES = 500_000
_RULES = 5_000


@dataclass(frozen=True, slots=True)
class Rules:
    """What one group of a robots.txt says: (allowed, pattern) pairs, and seconds between requests."""

    lines: tuple[tuple[bool, str], ...] = ()
    delay_s: float = 0.0

    def allows(self, path: str) -> bool:
        """Whether a path (with its query) may be fetched; on a tie, allowing wins."""
        path = _normal(path)
        matching = [(len(pattern), allowed) for allowed, pattern in self.lines if _matches(pattern, path)]
        return max(matching, default=(0, True))[1]


EVERYTHING = Rules()
NOTHING = Rules(((False, "/"),))


def parse(text: str, agent: str) -> Rules:
    """The rules for ``agent`` (a product name without its version), else those for all."""
    groups: dict[str, list[tuple[str, str]]] = {}
    current: list[str] = []
    naming = False
    for line in text.removeprefix("\ufeff").splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            current = [*(current if naming else []), value.lower()]
            naming = True
        elif key in ("allow", "disallow", "crawl-delay"):
            naming = False
            for name in current[:20]:
                groups.setdefault(name, []).append((key, value))
    chosen = groups.get(agent.lower(), groups.get("*", []))
    return _rules(chosen[:_RULES])


def _rules(lines: Sequence[tuple[str, str]]) -> Rules:
    patterns = tuple((key == "allow", _normal(value)) for key, value in lines if key != "crawl-delay" and value)
    return Rules(patterns, max((_seconds(value) for key, value in lines if key == "crawl-delay"), default=0.0))


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return max(value, 0.0) if math.isfinite(value) else 0.0


def _normal(path: str) -> str:
    """Paths and patterns in one spelling of their escapes."""
    return quote(unquote(path, errors="replace"), safe="/*$?&=:@!'()+,;-._~")


def _matches(pattern: str, path: str) -> bool:
    anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    for n, piece in enumerate(others):
        if anchored and n == len(others) - 1:
            return len(path) - len(piece) >= place and path.endswith(piece)
        found = path.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return not anchored or place == len(path)
