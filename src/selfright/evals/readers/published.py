"""Question sets in the forms of published ones: what their files and rows hold.

* autorag: a table in Parquet: ``qid, query, retrieval_gt`` (ids, in groups), ``generation_gt`` (answers).
* squad, versions 1.1 and 2.0, which KorQuAD 1.0 shares: ``{"data": [{"title", "paragraphs": [...]}]}``.
* pubmedqa (arXiv 1909.06146): one object, ``{id: {"QUESTION", "CONTEXTS", "LONG_ANSWER"}}``. The gold answer is the
  long one: a lone "no" is part of too many sentences to tell a right answer by.
* clapnq (arXiv 2404.02103): ``{"id", "input", "passages": [{"title", "text"}], "output": [{"answer"}]}``.
* flashrag: ``{"id", "question", "golden_answers": [text], "metadata"}`` a line.
* ragas: ``user_input, reference, reference_contexts``; of older versions ``question, ground_truth, contexts``. What
  another system had answered (``response``) and retrieved is not asked for again and is left out.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, MissingExtra
from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, Row, identifier, kind, objects, text, texts, truth, whole_json

_BATCH = 1_000
_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}


def autorag_rows(path: Path) -> Iterator[Row]:
    """The rows of a Parquet file. Raises ``MissingExtra`` without pyarrow, ``InputError`` for a file that is none."""
    try:
        from pyarrow import parquet
        from pyarrow.lib import ArrowException
    except ModuleNotFoundError:
        raise MissingExtra("pyarrow, which reads Parquet files,", "pip install 'selfright[eval]'") from None
    try:
        with parquet.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
            number = 0
            for batch in file.iter_batches(_BATCH):
                for value in batch.to_pylist():
                    number += 1
                    yield f"row {number}", value
    except ArrowException as error:
        raise InputError(f"{path} cannot be read as Parquet ({error})") from None


def autorag(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question. The groups of ``retrieval_gt`` become one set of relevant documents."""
    answers = texts(row, "generation_gt")
    relevant = tuple(dict.fromkeys(_ids(row.get("retrieval_gt"))))
    return [
        Question(identifier(row, ("qid",), otherwise), text(row, "query"), answers, True if answers else None, relevant)
    ]


def _ids(given: Any) -> Iterator[str]:
    if given is None:
        return
    if isinstance(given, str):
        yield given
    elif isinstance(given, list | tuple):
        for item in given:
            yield from _ids(item)
    else:
        raise BadRow(f"expected ids, or lists of them, as 'retrieval_gt', got {kind(given)}")


def squad_articles(path: Path) -> Iterator[Row]:
    """The file's articles."""
    data = whole_json(path)
    articles = data.get("data") if isinstance(data, dict) else None
    if not isinstance(articles, list):
        yield "the file", BadRow(f"expected a list of articles as 'data', got {kind(articles)}")
        return
    for number, article in enumerate(articles, start=1):
        found = article if isinstance(article, dict) else BadRow(f"expected an object, got {kind(article)}")
        yield f"article {number}", found


def squad(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """All questions of an article. A paragraph's id is ``title-000``, counted from 0."""
    title = str(row.get("title") or otherwise)
    found = []
    for number, paragraph in enumerate(objects(row, "paragraphs")):
        passage = (f"{title}-{number:03}", title, text(paragraph, "context"))
        for place, asked in enumerate(objects(paragraph, "qas")):
            found.append(_squad_question(asked, passage, f"{title}-{number:03}-{place}"))
    return found


def _squad_question(asked: Mapping[str, Any], passage: tuple[str, str, str], otherwise: str) -> Question:
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


def pubmedqa_entries(path: Path) -> Iterator[Row]:
    """The file's entries, each with its id as ``PMID``."""
    data = whole_json(path)
    if not isinstance(data, dict):
        yield "the file", BadRow(f"expected an object of id and question, got {kind(data)}")
        return
    for name, entry in data.items():
        found = {**entry, "PMID": name} if isinstance(entry, dict) else BadRow(f"expected an object, got {kind(entry)}")
        yield f"entry '{name}'", found


def pubmedqa(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The entry's question; its abstract, without the conclusion that answers, is the relevant document."""
    name = str(row.get("PMID", otherwise))
    contexts = texts(row, "CONTEXTS")
    answers = texts(row, "LONG_ANSWER")
    passages = ((name, "", "\n\n".join(contexts)),) if contexts else ()
    relevant = (name,) if contexts else ()
    return [Question(name, text(row, "QUESTION"), answers, True if answers else None, relevant, passages=passages)]


def clapnq(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; without any answer text it is one that its passages cannot answer."""
    name = identifier(row, ("id",), otherwise)
    passages = [
        (f"{name}-{n}", str(passage.get("title") or ""), text(passage, "text"))
        for n, passage in enumerate(objects(row, "passages"))
    ]
    said = (output.get("answer") for output in objects(row, "output"))
    answers = tuple(answer for answer in said if isinstance(answer, str) and answer.strip())
    relevant = tuple(passage for passage, _, _ in passages) if answers else ()
    return [Question(name, text(row, "input"), answers, bool(answers), relevant, passages=tuple(passages))]


def flashrag(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; its sets hold questions that have an answer."""
    answers = texts(row, "golden_answers")
    return [Question(identifier(row, ("id",), otherwise), text(row, "question"), answers, True if answers else None)]


def ragas(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; of a conversation its last message, the ones before it as history."""
    history, question = _asked(row)
    name = identifier(row, ("id", "_id"), otherwise)
    answers = next((found for key in ("reference", "ground_truth", "ground_truths") if (found := texts(row, key))), ())
    contexts = texts(row, "reference_contexts") or texts(row, "contexts")
    passages = tuple((f"{name}-{n}", "", context) for n, context in enumerate(contexts))
    relevant = tuple(passage for passage, _, _ in passages) if "reference_contexts" in row else ()
    answerable = True if answers else None
    return [Question(name, question, answers, answerable, relevant, history, passages=passages)]


def _asked(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], str]:
    given = row.get("user_input")
    if not isinstance(given, list):
        return (), text(row, "user_input" if "user_input" in row else "question")
    messages = [message for message in map(_message, given) if message is not None]
    while messages and messages[-1].role != "user":
        messages.pop()
    if not messages:
        raise BadRow("expected a message of the user in 'user_input', got none")
    return tuple(messages[:-1]), messages[-1].content


def _message(given: Any) -> Message | None:
    """A message of the conversation; None for a tool's."""
    kind_of = given.get("type") if isinstance(given, dict) else None
    if kind_of == "tool":
        return None
    if kind_of not in _ROLES or not isinstance(given.get("content"), str):
        raise BadRow(
            f"expected messages {{'type': 'human' or 'ai', 'content': text}} as 'user_input', got {kind(given)}"
        )
    return Message(_ROLES[kind_of], given["content"])
