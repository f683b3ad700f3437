"""CLAP NQ's form (arXiv 2404.02103): ``{"id", "input", "passages": [{"title", "text"}], "output": [{"answer"}]}``."""

from collections.abc import Mapping
from typing import Any

from selfright.evals.questions import Question
from selfright.evals.readers.rows import identifier, objects, text


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a row may be of this form."""
    return "input" in row and "passages" in row


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; without any answer text it is one that its passages cannot answer."""
    name = identifier(row, ("id",), otherwise)
    passages = [
        (f"{name}-{n}", str(passage.get("title") or ""), text(passage, "text"))
        for n, passage in enumerate(objects(row, "passages"))
    ]
    said = (output.get("answer") for output in objects(row, "output"))
    answers = tuple(answer for answer in said if isinstance(answer, str) and answer.strip())
    relevant = tuple(passage for passage, _, _ in passages) if answers else ()
    return [Question(name, text(row, "input"), answers, bool(answers), relevant, passages=tuple(passages))]
