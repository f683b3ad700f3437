"""What is asked: questions with what is known of their answers, and the set they come from."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.evals.results import DataSet

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
