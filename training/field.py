"""The field sets for tuning as labelled cases: what a search of their documents brings for questions worded as people
word them, whose words are seldom the documents'.

``--field DIR`` of the fits names a folder with one folder of documents for each set (``benchmarks/field/README.md``).
The kept set is never read here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.domain.passages import Hit
from selfright.domain.ports import TermStatistics
from training.labelled import Candidate, Case

SETS = ("handbook", "fastapi")
QUESTIONS = Path(__file__).parent.parent / "benchmarks" / "field"
DEPTH = 10


def asked(
    name: str, documents: Path, cache: Path
) -> Iterator[tuple[Mapping[str, Any], tuple[Hit, ...], TermStatistics]]:
    """Each question of a set, the ten best hits for it, and the statistics of the index, which is kept in ``cache``."""
    place = cache / f"field-{name}"
    new = not place.exists()
    with Selfright.open(place) as selfright, (QUESTIONS / name / "questions.jsonl").open(encoding="utf-8") as lines:
        if new:
            selfright.add([documents / name])
        statistics = selfright._engine.index.statistics()
        for line in lines:
            question = json.loads(line)
            yield question, selfright.retrieve(question["question"], k=DEPTH).hits, statistics


def label(question: Mapping[str, Any], document: str, text: str) -> int | None:
    """1 where a gold pattern stands in ``text``, 0 where none does; None where one does in another document than the
    one that was read when the question was written: nobody knows."""
    if not any(re.search(pattern, text, re.IGNORECASE) for pattern in question.get("patterns") or ()):
        return 0
    return 1 if document in question["relevant"] else None


def cases(name: str, documents: Path, cache: Path) -> Iterator[Case]:
    """One for each question; what nobody knows is left out."""
    for question, hits, statistics in asked(name, documents, cache):
        labelled = [(hit.passage, label(question, hit.passage.document_id, hit.passage.text)) for hit in hits]
        found = tuple(Candidate(passage, known, "retrieved") for passage, known in labelled if known is not None)
        if found:
            yield Case(f"field_{name}", question["id"], question["question"], question["id"], found, statistics)
