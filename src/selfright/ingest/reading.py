"""Which reader reads which file."""

import importlib
from collections.abc import Iterator
from pathlib import Path

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile

_READERS = {
    ".txt": "plain",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".hwpx": "hwpx",
    ".odt": "odt",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
SUFFIXES = frozenset(_READERS)
OLDER = {".doc": ".docx", ".ppt": ".pptx", ".xls": ".xlsx", ".hwp": ".hwpx", ".rtf": ".docx", ".xlsm": ".xlsx"}
"""Formats that are not read, and the one to save them as."""


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """The documents of a file, and an error for each row that is none.

    Raises ``UnreadableFile`` when the file as a whole cannot be read.
    """
    # By name, so that a reader's library is loaded when its first file comes.
    reader = importlib.import_module(f"selfright.ingest.readers.{_READERS[file.path.suffix.lower()]}")
    yield from reader.read(file)


def read_page(path: Path) -> Document:
    """The first document of one file, called by the file's name. Raises ``UnreadableFile``."""
    for document in read(SourceFile(path, path.name)):
        if isinstance(document, Document):
            return document
        raise document
    raise UnreadableFile(str(path), "there is no document in it")
