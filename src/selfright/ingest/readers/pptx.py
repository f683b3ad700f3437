"""PowerPoint presentations: titles, texts, tables and notes, slide by slide."""

import importlib
from collections.abc import Iterator
from typing import Any

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, packed

_KIND = packed.Kind("PowerPoint presentation", ".pptx", ".ppt")
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_NO_TITLE = ("", "PowerPoint Presentation", "PowerPoint 프레젠테이션")
_DEPTH = 20


def read(file: SourceFile) -> Iterator[Document]:
    """One document, a heading for each slide; its title is the one in its properties, else the first slide's."""
    try:
        pptx: Any = importlib.import_module("pptx")
    except ImportError as error:
        raise file.refuse('PowerPoint files need: pip install "selfright[office]"') from error
    archive = packed.archive_of(file, _KIND)
    try:
        presentation = pptx.Presentation(archive)
        text = markup.joined(block for n, slide in enumerate(presentation.slides, 1) for block in _slide(slide, n))
        title = presentation.core_properties.title or ""
    except Exception as error:  # hostile files make the library fail in more ways than can be named
        raise packed.unreadable(file, _KIND, error) from error
    yield file.document(text, title if title not in _NO_TITLE else _first_title(text), _MEDIA_TYPE)


def _first_title(text: str) -> str:
    title = markup.first_heading(text)
    return "" if title == "Slide 1" else title


def _slide(slide: Any, number: int) -> Iterator[markup.Block]:
    title = slide.shapes.title
    named = markup.one_blank(title.text_frame.text) if title is not None and title.has_text_frame else ""
    body = [block for block in _shapes(slide.shapes, title, 0) if block[1]]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None:
        body += [("paragraph", markup.one_blank(paragraph.text)) for paragraph in notes.paragraphs]
    if named or any(text for _, text in body):
        yield "heading", markup.heading(2, named or f"Slide {number}")
        yield from body


def _shapes(shapes: Any, title: Any, depth: int) -> Iterator[markup.Block]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes") and depth < _DEPTH:  # a group
            yield from _shapes(shape.shapes, title, depth + 1)
        elif getattr(shape, "has_table", False):
            yield "table", markup.table([cell.text for cell in row.cells] for row in shape.table.rows)
        elif getattr(shape, "has_text_frame", False):
            yield from _frame(shape)


def _frame(shape: Any) -> Iterator[markup.Block]:
    """The paragraphs of a box; those of a slide's body are its list."""
    paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
    listed = shape.is_placeholder and len(paragraphs) > 1
    for paragraph in paragraphs:
        if listed or paragraph.level:
            yield "list", markup.item(paragraph.text.replace("\v", " "), paragraph.level)
        else:
            yield "paragraph", markup.one_blank(paragraph.text.replace("\v", " "))
