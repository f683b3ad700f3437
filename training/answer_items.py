"""Questions and the passages that answer them, with the places of the answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.passages import Passage
from selfright.domain.ports import TermStatistics, Tokenizer
from training.bm25 import Index
from training.labelled import Corpus, passage, read_rows

LONG_ENOUGH = 300  # characters of a passage of tydiqa: many are one sentence
KOREAN = 800  # questions of korquad


@dataclass(frozen=True)
class Item:
    """A question, a passage that answers it, and where in the passage's text."""

    dataset: str
    question: str
    passage: Passage
    answers: tuple[tuple[int, int], ...]
    group: str
    statistics: TermStatistics


def items(data: Path, tokenizer: Tokenizer) -> Iterator[Item]:
    """Answerable questions of the four sets."""
    corpus = Corpus.load(data / "squad2" / "corpus.jsonl", tokenizer)
    for row in read_rows(data / "squad2" / "dev" / "abstain.jsonl"):
        if row["answerable"]:
            at = corpus.passages[row["doc_id"]]
            spans = tuple(span for answer in sorted(set(row["answers"])) for span in occurrences(at.text, answer))
            yield Item("squad2", row["question"], at, spans, row["article"], corpus.index.statistics)
    corpus = Corpus.load(data / "covidqa" / "corpus.jsonl", tokenizer)
    starts = {row["_id"]: row["metadata"]["start"] for row in read_rows(data / "covidqa" / "corpus.jsonl")}
    for row in read_rows(data / "covidqa" / "dev" / "qa.jsonl"):
        at = corpus.passages[row["chunk_ids"][0]]
        start = row["answer_start"] - starts[at.id]
        span = (max(0, start), min(len(at.text), start + len(row["answer"])))
        yield Item("covidqa", row["question"], at, (span,), row["doc_id"], corpus.index.statistics)
    corpus = Corpus.load(data / "korquad" / "corpus.jsonl", tokenizer)
    for row in list(read_rows(data / "korquad" / "dev" / "qa.jsonl"))[:KOREAN]:
        at = corpus.passages[row["doc_id"]]
        spans = tuple(occurrences(at.text, row["answers"][0]))
        yield Item("korquad", row["question"], at, spans, row["article"], corpus.index.statistics)

    yield from _tydiqa(data, tokenizer)


def _tydiqa(data: Path, tokenizer: Tokenizer) -> Iterator[Item]:
    rows = list(read_rows(data / "tydiqa_ko_en" / "dev" / "pairs.jsonl"))
    statistics = Index(tokenizer.tokens(f"{row['title']}\n{row['passage']}") for row in rows).statistics
    for row in rows:
        if row["label"] and len(row["passage"]) > LONG_ENOUGH:
            spans = tuple(
                span for answer in sorted(set(row["answers"])) for span in occurrences(row["passage"], answer)
            )
            at = passage(row["id"], row["title"] or "", row["passage"])
            yield Item("tydiqa_ko_en", row["query"], at, spans, row["group"], statistics)


def occurrences(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Every place of ``part`` in ``text``."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)
