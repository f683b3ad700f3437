"""SQuAD's form, versions 1.1 and 2.0, which KorQuAD 1.0 shares: ``{"data": [{"title", "paragraphs": [...]}]}``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, Row, identifier, kind, objects, text, truth, whole_json


def rows(path: Path) -> Iterator[Row]:
    """The file's articles."""
    data = whole_json(path)
    articles = data.get("data") if isinstance(data, dict) else None
    if not isinstance(articles, list):
        yield "the file", BadRow(f"expected a list of articles as 'data', got {kind(articles)}")
        return
    for number, article in enumerate(articles, start=1):
        found = article if isinstance(article, dict) else BadRow(f"expected an object, got {kind(article)}")
        yield f"article {number}", found


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a row (an article) may be of this form."""
    return "paragraphs" in row


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """All questions of an article. A paragraph's id is ``title-000``, counted from 0."""
    title = str(row.get("title") or otherwise)
    found = []
    for number, paragraph in enumerate(objects(row, "paragraphs")):
        passage = (f"{title}-{number:03}", title, text(paragraph, "context"))
        for place, asked in enumerate(objects(paragraph, "qas")):
            found.append(_question(asked, passage, f"{title}-{number:03}-{place}"))
    return found


def _question(asked: Mapping[str, Any], passage: tuple[str, str, str], otherwise: str) -> Question:
    impossible = bool(truth(asked, "is_impossible"))
    answers = tuple(dict.fromkeys(text(answer, "text") for answer in objects(asked, "answers")))
    return Question(
        id=identifier(asked, ("id",), otherwise),
        question=text(asked, "question"),
        answers=() if impossible else answers,
        answerable=not impossible,
        relevant=() if impossible else (passage[0],),
        passages=(passage,),
    )
