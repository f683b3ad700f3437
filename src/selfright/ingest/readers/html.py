"""Web pages: the text a reader sees, without menus, scripts and what is hidden."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from selfright.domain.html_visibility import hidden_names, is_hidden
from selfright.domain.passages import Document
from selfright.domain.text import BlockKind
from selfright.ingest.files import SourceFile, decode
from selfright.ingest.readers import markup

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_DROPPED = frozenset(
    "script style nav footer aside head noscript template svg math iframe object button select textarea input audio "  # noqa: SIM905 - quoted one by one they read worse
    "video canvas map dialog".split()
)
_DROPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary", "search"))
_BLOCKS = frozenset(
    "html body main article section header div p ul ol li dl dt dd pre table caption tbody thead tfoot tr td th "  # noqa: SIM905
    "blockquote figure figcaption address form fieldset legend details summary hr center "
    "h1 h2 h3 h4 h5 h6".split()
)
_ANCHOR_SIGNS = frozenset(("", "#", "¶", "§", "🔗", "\uf0c1", "link"))
_ANCHOR_NAMES = frozenset("headerlink anchor header-anchor heading-anchor hash-link permalink anchorjs-link".split())  # noqa: SIM905
_BLANKS = re.compile(r"\s+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the page's own (see ``_title``), its URL the canonical link."""
    data = file.read_bytes()
    declared = _DECLARED.search(data[:4096])
    root = _parse(decode(data, file.refuse, declared.group(1).decode("ascii") if declared else None), file)
    writer = _Writer()
    _walk(root, writer, hidden_names(root))
    yield file.document(writer.text(), _title(root, hidden_names(root)), "text/html", _canonical(root))


def _parse(text: str, file: SourceFile) -> "HtmlElement":
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, no_network=True)
    try:
        root = html.document_fromstring(text.encode(), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise file.refuse(f"no HTML that can be parsed ({error}); save the page again") from error
    # The parser stops without a word at some depth; half a page must not pass for the whole.
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise file.refuse("its elements are nested too deeply; save the page again, or as text")
    return root


def _canonical(root: "HtmlElement") -> str | None:
    for link in root.iter("link"):
        href = (link.get("href") or "").strip()
        if "canonical" in (link.get("rel") or "").lower().split() and urlsplit(href).scheme in ("http", "https"):
            return href
    return None


def _walk(root: "HtmlElement", writer: "_Writer", hidden: frozenset[str]) -> None:
    """Tells the writer the tree in reading order, without recursion: pages may nest as deep as they like."""
    from lxml import etree

    walker = etree.iterwalk(root, events=("start", "end"))
    skipped: HtmlElement | None = None
    for event, element in walker:
        if event == "end":
            if element is not skipped:
                writer.close(str(element.tag))
            writer.add(element.tail if element is not root else None)
        elif _is_dropped(element, hidden):
            skipped = element
            walker.skip_subtree()
        elif element.tag == "table" and element is not root and _is_data(element):
            walker.skip_subtree()
            writer.block("table", markup.table(_rows(element, hidden)))
        else:
            writer.open(str(element.tag))
            writer.add(element.text)


def _is_dropped(element: "HtmlElement", hidden: frozenset[str]) -> bool:
    if element.tag == "header":  # a page's banner goes, an article's own head stays
        return not any(above.tag in ("article", "main") for above in element.iterancestors())
    if element.tag in _DROPPED or element.get("role") in _DROPPED_ROLES:
        return True
    if element.tag == "a" and _is_anchor(element):
        return True
    return is_hidden(element, hidden)


def _is_anchor(link: "HtmlElement") -> bool:
    """Whether a link only points to the heading that it stands in: ``¶``, or nothing to be read at all."""
    if not (link.get("href") or "").startswith("#"):
        return False
    named = not _ANCHOR_NAMES.isdisjoint((link.get("class") or "").lower().split())
    text = link.text_content().strip()
    return text in _ANCHOR_SIGNS or (named and len(text) <= 2)


def _is_data(table: "HtmlElement") -> bool:
    """Whether a table holds data; older pages lay their text out in tables, with headings and tables inside."""
    inside = table.iterdescendants("table", "pre", *_HEADINGS)
    return next(inside, None) is None and len(table.findall(".//td")) > 1


def _rows(table: "HtmlElement", hidden: frozenset[str]) -> Iterator[list[str]]:
    for row in table.iter("tr"):
        yield [_visible(cell, hidden) for cell in row.iterchildren("td", "th") if not _is_dropped(cell, hidden)]


def _visible(cell: "HtmlElement", hidden: frozenset[str]) -> str:
    writer = _Writer()
    _walk(cell, writer, hidden)
    return writer.text()


class _Writer:
    """Collects what the walk meets into Markdown blocks."""

    def __init__(self) -> None:
        self._blocks: list[markup.Block] = []
        self._pieces: list[str] = []
        self._lists = self._code = self._heading = 0
        self._bullet = False

    def open(self, tag: str) -> None:
        """An element begins."""
        if tag in _BLOCKS:
            self._flush()
        if tag == "br":
            self._pieces.append("\n")
        self._lists += tag in ("ul", "ol")
        self._code += tag == "pre"
        self._heading = _HEADINGS.get(tag, self._heading)
        self._bullet = self._bullet or tag == "li"

    def add(self, text: str | None) -> None:
        """Text between the marks."""
        if text:
            self._pieces.append(text if self._code else _BLANKS.sub(" ", text))

    def close(self, tag: str) -> None:
        """An element ends."""
        if tag in _BLOCKS:
            self._flush()
        self._lists = max(self._lists - (tag in ("ul", "ol")), 0)
        self._code = max(self._code - (tag == "pre"), 0)
        if tag in _HEADINGS:
            self._heading = 0

    def block(self, kind: BlockKind, text: str) -> None:
        """A whole block."""
        self._flush()
        if text:
            self._blocks.append((kind, text))

    def text(self) -> str:
        """All that was written."""
        self._flush()
        return markup.joined(self._blocks)

    def _flush(self) -> None:
        raw, self._pieces = "".join(self._pieces), []
        text = "\n".join(filter(None, map(markup.one_blank, raw.split("\n"))))
        if not text:
            return
        if self._code:
            self._blocks.append(("code", "```\n" + raw.strip("\n") + "\n```"))
        elif self._heading:
            self._blocks.append(("heading", markup.heading(self._heading, text)))
        elif self._lists and self._bullet:
            self._blocks.append(("list", markup.item(text, self._lists - 1)))
        elif self._lists:
            self._blocks.append(("list", "  " * min(self._lists, 9) + markup.one_blank(text)))
        else:
            self._blocks.append(("paragraph", text))
        self._bullet = False


def _title(root: "HtmlElement", hidden: frozenset[str]) -> str:
    """A page's own title: the first heading where ``<title>`` repeats it, else ``<title>`` up to its first ``|``."""
    headings = (" ".join(_visible(node, hidden).lstrip("# ").split()) for node in root.iter("h1"))
    titles = (" ".join(node.text_content().split()) for node in root.iter("title"))
    heading, title = next(filter(None, headings), ""), next(filter(None, titles), "")
    return heading if not title or (heading and heading in title) else title.split(" | ")[0]
