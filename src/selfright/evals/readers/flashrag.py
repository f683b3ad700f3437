"""FlashRAG's form: ``{"id", "question", "golden_answers": [text], "metadata"}`` a line."""

from collections.abc import Mapping
from typing import Any

from selfright.evals.questions import Question
from selfright.evals.readers.rows import identifier, text, texts


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a row may be of this form."""
    return "golden_answers" in row


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; its sets hold questions that have an answer."""
    answers = texts(row, "golden_answers")
    return [Question(identifier(row, ("id",), otherwise), text(row, "question"), answers, True if answers else None)]
