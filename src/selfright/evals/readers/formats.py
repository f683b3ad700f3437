"""Question sets by their form: which there are, which one a file has, and its questions.

Our own form is ``{"id", "question", "answers", "patterns", "answerable", "relevant", "history", "profile"}`` a line.
All but ``question`` may be missing. ``answer`` is heard where there are no ``answers``, ``doc_id`` where nothing is
``relevant``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, UnknownName
from selfright.evals.questions import Question, QuestionSet, file_sha256
from selfright.evals.readers import published
from selfright.evals.readers.rows import (
    BadRow,
    Row,
    identifier,
    json_lines,
    kind,
    objects,
    text,
    texts,
    truth,
    whole_json,
)

_ROLES = ("user", "assistant")
_MOST_PATTERNS, _LONGEST_PATTERN = 50, 500


def own_questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
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


_NAMED = 5


@dataclass(frozen=True, slots=True)
class Format:
    """A form of question sets: how its file becomes rows, whether a row fits, and the questions of a row."""

    name: str
    rows: Callable[[Path], Iterator[Row]]
    fits: Callable[[Mapping[str, Any]], bool]
    questions: Callable[[Mapping[str, Any], str], list[Question]]


def _lines_or_list(path: Path) -> Iterator[Row]:
    """JSON Lines, or a JSON file that is one list."""
    if path.suffix.lower() != ".json":
        yield from json_lines(path)
        return
    data = whole_json(path)
    items = data if isinstance(data, list) else [data]
    for number, item in enumerate(items, start=1):
        yield f"item {number}", item if isinstance(item, dict) else BadRow(f"expected an object, got {kind(item)}")


def _may_be_autorag(row: Mapping[str, Any]) -> bool:
    return "query" in row and ("retrieval_gt" in row or "generation_gt" in row)


def _may_be_ragas(row: Mapping[str, Any]) -> bool:
    return "user_input" in row or ("question" in row and ("ground_truth" in row or "ground_truths" in row))


# In the order in which they are tried: the last ones fit more.
FORMATS: Sequence[Format] = (
    Format("autorag", published.autorag_rows, _may_be_autorag, published.autorag),
    Format("squad", published.squad_articles, lambda row: "paragraphs" in row, published.squad),
    Format("pubmedqa", published.pubmedqa_entries, lambda row: "QUESTION" in row, published.pubmedqa),
    Format("clapnq", _lines_or_list, lambda row: "input" in row and "passages" in row, published.clapnq),
    Format("flashrag", _lines_or_list, lambda row: "golden_answers" in row, published.flashrag),
    Format("ragas", _lines_or_list, _may_be_ragas, published.ragas),
    Format("selfright", _lines_or_list, lambda row: "question" in row, own_questions),
)
NAMES = tuple(form.name for form in FORMATS)


def load(path: Path, form: str | None = None) -> QuestionSet:
    """The questions of a file; its form is recognised unless named.

    Raises ``InputError`` when there is a row that is no question, with the first such rows and what was expected
    there: nothing is left out in silence. Raises ``UnknownName`` for an unknown form.
    """
    found = _named(form) if form else recognise(path)
    questions: list[Question] = []
    bad: list[str] = []
    for where, row in found.rows(path):
        try:
            questions += _read(found, where, row)
        except BadRow as error:
            bad.append(f"{where}: {error}")
    if bad:
        more = f"; and {len(bad) - _NAMED} more rows" if len(bad) > _NAMED else ""
        raise InputError(f"{path} ({found.name}): {'; '.join(bad[:_NAMED])}{more}. Mend them, or name another --format")
    if not questions:
        raise InputError(f"{path} ({found.name}): no questions in it; expected at least one")
    _check_unique(path, questions)
    return QuestionSet(path.name, found.name, file_sha256([path]), tuple(questions), len(questions))


def recognise(path: Path) -> Format:
    """The form of a file, by its first row. Raises ``InputError`` when none fits."""
    forms = [form for form in FORMATS if (form.name == "autorag") == (path.suffix.lower() == ".parquet")]
    whole = path.suffix.lower() == ".json"
    for form in forms:
        if form.name in ("squad", "pubmedqa") and not whole:
            continue
        first = next(form.rows(path), ("", None))[1]
        if isinstance(first, BadRow) and form is forms[-1]:
            return form  # loading it says what is wrong
        if isinstance(first, Mapping) and form.fits(first):
            return form
    raise InputError(
        f"{path}: no known form of question set; expected rows with 'question' (docs/evaluation.md has the others), "
        f"or name one with --format: {', '.join(NAMES)}"
    )


def _read(form: Format, where: str, row: Any) -> list[Question]:
    if isinstance(row, BadRow):
        raise row
    if not form.fits(row):
        raise BadRow(f"not a row of the form '{form.name}'")
    return form.questions(row, where.replace(" ", "-"))


def _named(name: str) -> Format:
    form = next((form for form in FORMATS if form.name == name), None)
    if form is None:
        raise UnknownName("format", name, NAMES)
    return form


def _check_unique(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise InputError(f"{path}: the id '{question.id}' stands twice; each question needs one of its own")
        seen.add(question.id)
