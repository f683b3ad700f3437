"""Question sets as files: JSON Lines of ``{"id", "question", "answers", "patterns", "answerable", …}`` (SPEC 16).

All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals.patterns import compile_pattern
from selfright.evals.questions import Question, QuestionSet, file_sha256
from selfright.evals.rows import BadRow, identifier, json_lines, kind, objects, text, texts, truth

_ROLES = ("user", "assistant")
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500
_NAMED = 5


def load(path: Path) -> QuestionSet:
    """The questions of a file.

    Raises ``InputError`` when there is a row that is no question, with the first such rows and what was expected
    there: nothing is left out in silence.
    """
    questions: list[Question] = []
    bad: list[str] = []
    for where, row in json_lines(path):
        try:
            questions.append(question_of(row, where.replace(" ", "-")))
        except BadRow as error:
            bad.append(f"{where}: {error}")
    if bad:
        more = f"; and {len(bad) - _NAMED} more rows" if len(bad) > _NAMED else ""
        raise InputError(f"{path}: {'; '.join(bad[:_NAMED])}{more}; docs/evaluation.md says what a row holds")
    if not questions:
        raise InputError(f"{path}: no questions in it; expected at least one row with 'question'")
    _check_unique(path, questions)
    return QuestionSet(path.name, file_sha256([path]), tuple(questions), len(questions))


def question_of(row: Mapping[str, Any] | BadRow, otherwise: str) -> Question:
    """The row's question; ``otherwise`` is its id when it has none. Raises ``BadRow`` for what is none."""
    if isinstance(row, BadRow):
        raise row
    answers = texts(row, "answers") or texts(row, "answer")
    patterns = _patterns(row)
    answerable = truth(row, "answerable")
    profile = row.get("profile")
    if profile is not None and not isinstance(profile, dict):
        raise BadRow(f"expected an object as 'profile', got {kind(profile)}")
    return Question(
        id=identifier(row, ("id", "_id"), otherwise),
        question=text(row, "question"),
        answers=answers,
        answerable=True if answerable is None and (answers or patterns) else answerable,
        relevant=texts(row, "relevant") or _document(row, answerable),
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


def _document(row: Mapping[str, Any], answerable: bool | None) -> tuple[str, ...]:
    """The document that a question was asked about; it has nothing for one that cannot be answered."""
    given = identifier(row, ("doc_id",), "")
    return (given,) if given and answerable is not False else ()


def _message(message: Mapping[str, Any]) -> Message:
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES or not isinstance(content, str):
        raise BadRow("expected messages {'role': 'user' or 'assistant', 'content': text} as 'history'")
    return Message(role, content)


def _check_unique(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise InputError(f"{path}: the id '{question.id}' stands twice; each question needs one of its own")
        seen.add(question.id)
