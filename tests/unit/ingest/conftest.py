"""Files for the readers, made as each test needs them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import read

Read = Callable[..., list[Document | UnreadableFile]]


@pytest.fixture
def read_file(tmp_path: Path) -> Read:
    """Writes a file and reads it with the reader of its suffix."""

    def written(name: str, content: str | bytes, limits: FileLimits | None = None) -> list[Document | UnreadableFile]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return list(read(SourceFile(path, name, limits or FileLimits())))

    return written


@pytest.fixture
def read_one(read_file: Read) -> Callable[..., Document]:
    """The same for a file with one document."""

    def one(name: str, content: str | bytes) -> Document:
        (document,) = read_file(name, content)
        assert isinstance(document, Document)
        return document

    return one
