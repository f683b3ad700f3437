"""Words, meaning and their fusions over the same queries: rankings, measures, and which differences are no chance.

Rankings are measured by ``ir-measures`` over trec_eval, and written as run files in the form of TREC.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from pathlib import Path
from typing import Any

from selfright.api.selfright import Selfright
from selfright.domain.errors import EmbeddingFailed, MissingExtra, UsageError
from selfright.domain.passages import Hit, Ranked
from selfright.evals.aggregation import compare, estimate
from selfright.evals.beir import JudgedQuery, RetrievalSet
from selfright.evals.results import Row, RunResult, Study, Value
from selfright.evals.running import index_facts, now, versions
from selfright.storage.files import write_atomically

MEASURES = ("nDCG@10", "R@10", "R@100", "P@10", "RR@10")
"""nDCG with linear gains; recall, precision and reciprocal rank (whose mean is MRR)."""

Rankings = Mapping[str, Sequence[str]]
"""Query id → document ids, best first, each once."""


def parse_measures(names: Iterable[str]) -> list[Any]:
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


def score_rankings(
    rankings: Rankings, queries: Sequence[JudgedQuery], measures: Sequence[Any]
) -> dict[str, dict[str, float]]:
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
    return MissingExtra.load("ir-measures, which measures rankings,", "eval", "ir_measures")


Progress = Callable[[int, int, str], None]

SYSTEMS: Mapping[str, str] = {
    "bm25": "words alone",
    "dense": "meaning alone",
    "rrf": "both, by plain reciprocal rank fusion",
    "hybrid": "both, as a turn searches",
}
_DEEPEST = 4_000  # passages of one search
_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """The study, and each system's rankings for its run file."""

    study: Study
    rankings: Mapping[str, Rankings]


def evaluate_retrieval(
    selfright: Selfright,
    data: RetrievalSet,
    *,
    measures: Sequence[str] = MEASURES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Measured:
    """Searches for each query, plainly and as a turn does, and measures what words, meaning and fusions found.

    Documents rank at their best passage. A set whose index has no embedder has no ``dense`` and no fusions worth the
    name; then ``bm25`` and ``hybrid`` alone are measured.
    """
    wanted = parse_measures(measures)
    depth = depth_of(wanted)
    rankings: dict[str, dict[str, Sequence[str]]] = {name: {} for name in SYSTEMS}
    for number, query in enumerate(data.queries):
        if progress:
            progress(number, len(data.queries), query.text)
        for system, ranking in _rankings(selfright, query.text, depth).items():
            rankings[system][query.id] = ranking
    index = index_facts(selfright)
    systems = [name for name in SYSTEMS if name in ("bm25", "hybrid") or index.embedder not in ("", "none")]
    results = tuple(_result(name, rankings[name], data.queries, wanted, seed) for name in systems)
    pairs = list(combinations(systems, 2))
    study = Study(
        kind="retrieval",
        created=now(),
        data=data.facts(),
        index=index,
        judge="none",
        seed=seed,
        versions=versions(),
        runs=results,
        comparisons=compare(results, pairs, seed),
    )
    return Measured(study, {name: rankings[name] for name in systems})


def write_runs(measured: Measured, out: Path) -> list[Path]:
    """Writes each system's run file to ``out/runs``; gives back the paths."""
    folder = out / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for system, rankings in measured.rankings.items():
        paths.append(folder / f"{system}.trec")
        write_atomically(paths[-1], "".join(run_lines(rankings, f"selfright-{system}")).encode())
    return paths


def _rankings(selfright: Selfright, query: str, depth: int) -> dict[str, Sequence[str]]:
    """One search fused plainly, the two rankings that went into it, as far as they are known whole, and a turn's.

    A fused list shows each half's places, but may lack a passage that only one half had, far down. So only places
    without a gap before them are taken, and the search is repeated deeper while that is too few.
    """
    k = depth * _FACTOR
    while True:
        hits = _search(selfright, query, k, {"fusion": "rrf"})
        halves = {"bm25": _half(hits, lambda hit: hit.bm25), "dense": _half(hits, lambda hit: hit.dense)}
        if k >= _DEEPEST or len(hits) < k or all(len(half) >= depth for half in halves.values()):
            break
        k = min(_DEEPEST, 2 * k)
    adaptive = _search(selfright, query, depth * _FACTOR)
    found = {**halves, "rrf": _documents(hits), "hybrid": _documents(adaptive)}
    return {name: documents[:depth] for name, documents in found.items()}


def _search(selfright: Selfright, query: str, k: int, flags: Mapping[str, str] | None = None) -> Sequence[Hit]:
    found = selfright.retrieve(query, k, flags=flags)
    if found.lacks_meaning:
        raise EmbeddingFailed("the embedder cannot be used now; a set is measured by words and meaning, or not at all")
    return found.hits


def _half(hits: Sequence[Hit], place: Callable[[Hit], Ranked | None]) -> Sequence[str]:
    placed = sorted((ranked.rank, hit.passage.document_id) for hit in hits if (ranked := place(hit)))
    whole = takewhile(lambda pair: pair[0] == pair[1][0], enumerate(placed, start=1))
    return list(dict.fromkeys(document for _, (_, document) in whole))


def _documents(hits: Sequence[Hit]) -> Sequence[str]:
    return list(dict.fromkeys(hit.passage.document_id for hit in hits))


def _result(
    system: str, rankings: Rankings, queries: Sequence[JudgedQuery], wanted: Sequence[Any], seed: int
) -> RunResult:
    values = score_rankings(rankings, queries, wanted)
    summary = {
        name: estimate([values[query.id][name] for query in queries], seed, f"{name} {system}")
        for name in map(str, wanted)
    }
    rows = []
    for query in queries:
        relevant = tuple(document for document, grade in query.grades.items() if grade > 0)
        why = f"{len(relevant)} relevant, {len(rankings[query.id])} found"
        metrics = {name: Value(value, why) for name, value in values[query.id].items()}
        rows.append(Row(query.id, query.text, relevant=relevant, metrics=metrics))
    return RunResult(system=system, preset=None, flags={}, models={}, rows=tuple(rows), summary=summary)
