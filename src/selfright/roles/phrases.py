"""Key terms as a reader would write them: neighbours joined again."""

import re
from collections.abc import Iterable, Sequence

from selfright.roles.analysis import Term

_TIES = re.compile(r"[\s\-·/]*(?:의\s|of\s|of the\s|['’]s\s)?\s*")
_SHORTEST = 2


def phrases(text: str, terms: Iterable[Term]) -> list[str]:
    """The ``terms`` of ``text`` in reading order, those that stand side by side joined; single letters are left out."""
    runs: list[list[Term]] = []
    for term in sorted(terms, key=lambda term: term.start):
        if runs and _adjoins(text, runs[-1][-1], term):
            runs[-1].append(term)
        else:
            runs.append([term])
    found = (_written(text, run) for run in runs)
    return list(dict.fromkeys(phrase for phrase in found if len(phrase) >= _SHORTEST))


def distinct(terms: Iterable[Term]) -> list[Term]:
    """The ``terms`` of one text without those inside another ("주전자" in "전기주전자"), in reading order."""
    kept: list[Term] = []
    for term in sorted(terms, key=lambda term: (term.start, -len(term.surface))):
        if not kept or term.start + len(term.surface) > kept[-1].start + len(kept[-1].surface):
            kept.append(term)
    return kept


def _adjoins(text: str, left: Term, right: Term) -> bool:
    end = left.start + len(left.surface)
    return right.start < end or _TIES.fullmatch(text, end, right.start) is not None


def _written(text: str, run: Sequence[Term]) -> str:
    if len(run) == 1:
        return run[0].surface
    return text[run[0].start : max(term.start + len(term.surface) for term in run)]
