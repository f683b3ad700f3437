"""Reading values that a model wrote: scores, yes or no, lists of phrases. What cannot be read for sure is refused.

Nothing is clamped, rounded or guessed: a score outside 0…1 is a judge's failure, not a good or a bad score. Messages
name the kind of value that came, never the value, which may quote a document.
"""

import math
import re

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
# Python's own digits would take in superscripts and other scripts. Possessive, so that no text is tried twice.
_NUMBER = r"(?:[0-9]{1,9}+(?:[.,][0-9]{1,20}+)?|\.[0-9]{1,20}+)"
_SCORE = re.compile(rf"({_NUMBER})(?:\s*+(%)|\s*+/\s*+({_NUMBER}))?")
_THOUSANDS = re.compile(r"0*[1-9][0-9]*,[0-9]{3}")  # 1,000 is a thousand in English and one elsewhere: not sure

_YES = frozenset({"true", "yes", "y", "예", "네", "참"})
_NO = frozenset({"false", "no", "n", "아니오", "아니요", "거짓"})

MOST_STRINGS = 20
LONGEST_STRING = 300
_LONGEST_TEXT = 20_000
_BULLET = re.compile(r"^\s*+(?:[-*+•·▪◦]|\(?[0-9]{1,3}[.)](?=\s))\s*+")
_NOTHING = frozenset({"", "-", "none", "n/a", "null", "없음", "해당 없음"})


def half_width(text: str) -> str:
    """Full-width forms (``０.８``, ``：``) as their ASCII twins, the length unchanged; all else as it is."""
    return text.translate(_FULL_WIDTH)


def score(value: object) -> float:
    """A number from 0 to 1, from a number or from ``"0.8"``, ``"0,8"``, ``"80%"``, ``"8/10"``, full-width digits too.

    Raises ``ValueError`` for all else: not finite, out of range, a bool, words, nothing, a list.
    """
    number = _number(value)
    if number is None or not 0.0 <= number <= 1.0:  # a NaN is in no range
        raise ValueError(f"expected a score from 0 to 1, got {_kind(value)}; ask the judge again")
    return abs(number)  # -0.0 is 0


def truth(value: object) -> bool:
    """True or false, from a bool or from words such as ``"yes"``, ``"예"``, ``"아니오"``; else ``ValueError``."""
    if isinstance(value, bool):
        return value
    word = value[:20].strip().rstrip(".").casefold() if isinstance(value, str) else ""
    if word in _YES or word in _NO:
        return word in _YES
    raise ValueError(f"expected true or false, got {_kind(value)}; ask the judge again")


def strings(value: object) -> tuple[str, ...]:
    """Phrases from a list of strings, or from one string of lines; at most 20 of at most 300 characters, cut off there.

    Bullets and words for nothing (``"none"``, ``"없음"``) are left out; None is no phrase. Else ``ValueError``.
    """
    if value is None:
        return ()
    items = value[:_LONGEST_TEXT].splitlines() if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError(f"expected a list of strings, got {_kind(value)}; ask the judge again")
    return tuple(phrase for item in items[:MOST_STRINGS] if (phrase := _phrase(item)))


def _phrase(item: object) -> str:
    if item is None:
        return ""
    if not isinstance(item, str):
        raise ValueError(f"expected a list of strings, got one with {_kind(item)} in it; ask the judge again")
    phrase = _BULLET.sub("", item[: 2 * LONGEST_STRING], count=1).strip()[:LONGEST_STRING].rstrip()
    return "" if phrase.casefold() in _NOTHING else phrase


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return _parse_number(half_width(value[:100]).strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= 1 else None  # the largest integers are no floats


def _parse_number(text: str) -> float | None:
    found = _SCORE.fullmatch(text)
    if found is None or any(_THOUSANDS.fullmatch(part) for part in found.group(1, 3) if part):
        return None
    number = _decimal(found[1])
    whole = 100.0 if found[2] else _decimal(found[3]) if found[3] else 1.0
    return number / whole if whole else None


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


def _kind(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "a number that is not finite"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number out of range"
    return "nothing" if value is None or value == "" else f"a {type(value).__name__}"
