"""How long the judges of one turn take: ten passages graded and refined, an answer of five claims evaluated.

    python -m benchmarks.judging_time --data DIR [--questions 60]

Questions and passages of squad2 (paragraphs of about 700 characters) and covidqa (about 1,000). Each claim is a
sentence of the passages with a word left out, for what stands there word for word is settled at once. ``with the
network`` has passages read; cosines come with the hits, as from a search. ``embedded before``: the passages' sentences
have vectors in the cache already. ``processor`` is what all threads together
computed, which does not grow on a busy machine.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from selfright.domain.answers import Citation, Draft, EvaluationRequest, Sentence
from selfright.domain.composing import compose
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Hit
from selfright.domain.text import sentence_spans
from selfright.models.encoder import E5
from selfright.models.reader import PairViews, load_net
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from selfright.roles.similarity import SentenceSimilarity
from training.labelled import Corpus, read_rows

PASSAGES, CLAIMS = 10, 5
STEPS = ("grade", "refine", "evaluate", "together", "processor")


def with_cosines(question: str, hits: Sequence[Hit], embedder: E5) -> list[Hit]:
    """The hits as a search with the encoder brings them."""
    vectors = embedder.embed([f"{hit.passage.heading}\n{hit.passage.text}".strip() for hit in hits])
    cosines = vectors @ embedder.embed_query(question)
    return [replace(hit, cosine=float(c)) for hit, c in zip(hits, cosines, strict=True)]


def answer_from(hits: Sequence[Hit]) -> Draft:
    """Five sentences, each of another passage and short of a word, citing it."""
    sentences, citations = [], []
    for number, hit in enumerate(hits[:CLAIMS], 1):
        passage = hit.passage
        start, end = max(sentence_spans(passage.text), key=lambda span: span[1] - span[0])
        words = passage.text[start:end].split()
        sentences.append(Sentence(" ".join([*words[:2], *words[3:]]), (number,)))
        place = passage.start + start, passage.start + end
        citations.append(
            Citation(number, passage.id, passage.document_id, passage.title, "", *place, passage.text[start:end])
        )
    return Draft(compose(sentences), tuple(sentences), tuple(citations))


def timed(
    analyzer: TextAnalyzer,
    turns: Sequence[tuple[str, list[Hit]]],
    views: PairViews | None = None,
    likeness: SentenceSimilarity | None = None,
) -> np.ndarray:
    """Milliseconds, turns × steps; the first turn warms up and does not count."""
    reader = views.questions if views else None
    grader = OfflineGrader(analyzer, likeness, reader=reader)
    refiner = OfflineRefiner(UnitScorer(analyzer, reader, likeness))
    evaluator = LocalEvaluator(analyzer, reader=reader)
    rows = []
    for question, hits in turns:
        computed, marks = time.process_time(), [time.perf_counter()]
        grading = grader.grade_now(question, hits)
        marks.append(time.perf_counter())
        strips = refiner.filter(question, hits, grading).strips
        marks.append(time.perf_counter())
        request = EvaluationRequest(question, answer_from(hits), "en", QueryClass.QUESTION, tuple(hits), tuple(strips))
        asyncio.run(evaluator.evaluate(request))
        marks.append(time.perf_counter())
        rows.append([*np.diff(marks), marks[-1] - marks[0], time.process_time() - computed])
    return 1000 * np.array(rows[1:])


def report(name: str, milliseconds: np.ndarray) -> str:
    """p50 and p95 of each step."""
    middle, late = np.quantile(milliseconds, (0.5, 0.95), axis=0)
    return f"{name:28}" + "".join(f" {m:8.1f} / {w:6.1f}" for m, w in zip(middle, late, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=60)
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, searching = BilingualTokenizer(), E5()
    print("milliseconds, p50 / p95" + "".join(f" {step:>16}" for step in STEPS))
    for name in ("squad2", "covidqa"):
        corpus = Corpus.load(arguments.data / name / "corpus.jsonl", tokenizer)
        analyzer = TextAnalyzer(tokenizer, corpus.index.statistics)
        texts = [row["text"] for row in read_rows(arguments.data / name / "dev" / "queries.jsonl")]
        turns = []
        for text in texts[:: max(1, len(texts) // arguments.questions)][: arguments.questions + 1]:
            found = [corpus.passages[passage] for passage in corpus.best(text, PASSAGES)]
            if len(found) == PASSAGES:
                turns.append((text, [Hit(passage, 1 / (60 + rank)) for rank, passage in enumerate(found, 1)]))
        near = [(text, with_cosines(text, hits, searching)) for text, hits in turns]
        print(report(f"{name}, words only", timed(analyzer, turns)), flush=True)
        likeness = SentenceSimilarity(E5())
        for state in ("with the network", "… embedded before"):
            measured = timed(analyzer, near, PairViews(load_net()), likeness)
            print(report(f"{name}, {state}", measured), flush=True)


if __name__ == "__main__":
    main()
