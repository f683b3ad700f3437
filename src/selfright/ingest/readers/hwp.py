"""Hangul documents of version 5 (``.hwp``): headings, lists, tables and notes, by an optional library."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import hwpx, markup, packed
from selfright.ingest.readers.tables import plain_rows, tables

if TYPE_CHECKING:
    from hwp2md import Block

_KIND = ("Hangul document", ".hwpx")
_MEDIA_TYPE = "application/x-hwp"


def read(file: SourceFile) -> Iterator[Document]:
    """One document, called by its first heading; a note stands where the library puts it.

    A merged cell counts for one place only: the library does not say how far it reaches.
    """
    try:
        import hwp2md
        from hwp2md.convert import read_blocks
    except ImportError as error:
        raise file.refuse('Hangul files (.hwp) need: pip install "selfright[hwp]"; or save it as .hwpx') from error
    data = file.read_bytes()
    if data.startswith(b"PK"):  # of the newer kind under the older name, which Hangul opens as well
        yield from hwpx.read(file)
        return
    if not data.startswith(packed.OLD):
        raise packed.unreadable(file, _KIND, "its content is of another kind")
    try:
        text = markup.join_blocks(block for found in read_blocks(data) for block in _blocks(found))
    except (hwp2md.EncryptedDocumentError, hwp2md.DrmProtectedError) as error:
        raise file.refuse("it is protected by a password; save it without one") from error
    except Exception as error:  # hostile files make the library fail in more ways than can be named
        raise packed.unreadable(file, _KIND, error) from error
    yield file.document(text, markup.first_heading(text), _MEDIA_TYPE)


def _blocks(block: "Block") -> Iterator[markup.Block]:
    from hwp2md import Note, Paragraph, Table

    if isinstance(block, Table):
        yield from tables(plain_rows(block.rows))
    elif isinstance(block, Note):
        for paragraph in block.paragraphs:
            yield from _blocks(paragraph)
    elif isinstance(block, Paragraph):
        if block.level:
            yield "heading", markup.heading(block.level, block.text)
        elif block.list_info is None:
            yield "paragraph", markup.clean_lines(block.text)
        else:
            yield "list", markup.number_item(block.list_info.label, block.text, block.list_info.depth)
