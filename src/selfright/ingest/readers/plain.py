"""Plain text, exactly as it stands in the file."""

from collections.abc import Iterator

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the file's name."""
    yield file.document(file.read_text(), file.stem)
