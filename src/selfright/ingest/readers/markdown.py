"""Markdown, exactly as it stands in the file: its marks stay, so that spans point into the file."""

import re
from collections.abc import Iterator

from selfright.domain.passages import Document
from selfright.domain.text import blocks
from selfright.ingest.files import SourceFile

_MARKS = re.compile(r"[*_`]+|\[([^\]]*)\]\([^)]*\)")


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is its first ``# heading``."""
    text = file.read_text()
    yield file.document(text, title_of(text), "text/markdown")


def title_of(text: str) -> str:
    """The first heading of the first level, without marks; empty when there is none."""
    headings = (text[block.start : block.end] for block in blocks(text) if block.kind == "heading")
    title = next((heading[1:] for heading in headings if heading[1].isspace()), "")
    return _MARKS.sub(r"\1", title).strip().rstrip("#").strip()
