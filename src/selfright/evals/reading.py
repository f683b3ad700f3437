"""Question sets as files: JSON Lines of ``{"id", "question", "answers", "patterns", "answerable", …}`` (SPEC 16).

All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals.patterns import compile_pattern
from selfright.evals.questions import Question, QuestionSet, file_sha256
from selfright.evals.rows import BadRow, identifier, kind, objects, read_rows, text, texts, truth

_ROLES = ("user", "assistant")
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500


def load(path: Path) -> QuestionSet:
    """The questions of a file. Raises ``InputError`` for rows that are none, and for two of one id."""
    questions = read_rows(path, lambda row, where: question_of(row, where.replace(" ", "-")))
    if not questions:
        raise InputError(f"{path}: no questions in it; expected at least one row with 'question'")
    for name, count in Counter(question.id for question in questions).items():
        if count > 1:
            raise InputError(f"{path}: the id '{name}' stands twice; each question needs one of its own")
    return QuestionSet(path.name, file_sha256([path]), tuple(questions), len(questions))


def question_of(row: Mapping[str, Any], otherwise: str) -> Question:
    """The row's question; ``otherwise`` is its id when it has none. Raises ``BadRow`` for what is none."""
    answers = texts(row, "answers") or texts(row, "answer")
    patterns = _patterns(row)
    answerable = truth(row, "answerable")
    asked_about = identifier(row, ("doc_id",), "")
    document = (asked_about,) if asked_about and answerable is not False else ()
    profile = row.get("profile")
    if profile is not None and not isinstance(profile, dict):
        raise BadRow(f"expected an object as 'profile', got {kind(profile)}")
    return Question(
        id=identifier(row, ("id", "_id"), otherwise),
        question=text(row, "question"),
        answers=answers,
        answerable=True if answerable is None and (answers or patterns) else answerable,
        relevant=texts(row, "relevant") or document,
        history=tuple(_message(message) for message in objects(row, "history")),
        profile=profile or {},
        patterns=patterns,
    )


def _patterns(row: Mapping[str, Any]) -> tuple[str, ...]:
    found = texts(row, "patterns")
    if len(found) > _MOST_PATTERNS or any(len(pattern) > _LONGEST_PATTERN for pattern in found):
        raise BadRow(f"expected at most {_MOST_PATTERNS} 'patterns' of at most {_LONGEST_PATTERN} characters")
    for pattern in found:
        try:
            compile_pattern(pattern)
        except ValueError as error:
            raise BadRow(f"expected regular expressions as 'patterns', and one is none ({error})") from None
    return found


def _message(message: Mapping[str, Any]) -> Message:
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES or not isinstance(content, str):
        raise BadRow("expected messages {'role': 'user' or 'assistant', 'content': text} as 'history'")
    return Message(role, content)
