"""The probe set that ships: questions over small documents, answers true and false, messages, follow-ups, queries."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.passages import Language

_FILE = "probes.json"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the document that answers it, the words of the answer, and two answers: ``true`` and ``false``."""

    text: str
    language: Language
    document: str
    gold: str
    true: str
    false: str


@dataclass(frozen=True, slots=True)
class Probes:
    """All of the set. ``documents``: rows as they are indexed; the others as the file has them."""

    documents: tuple[Mapping[str, Any], ...]
    questions: tuple[Question, ...]
    messages: tuple[Mapping[str, Any], ...]
    followups: tuple[Mapping[str, Any], ...]
    rewrites: tuple[Mapping[str, Any], ...]


@cache
def probes() -> Probes:
    """The set that ships."""
    read = json.loads(files("selfright.evals.models").joinpath(_FILE).read_text(encoding="utf-8"))
    questions = tuple(
        Question(row["question"], row["language"], row["document"], row["gold"], row["true"], row["false"])
        for row in read["questions"]
    )
    return Probes(
        tuple(read["documents"]), questions, *(tuple(read[name]) for name in ("messages", "followups", "rewrites"))
    )
