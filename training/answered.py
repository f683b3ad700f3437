"""Answers and claims beside their evidence, with what people make of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.passages import Passage
from selfright.domain.ports import Tokenizer
from selfright.roles.analysis import TextAnalyzer
from training.bm25 import Index
from training.labelled import passage, read_rows

REVIEWS = ("airbnb", "NSMC")


@dataclass(frozen=True)
class Answered:
    """An answer beside its evidence: 1 when people call it supported. Rows of one ``group`` are not independent."""

    group: str
    question: str
    evidence: tuple[Passage, ...]
    answer: str
    label: int


def mtrag(data: Path) -> Iterator[Answered]:
    """Answers of language models and people, each voted on by three."""
    for row in read_rows(data / "mtrag" / "dev" / "answer_human_eval.jsonl"):
        evidence = tuple(passage(f"{row['id']}/{n}", "", text) for n, text in enumerate(row["contexts"]))
        if evidence:
            label = int(row["faithfulness_median"] >= 3)
            yield Answered(row["task_id"].split("<::>")[0], row["question"], evidence, row["answer"], label)


def summedits(data: Path) -> Iterator[Answered]:
    """Summaries, most of them with one small edit."""
    texts = {row["doc_id"]: row["text"] for row in read_rows(data / "summedits" / "docs.jsonl")}
    for row in read_rows(data / "summedits" / "dev" / "grounded.jsonl"):
        evidence = (passage(row["doc_id"], "", texts[row["doc_id"]]),)
        yield Answered(row["doc_id"], "", evidence, row["answer"], row["label"])


def klue_nli(data: Path) -> Iterator[Answered]:
    """Korean sentences that follow from another, or do not."""
    for row in read_rows(data / "klue_nli" / "dev" / "grounded.jsonl"):
        if row["domain"] not in REVIEWS:
            yield Answered(row["context"], "", (passage(row["id"], "", row["context"]),), row["answer"], row["label"])


def healthver_nc(data: Path) -> Iterator[Answered]:
    """Medical claims beside a sentence or two of an abstract."""
    for row in read_rows(data / "healthver_nc" / "dev" / "grounded.jsonl"):
        evidence = (passage(row["id"], "", row["context"]),)
        yield Answered(row["question"], row["question"], evidence, row["answer"], row["label"])


def analyzer_of(rows: Sequence[Answered], tokenizer: Tokenizer) -> TextAnalyzer:
    """Words weighted by how rare they are in the set's evidence."""
    texts = {each.text for row in rows for each in row.evidence}
    return TextAnalyzer(tokenizer, Index(tokenizer.tokens(text) for text in sorted(texts)).statistics)
