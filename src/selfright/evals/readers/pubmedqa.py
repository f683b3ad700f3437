"""PubMedQA's form (arXiv 1909.06146): one object, ``{id: {"QUESTION", "CONTEXTS", "LONG_ANSWER"}}``.

The gold answer is the long one: a lone "no" is part of too many sentences to tell a right answer by.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, Row, kind, text, texts, whole_json


def rows(path: Path) -> Iterator[Row]:
    """The file's entries, each with its id as ``PMID``."""
    data = whole_json(path)
    if not isinstance(data, dict):
        yield "the file", BadRow(f"expected an object of id and question, got {kind(data)}")
        return
    for name, entry in data.items():
        found = {**entry, "PMID": name} if isinstance(entry, dict) else BadRow(f"expected an object, got {kind(entry)}")
        yield f"entry '{name}'", found


def fits(row: Mapping[str, Any]) -> bool:
    """Whether an entry may be of this form."""
    return "QUESTION" in row


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The entry's question; its abstract, without the conclusion that answers, is the relevant document."""
    name = str(row.get("PMID", otherwise))
    contexts = texts(row, "CONTEXTS")
    answers = texts(row, "LONG_ANSWER")
    passages = ((name, "", "\n\n".join(contexts)),) if contexts else ()
    relevant = (name,) if contexts else ()
    return [Question(name, text(row, "QUESTION"), answers, True if answers else None, relevant, passages=passages)]
