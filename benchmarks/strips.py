"""What refining leaves of passages that hold an answer: how often the answer's words survive, how much text goes.

    python -m benchmarks.strips --data DIR [--limit 400] [--no-reader]

Each passage once alone, and once among the eight that BM25 brings for the question, graded first, as in a turn. Kept
is an answer of which at least half stands in the strips; ``whole`` counts those that stand there to the last letter.
Only questions are asked that the network has not learnt from;
korquad took no part in anything.
"""

import argparse
from collections.abc import Container, Sequence
from pathlib import Path

import numpy as np

from selfright.domain.passages import Hit, Passage
from selfright.domain.ports import PairJudge, Tokenizer
from selfright.models.reader import PairViews, load_net
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from training.answer_items import Item, items
from training.labelled import Corpus
from training.reading_rows import learnt_questions

SAMPLES, SEED = 2_000, 7
NEIGHBOURS = 8


class Bench:
    """Refines passages of one corpus."""

    def __init__(self, corpus: Corpus, reader: PairJudge | None) -> None:
        analyzer = TextAnalyzer(corpus.tokenizer, corpus.index.statistics)
        self._corpus = corpus
        self._grader = OfflineGrader(analyzer, reader=reader)
        self._refiner = OfflineRefiner(UnitScorer(analyzer, reader))

    def alone(self, item: Item) -> tuple[float, float]:
        """The largest share of an answer that survives, and the share of text that goes."""
        refined = self._refiner.filter(item.question, [Hit(item.passage, 1.0)])
        return survived(item, [(s.start, s.end) for s in refined.strips]), refined.removed_share

    def in_a_set(self, item: Item) -> tuple[float, float]:
        """The same among what a search brings; the share that goes is that of all passages."""
        found = [self._corpus.passages[name] for name in self._corpus.best(item.question, NEIGHBOURS)]
        passages: list[Passage] = found if item.passage in found else [item.passage, *found[: NEIGHBOURS - 1]]
        hits = [Hit(passage, 1 / (60 + rank)) for rank, passage in enumerate(passages, 1)]
        refined = self._refiner.filter(item.question, hits, self._grader.grade_now(item.question, hits))
        mine = [(s.start, s.end) for s in refined.strips if s.passage.id == item.passage.id]
        return survived(item, mine), refined.removed_share


def survived(item: Item, spans: Sequence[tuple[int, int]]) -> float:
    """The largest share of one answer's characters that lie within the spans."""
    covered = {at for start, end in spans for at in range(start, end)}
    shift = item.passage.start
    return max(
        (sum(shift + at in covered for at in range(start, end)) / (end - start) for start, end in item.answers),
        default=0.0,
    )


def line(name: str, view: str, results: Sequence[tuple[float, float]]) -> str:
    """One row of the table, with a 95 % interval of the share kept."""
    kept = np.array([share >= 0.5 for share, _ in results], dtype=float)
    whole = np.mean([share > 0.999 for share, _ in results])
    drawn = np.random.default_rng(SEED).integers(0, len(kept), (SAMPLES, len(kept)))
    low, high = np.quantile(kept[drawn].mean(axis=1), (0.025, 0.975))
    removed = np.mean([gone for _, gone in results])
    return f"{name:9} {view:8} {len(kept):5} {kept.mean():7.3f} [{low:.3f}, {high:.3f}] {whole:7.3f} {removed:8.3f}"


def sampled(data: Path, tokenizer: Tokenizer, limit: int, seen: Container[str]) -> dict[str, list[Item]]:
    """Set → at most ``limit`` of its items not ``seen`` whose answers stand in the passage, drawn evenly."""
    found: dict[str, list[Item]] = {}
    for item in items(data, tokenizer):
        fresh = item.question.strip().lower() not in seen
        if fresh and item.answers and all(end > start for start, end in item.answers):
            found.setdefault(item.dataset, []).append(item)
    return {name: rows[:: -(-len(rows) // limit)] for name, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--no-reader", action="store_true")
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, reader = BilingualTokenizer(), None if arguments.no_reader else PairViews(load_net()).questions
    seen = learnt_questions(arguments.data)
    print("set       passage  cases    kept [95 % interval]   whole  removed")
    for name, rows in sampled(arguments.data, tokenizer, arguments.limit, seen).items():
        if not (arguments.data / name / "corpus.jsonl").exists():
            continue  # pairs, without a corpus to search
        bench = Bench(Corpus.load(arguments.data / name / "corpus.jsonl", tokenizer), reader)
        print(line(name, "alone", [bench.alone(item) for item in rows]), flush=True)
        print(line(name, "in a set", [bench.in_a_set(item) for item in rows]), flush=True)


if __name__ == "__main__":
    main()
