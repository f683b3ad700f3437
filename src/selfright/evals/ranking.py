"""Measures of rankings, by ``ir-measures`` over trec_eval, and run files as TREC writes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from selfright.domain.errors import MissingExtra, UsageError
from selfright.evals.beir import JudgedQuery

MEASURES = ("nDCG@10", "R@10", "R@100", "P@10", "RR@10")
"""nDCG with linear gains; recall, precision and reciprocal rank (whose mean is MRR)."""

Rankings = Mapping[str, Sequence[str]]
"""Query id → document ids, best first, each once."""


def parsed(names: Iterable[str]) -> list[Any]:
    """Measures by name, each once. Raises ``UsageError`` for an unknown name, ``MissingExtra`` without the library."""
    library = _library()
    found: dict[str, Any] = {}
    for name in names:
        try:
            found[name] = library.parse_measure(name)
        except (AssertionError, KeyError, NameError, SyntaxError, TypeError, ValueError):
            known = ", ".join(MEASURES)
            raise UsageError(f"unknown measure '{name}'; write it as in {known}, with any number behind @") from None
    return list(found.values())


def depth_of(measures: Sequence[Any]) -> int:
    """How many documents of a ranking the measures look at; at least 100, for run files."""
    return max([100, *(int(measure.params.get("cutoff") or 0) for measure in measures)])


def scored(rankings: Rankings, queries: Sequence[JudgedQuery], measures: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Query id → measure → value, for every query, also those for which nothing was found."""
    library = _library()
    judged = [library.Qrel(query.id, document, grade) for query in queries for document, grade in query.grades.items()]
    # trec_eval sorts by score and keeps floats: whole numbers that fall by one keep our order whatever it does.
    run = [
        library.ScoredDoc(name, document, float(-place))
        for name, documents in rankings.items()
        for place, document in enumerate(documents)
    ]
    found = {query.id: dict.fromkeys(map(str, measures), 0.0) for query in queries}
    for metric in library.iter_calc(list(measures), judged, run):
        if metric.query_id in found:
            found[metric.query_id][str(metric.measure)] = float(metric.value)
    return found


def run_lines(rankings: Rankings, tag: str) -> Iterable[str]:
    """A run file's lines, ``query Q0 document rank score tag``; scores only say the order. Blanks in ids become _."""
    for name, documents in rankings.items():
        for rank, document in enumerate(documents, start=1):
            yield f"{_word(name)} Q0 {_word(document)} {rank} {len(documents) - rank + 1} {_word(tag)}\n"


def _word(name: str) -> str:
    return "_".join(name.split()) or "_"


def _library() -> Any:
    try:
        import ir_measures
    except ModuleNotFoundError:
        raise MissingExtra("ir-measures, which measures rankings,", "pip install 'selfright[eval]'") from None
    return ir_measures
