"""Question sets as files: JSON Lines of ``{"id", "question", "answers", "patterns", "answerable", …}`` (SPEC 16).

All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals.patterns import compile_pattern
from selfright.evals.results import DataSet
from selfright.evals.rows import BadRow, identifier, kind, objects, read_rows, text, texts, truth

_ROLES = ("user", "assistant")
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500


_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of it (SPEC section 16); all but ``question`` may be missing.

    ``answers`` are gold strings, each of them right; ``patterns`` are regular expressions of which each that is found
    is right, for answers that can be worded in many ways. ``answerable`` is None where nobody says. ``relevant`` are
    ids of documents that hold the answer.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    relevant: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions in the file's order with the file's name and SHA-256; ``of`` is how many it has in all."""

    name: str
    sha256: str
    questions: tuple[Question, ...]
    of: int

    def sample(self, limit: int | None, seed: int) -> "QuestionSet":
        """At most ``limit`` questions, chosen by ``seed``, in the file's order; all of them without a limit."""
        if limit is None or limit >= len(self.questions):
            return self
        chosen = sorted(random.Random(seed).sample(range(len(self.questions)), limit))  # noqa: S311 - no secret
        return replace(self, questions=tuple(self.questions[place] for place in chosen))

    def facts(self) -> DataSet:
        """As results name it."""
        return DataSet(self.name, "selfright", self.sha256, len(self.questions), self.of)


def file_sha256(paths: Sequence[Path]) -> str:
    """SHA-256 (hex) of the files' bytes, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()


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
