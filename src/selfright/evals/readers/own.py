"""Our own form: ``{"id", "question", "answers", "patterns", "answerable", "relevant", "history", "profile"}`` a line.

All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``.
"""

import re
from collections.abc import Mapping
from typing import Any

from selfright.domain.answers import Message
from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, identifier, kind, objects, text, texts, truth

_ROLES = ("user", "assistant")
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; ``otherwise`` is its id when it has none."""
    answers = texts(row, "answers") or texts(row, "answer")
    patterns = _patterns(row)
    answerable = truth(row, "answerable")
    profile = row.get("profile")
    if profile is not None and not isinstance(profile, dict):
        raise BadRow(f"expected an object as 'profile', got {kind(profile)}")
    return [
        Question(
            id=identifier(row, ("id", "_id"), otherwise),
            question=text(row, "question"),
            answers=answers,
            answerable=True if answerable is None and (answers or patterns) else answerable,
            relevant=texts(row, "relevant") or _document(row, answerable),
            history=tuple(_message(message) for message in objects(row, "history")),
            profile=profile or {},
            patterns=patterns,
        )
    ]


def _patterns(row: Mapping[str, Any]) -> tuple[str, ...]:
    found = texts(row, "patterns")
    if len(found) > _MOST_PATTERNS or any(len(pattern) > _LONGEST_PATTERN for pattern in found):
        raise BadRow(f"expected at most {_MOST_PATTERNS} 'patterns' of at most {_LONGEST_PATTERN} characters")
    for pattern in found:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
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
