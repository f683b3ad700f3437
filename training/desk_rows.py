"""Rows of questions that people would type at a help desk, over real documentation, as the judges would read them.

    python -m training.desk_rows --sections FILE --work DIR

Each set of ``training.desk`` becomes an index over documents made from ``--sections``; what the grader and the writer
would have the network read of the first hits becomes rows.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from selfright import Selfright
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Hit, Language, Strip
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.answer_units import answer_units
from selfright.roles.reading import QuestionFeatures, network_text, readings
from training.desk import HELD, QUESTIONS, SOURCES, DeskQuestion, pattern, questions_of, write_documents
from training.reading_rows import Row

DEPTH = 10
PIECES, AT_RANDOM = 6, 2  # that are read alone, of those that do not answer: most of the question's words, and others


class Listening:
    """A ``PairJudge`` that only remembers what it was asked to read."""

    name = "listening"
    languages: Sequence[Language] = ("en", "ko")

    def __init__(self) -> None:
        self.heard: list[str] = []

    def read(self, text: str, passages: Sequence[str]) -> Sequence[PairReading]:
        """Says nothing of any."""
        self.heard += passages if text else ()
        return [PairReading(0.0) for _ in passages]


def rows_of(name: str, documents: Path, index: Path) -> Iterator[Row]:
    """What would be read of each question of a set, with its label."""
    asked, listening = questions_of(name, documents), Listening()
    chooser = random.Random(name)
    with Selfright.open(index) as selfright:
        selfright.add([documents / name])
        analyzer = TextAnalyzer(BilingualTokenizer(), selfright._engine.index.statistics())
        for one in asked:
            hits = selfright.retrieve(one.question, k=DEPTH).hits
            features = QuestionFeatures.of(one.question, analyzer)
            listening.heard.clear()
            readings(features, [hit.passage for hit in hits], listening)
            pieces = list(_pieces(one, features, hits, chooser))
            title = {hit.passage.document_id: hit.passage.title for hit in hits}.get(one.document, "")
            yield from _labelled(name, one, [*listening.heard, *pieces], title, asked)


def _pieces(
    one: DeskQuestion, features: QuestionFeatures, hits: Sequence[Hit], chooser: random.Random
) -> Iterator[str]:
    units = answer_units(Strip(h.passage, h.passage.start, h.passage.end, h.passage.text, 1.0) for h in hits)
    others = []
    for unit in units:
        if one.label(unit.text):
            yield network_text(unit.strip.passage, unit.text)
        else:
            others.append(unit)
    chooser.shuffle(others)
    others.sort(key=lambda unit: -features.matcher.share(features.matcher.places(unit.text)))
    chosen = others[:PIECES] + others[PIECES:][:AT_RANDOM]
    yield from (network_text(unit.strip.passage, unit.text) for unit in chosen)


def desk_rows(folder: Path, *, held: bool) -> Iterator[Row]:
    """The rows made before, of the sets that are ``held`` back or of the others."""
    for name in SOURCES:
        path = folder / f"desk-{name}.jsonl"
        if path.exists() and (name in HELD) == held:
            with path.open(encoding="utf-8") as lines:
                yield from (Row(*json.loads(line)) for line in lines)


def _labelled(
    name: str, one: DeskQuestion, heard: Sequence[str], title: str, asked: Sequence[DeskQuestion]
) -> Iterator[Row]:
    group = f"desk/{name}/{one.document}"

    def row(text: str, label: int) -> Row:
        start, end = place(one.answer, text) if label else (-1, -1)
        return Row(False, f"desk_{name}", group, one.question, "", text, label, -1, start, end)

    for text in dict.fromkeys(heard):
        label = one.label(text)
        if label is not None:
            yield row(text, label)
    above = f"{title}\n" if title else ""
    said = one.quote or one.near
    if said:
        yield row(above + said, int(bool(one.answer)))
        others = [o.quote for o in asked if o.document == one.document and o is not one and o.quote]
        yield from (row(above + other, 0) for other in others[:2] if one.label(other) == 0)


def place(answer: str, text: str) -> tuple[int, int]:
    """Where the answer stands in a text, whatever the blanks; -1 and -1 where it does not."""
    found = re.search(pattern(answer), text, re.IGNORECASE)
    return found.span() if found else (-1, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    documents = options.work / "documents"
    write_documents(options.sections, documents)
    for name in SOURCES:
        place_of = options.work / f"desk-{name}.jsonl"
        if (QUESTIONS / f"{name}.jsonl").exists() and not place_of.exists():
            rows = list(rows_of(name, documents, options.work / f"index-{name}"))
            lines = (json.dumps([getattr(row, n) for n in Row.__slots__], ensure_ascii=False) for row in rows)
            place_of.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(name, len(rows), sum(row.label for row in rows), flush=True)


if __name__ == "__main__":
    main()
