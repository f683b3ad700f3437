"""Pages to documents: the main text with its headings, lists and tables, the title, the date, the language."""

import logging
import re
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from selfright.domain.encodings import decode, encoding_of_page
from selfright.domain.errors import PageUnusable
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.hidden_text.pruning import check_attributes, remove_unseen
from selfright.web.page_index import clean_title, visible
from selfright.web.types import HTML, PDF, Reply

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DROPPED = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas", "audio", "video", "select",
)  # fmt: skip
_EMPHASIS = ("b", "strong", "i", "em", "u", "font", "span", "small", "sup", "sub")  # it would come out as asterisks
log = logging.getLogger(__name__)

ReadFile = Callable[[Path], Document]

MAX_CHARACTERS = 1_000_000
MAX_ELEMENTS = 8_000
_THOROUGH_ELEMENTS = 2_000  # trafilatura's second opinions cost the square of a page's length
_LEAST_TEXT = "60"  # with fewer characters trafilatura gives up headings and tables
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATES = {
    "extensive_search": False,
    "original_date": False,
    "outputformat": "%Y-%m-%d",
    "max_date": "9999-12-31",  # else a date to come is read as the first of its month, where that has been
}


def read_reply(reply: Reply, read_pdf: ReadFile | None = None) -> Document:
    """A fetched page as a document; its id, source and URL are its address, ``metadata["date"]`` when it says one.

    ``read_pdf`` reads a file with a PDF in it. Raises ``PageUnusable`` when there is no main text. Call it in a
    thread: it computes.
    """
    try:
        return _read(reply, read_pdf)
    except PageUnusable:
        raise
    except Exception as error:  # parsers meet what nobody foresaw; a page costs itself only
        log.info("a page of %s could not be read: %s", reply.target.host, type(error).__name__)
        raise PageUnusable(f"the page of {reply.target.host} could not be read ({type(error).__name__})") from None


def _read(reply: Reply, read_pdf: ReadFile | None) -> Document:
    if reply.media_type not in PDF:
        text = _decode(reply)[:MAX_CHARACTERS]
        return _html(text, reply) if reply.media_type in HTML else _document(reply, text, "", None)
    if read_pdf is None:
        raise PageUnusable(f"the page of {reply.target.host} is a PDF, and nothing reads those here")
    last = unquote(reply.target.path.partition("?")[0].rpartition("/")[2]).removesuffix(".pdf")
    name = re.sub(r"[^\w-]+", "-", last)[:60].strip("-") or "page"
    with tempfile.TemporaryDirectory(prefix="selfright-") as folder:
        path = Path(folder) / f"{name}.pdf"  # readers call a file without a title by its name
        path.write_bytes(reply.body)
        read = read_pdf(path)
    return _document(reply, read.text[:MAX_CHARACTERS], read.title, None)


def _document(reply: Reply, text: str, title: str, date: str | None) -> Document:
    text = visible(text).strip()
    if not text:
        raise PageUnusable(f"the page of {reply.target.host} has no text")
    url = reply.target.url
    return Document(
        id=url,
        title=clean_title(title) or reply.target.host,
        text=text,
        language=language_of(text),
        source=url,
        url=url,
        media_type=reply.media_type,
        metadata={"date": date} if date else {},
    )


def _html(text: str, reply: Reply) -> Document:
    from lxml import etree

    try:
        root = _parse(text)
    except (etree.LxmlError, ValueError):
        raise PageUnusable(f"the page of {reply.target.host} has no text") from None
    elements = _shorten(root)
    from trafilatura import bare_extraction

    page: Any = bare_extraction(
        root,
        url=reply.target.url,
        fast=elements > _THOROUGH_ELEMENTS,
        include_comments=False,
        include_formatting=True,
        include_tables=True,
        with_metadata=True,
        date_extraction_params=_DATES,
        config=_config(),
    )
    if page is None or not page.text:
        raise PageUnusable(f"the page of {reply.target.host} has no main text")
    lines = "\n".join(line.rstrip() for line in page.text.splitlines())
    past = page.date and _DATE.fullmatch(page.date) and page.date <= datetime.now(UTC).date().isoformat()
    return _document(reply, lines, page.title or "", page.date if past else None)


def _parse(text: str) -> "HtmlElement":
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    data = text.encode("utf-8", "replace")
    check_attributes(data)
    root = html.document_fromstring(data, parser=parser)
    remove_unseen(root)
    etree.strip_attributes(root, "style")  # trafilatura would judge by it once more
    etree.strip_elements(root, *_DROPPED, with_tail=False)
    return root


def _shorten(root: "HtmlElement") -> int:
    """Leaves the first ``MAX_ELEMENTS``, which bounds the time, and counts them; emphasis and the like do not count."""
    from lxml import etree

    etree.strip_tags(root, *_EMPHASIS)
    elements = list(root.iter())
    for element in elements[MAX_ELEMENTS:]:
        if (parent := element.getparent()) is not None:
            parent.remove(element)
    return min(len(elements), MAX_ELEMENTS)


@cache
def _config() -> Any:
    import copy

    from trafilatura.settings import DEFAULT_CONFIG

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it writes addresses into its messages
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)
    config = copy.deepcopy(DEFAULT_CONFIG)
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", _LEAST_TEXT)
    return config


def _decode(reply: Reply) -> str:
    """The text; with gaps where its encoding cannot be told."""
    declared = encoding_of_page(reply.body) if reply.media_type in HTML else None
    try:
        return decode(reply.body, reply.charset, declared)
    except ValueError:
        return reply.body.decode("utf-8", "replace")
