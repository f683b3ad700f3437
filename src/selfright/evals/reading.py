"""Question sets as files: JSON Lines of ``{"id", "question", "answers", "patterns", "answerable", …}`` (SPEC 16).

All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``. Regular expressions are searched for a bounded time: one may go on for years.
"""

import codecs
import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field, StrictBool, ValidationError

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, MissingExtra
from selfright.evals.results import DataSet
from selfright.schemas import fault_of

LONGEST_ROW = 20_000_000
_NAMED = 5
_PATIENCE_S = 5.0
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500

T = TypeVar("T", bound=BaseModel)
Item = TypeVar("Item")


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
        return replace(self, questions=choose(self.questions, limit, seed))

    def facts(self) -> DataSet:
        """As results name it."""
        return DataSet(self.name, "selfright", self.sha256, len(self.questions), self.of)


def choose(items: tuple[Item, ...], limit: int | None, seed: int) -> tuple[Item, ...]:
    """At most ``limit`` of them, chosen by ``seed``, in their order; all of them without a limit."""
    if limit is None or limit >= len(items):
        return items
    return tuple(items[place] for place in sorted(random.Random(seed).sample(range(len(items)), limit)))  # noqa: S311 - no secret


def file_sha256(paths: Sequence[Path]) -> str:
    """SHA-256 (hex) of the files' bytes, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def load(path: Path) -> QuestionSet:
    """The questions of a file. Raises ``InputError`` for rows that are none, and for two of one id."""
    questions = [row.to_question(f"line-{number}") for number, row in read_rows(path, _Row)]
    if not questions:
        raise InputError(f"{path}: no questions in it; expected at least one row with 'question'")
    for name, count in Counter(question.id for question in questions).items():
        if count > 1:
            raise InputError(f"{path}: the id '{name}' stands twice; each question needs one of its own")
    return QuestionSet(path.name, file_sha256([path]), tuple(questions), len(questions))


def read_rows(path: Path, form: type[T]) -> list[tuple[int, T]]:
    """The rows of a JSON Lines file but blank ones, with the numbers of their lines.

    Raises ``InputError`` when there are bad rows, with the first of them and what was expected there: nothing is left
    out in silence.
    """
    found, bad = list[tuple[int, T]](), list[str]()
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_ROW + 1), b""), start=1):
            if len(line) > LONGEST_ROW:
                bad.append(f"line {number}: longer than {LONGEST_ROW:,} bytes")
                break
            try:
                if line.strip():
                    found.append((number, form.model_validate_json(line.removeprefix(codecs.BOM_UTF8))))
            except ValidationError as error:
                first = error.errors()[0]
                place = "".join(f"'{name}': " for name in first["loc"][:1])
                bad.append(f"line {number}: {place}{fault_of(first).partition(' at line ')[0]}")
    refuse_bad(path, bad)
    return found


def refuse_bad(path: Path, bad: Sequence[str]) -> None:
    """Raises ``InputError`` with the first of the lines that are bad."""
    if bad:
        more = f"; and {len(bad) - _NAMED} more rows" if len(bad) > _NAMED else ""
        raise InputError(f"{path}: {'; '.join(bad[:_NAMED])}{more}; docs/evaluation.md says what a row holds")


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("should be a text with something in it")
    return text


def _compilable(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if len(patterns) > _MOST_PATTERNS or any(len(pattern) > _LONGEST_PATTERN for pattern in patterns):
        raise ValueError(f"should be at most {_MOST_PATTERNS} patterns of at most {_LONGEST_PATTERN} characters")
    for pattern in patterns:
        compile_pattern(pattern)
    return patterns


Identifier = Annotated[str, BeforeValidator(lambda given: str(given) if type(given) is int else given or "")]
"""A string or a whole number; empty for nothing."""
Filled = Annotated[str, AfterValidator(_filled)]
"""A text with something in it."""
Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given if given is not None else ()),
    AfterValidator(lambda texts: tuple(text for text in texts if text.strip())),
]
"""A list of strings, or one string; empty without it. Blank ones are left out."""


class _Message(BaseModel):
    role: Literal["user", "assistant"]
    content: str


class _Row(BaseModel):
    id: Identifier = Field("", validation_alias=AliasChoices("id", "_id"))
    question: Filled
    answers: Texts = ()
    answer: Texts = ()
    patterns: Annotated[Texts, AfterValidator(_compilable)] = ()
    answerable: StrictBool | None = None
    relevant: Texts = ()
    doc_id: Identifier = ""
    history: list[_Message] | None = None
    profile: dict[str, Any] | None = None

    def to_question(self, otherwise: str) -> Question:
        """``otherwise`` is its id when it has none."""
        answers = self.answers or self.answer
        document = (self.doc_id,) if self.doc_id and self.answerable is not False else ()
        return Question(
            id=self.id or otherwise,
            question=self.question,
            answers=answers,
            answerable=True if self.answerable is None and (answers or self.patterns) else self.answerable,
            relevant=self.relevant or document,
            history=tuple(Message(message.role, message.content) for message in self.history or ()),
            profile=self.profile or {},
            patterns=self.patterns,
        )


def compile_pattern(pattern: str) -> Any:
    """The pattern, which ignores case. Raises ``ValueError`` for what is none, ``MissingExtra`` without the library."""
    regex = MissingExtra.load("regex, which searches for the 'patterns' of questions,", "eval", "regex")
    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def is_any_in(patterns: Sequence[str], line: str) -> bool:
    """Whether one of the patterns is found in the line. Raises ``InputError`` if one takes more than 5 s."""
    try:
        return any(compile_pattern(pattern).search(line, timeout=_PATIENCE_S) for pattern in patterns)
    except TimeoutError:
        raise InputError(
            f"a text of {len(line):,} characters could not be searched for these 'patterns' of a question in "
            f"{_PATIENCE_S:g} s each; write them without a repeated part in a repeated part: {list(patterns)}"
        ) from None
