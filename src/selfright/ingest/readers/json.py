"""JSON: a list of documents, or anything else as one readable document."""

import json
from collections.abc import Iterator
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import documents

_DEPTH = 100


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each object of a list (or of ``{"documents": […]}``) with ``text``; else an outline."""
    try:
        data = json.loads(file.read_text())
    except RecursionError as error:
        raise file.refuse("nested too deeply to be read as documents; flatten it") from error
    except ValueError as error:
        raise file.refuse(f"not JSON ({error}); mend it, or use .jsonl for one object a line") from error
    rows = data.get("documents") if isinstance(data, dict) else data
    if isinstance(rows, list) and any(isinstance(row, dict) and "text" in row for row in rows):
        yield from documents(file, enumerate(rows, start=1), unit="item")
    else:
        text = "\n".join(_outline(data)).encode("utf-8", "replace").decode()
        yield file.document(text, _title(data), "application/json")


def _title(data: Any) -> str:
    title = data.get("title") if isinstance(data, dict) else ""
    return title if isinstance(title, str) else ""


def _outline(value: Any, depth: int = 0) -> Iterator[str]:
    """Names and values as nested list items."""
    if depth >= _DEPTH:
        yield markup.item(json.dumps(value, ensure_ascii=False), depth)
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
        for name, inner in pairs:
            label = f"{name}: " if name else ""
            if isinstance(inner, dict | list):
                yield from _named(label, inner, depth)
            else:
                yield markup.item(label + _scalar(inner), depth)
    else:
        yield _scalar(value)


def _named(label: str, inner: Any, depth: int) -> Iterator[str]:
    if label:
        yield markup.item(label, depth)
    yield from _outline(inner, depth + bool(label))


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
