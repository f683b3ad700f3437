"""AutoRAG's form, a table in Parquet: ``qid, query, retrieval_gt`` (ids, in groups), ``generation_gt`` (answers)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright.domain.errors import InputError, MissingExtra
from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, Row, identifier, kind, text, texts

_BATCH = 1_000


def rows(path: Path) -> Iterator[Row]:
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


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a row may be of this form."""
    return "query" in row and ("retrieval_gt" in row or "generation_gt" in row)


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
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
