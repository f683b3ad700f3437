"""Dose, route, frequency and time of a medicine, from the words around its name."""

import functools
import re
from collections.abc import Mapping

from selfright.domain.tables import read_table

_DOSE = re.compile(
    r"(?<![\d.])(?P<number>\d{1,5}(?:[.,]\d{1,3})?)\s?(?P<unit>mg|mcg|[µμu]g|g(?![a-z/])|밀리그램"
    r"|마이크로그램|그램|IU|units?|단위|유닛|㎎|mEq)(?!/d?L|/m?[lL])(?![a-zA-Z])"
)
_TABLE = read_table(__package__, "doses")
_OF = re.compile(r"\s+of\s")  # 100 mg of Zoloft: the dose of what follows
_BEFORE_OF = re.compile(r"\d[\w.,]*\s?[a-zA-Z㎎]+\s+of\s+(?:\w+\s+)?$")
_COUNT: dict[str, int] = _TABLE["counts"]
_N = rf"(?P<n>\d{{1,2}}|{'|'.join(_COUNT)})"


@functools.cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """The rules of ``doses.toml``."""
    return {
        kind: [(re.compile(pattern.replace("%N", _N), re.IGNORECASE), said) for pattern, said in _TABLE[kind]]
        for kind in ("frequency", "timing", "route")
    }


def details_of(before: str, name: str, after: str) -> Mapping[str, str]:
    """What the words before, in and behind a medicine's name say: ``dose``, ``frequency``, ``timing``, ``route``."""
    found: dict[str, str] = {}
    of = _BEFORE_OF.search(before[-30:])  # 20 mg of
    if dose := _dose(of.group() if of else "", last=True) or _dose(after) or _dose(before[-30:], last=True):
        found["dose"] = dose
    around = f"{before} {after}"
    if frequency := _find_rule("frequency", after) or _find_rule("frequency", before):
        found["frequency"] = frequency
    timing = _find_rule("timing", around)
    if timing and not (timing in ("morning", "evening") and "frequency" in found):
        found["timing"] = timing
    if route := _find_rule("route", f"{before} {name} {after}"):
        found["route"] = route
    return found


def _find_rule(kind: str, text: str) -> str | None:
    for pattern, reading in _rules()[kind]:
        if match := pattern.search(text):
            said = match.groupdict().get("n") or ""
            return reading.format(_COUNT.get(said.lower()) or int(said or 0))
    return None


def _dose(text: str, *, last: bool = False) -> str | None:
    found = [match for match in _DOSE.finditer(text) if last or not _OF.match(text, match.end())]
    if not found:
        return None
    match = found[-1 if last else 0]
    unit = _TABLE["units"].get(match["unit"].lower(), match["unit"])
    return f"{match['number'].replace(',', '')} {unit}"
