"""Web pages: the text a reader sees, without menus, scripts and what is hidden."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from lxml import etree, html
from lxml.html import HtmlElement

from selfright.domain.encodings import encoding_of_page
from selfright.domain.passages import Document
from selfright.hidden_text.pruning import check_attributes, remove_unseen
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.html_writer import HEADINGS, Writer, whole
from selfright.ingest.readers.tables import Cell, tables

_DROPPED = frozenset(
    "script style nav footer aside title noscript template svg math iframe object button select textarea input audio "
    "video canvas map dialog s strike del".split()
)
_DROPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary", "search"))
_TABLE_ROLES = {"table": "table", "grid": "table", "row": "tr", "cell": "td", "gridcell": "td"}
_TABLE_ROLES |= {"columnheader": "th", "rowheader": "th", "rowgroup": "tbody"}
_OVER_ROLES = frozenset(("dialog", "alertdialog"))
_FIXED = re.compile(r"(?<![\w-])position\s*:\s*fixed", re.IGNORECASE)
# Of a box that asks for consent within the page, what it is called is the only sign.
_CONSENT = re.compile(r"(?<![a-z])(?:cookies?|consent|gdpr)(?![a-z])", re.IGNORECASE)
_CONSENT_CHARACTERS = 1_000
_SKIP = re.compile(r"(?<![a-z])skip", re.IGNORECASE)
_CONTENT = ("main", "article", "h1")
_ANCHOR_SIGNS = frozenset(("", "#", "¶", "§", "🔗", "\uf0c1", "\u200b", "link"))
_TEXTS, _SECTIONS = ("p", "div", "ul", "ol"), ("body", "div", "section", "article", "main")
_MOST_CELLS = 65_534  # that a cell reaches over, as in HTML


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the page's own (see ``_title``), its URL the canonical link."""
    data = file.read_bytes()
    text = file.decode(data, encoding_of_page(data))
    try:
        root = _parse(text)
    except (etree.LxmlError, ValueError) as error:
        raise file.refuse(f"no HTML that can be parsed ({error}); save the page again, or as text") from error
    yield file.document(markup.join_blocks(_blocks(root)), _title(root), "text/html", _canonical(root))


def fragment_text(text: str) -> str:
    """A piece of HTML as Markdown; as it is where it is none."""
    try:
        return markup.join_blocks(_blocks(_parse(text)))
    except (etree.LxmlError, ValueError):
        return text


def chapter_text(text: str) -> str:
    """A chapter of a book as Markdown, with what stands beside its text. Raises ``ValueError`` and ``LxmlError``."""
    root = _parse(text)
    for element in root.iter("aside", "header", "footer"):
        element.tag = "div"
    return markup.join_blocks(_blocks(root))


def _parse(text: str) -> HtmlElement:
    """The tree without what is not seen. Raises ``ValueError`` and ``LxmlError``."""
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, no_network=True)
    check_attributes(text.encode())
    root = html.document_fromstring(text.encode(), parser=parser)
    # The parser stops without a word at some depth; half a page must not pass for the whole.
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise ValueError("its elements are nested too deeply")
    remove_unseen(root)
    for element in root.iter("div", "span"):
        element.tag = _TABLE_ROLES.get(element.get("role") or "", element.tag)
    return root


def _canonical(root: HtmlElement) -> str | None:
    for link in root.iter("link"):
        href = (link.get("href") or "").strip()
        if "canonical" in (link.get("rel") or "").lower().split() and urlsplit(href).scheme in ("http", "https"):
            return href
    return None


def _title(root: HtmlElement) -> str:
    """A page's own title: the first heading where ``<title>`` repeats it, else ``<title>`` up to its first ``|``."""
    shown = (node for node in root.iter("h1") if not any(map(_is_dropped, node.iterancestors())))
    headings = (_line(_blocks(node)) for node in shown)
    titles = (markup.one_blank(node.text_content()) for node in root.iter("title"))
    heading, title = next(filter(None, headings), ""), next(filter(None, titles), "")
    return heading if not title or (heading and heading in title) else title.split(" | ")[0]


def _blocks(root: HtmlElement) -> list[markup.Block]:
    """The tree in reading order, walked without recursion: pages may nest as deep as they like."""
    writer = Writer()
    level = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    skipped: HtmlElement | None = None
    for event, element in walker:
        if event == "end":
            if element is not skipped:
                writer.close(element)
            writer.add(element.tail if element is not root else None)
        elif _is_dropped(element):
            skipped = element
            walker.skip_subtree()
        elif element.tag == "table" and element is not root and _is_data(element):
            walker.skip_subtree()
            for kind, text in _data(element):
                writer.block(kind, text)
        else:
            if element.tag in HEADINGS:
                level = HEADINGS[element.tag]
            elif _is_heading(element):
                element.tag = f"h{min(level + 1, 6)}"
            writer.open(element)
            writer.add(element.text)
    return writer.blocks()


def _is_heading(element: HtmlElement) -> bool:
    """Whether a paragraph is a heading by its look: a short line in bold letters over text that is not."""
    parent, following = element.getparent(), element.getnext()
    is_over = following is not None and following.tag in _TEXTS and not _is_bold(following)
    if element.tag not in ("p", "div") or not is_over or parent is None or parent.tag not in _SECTIONS:
        return False
    return _is_bold(element) and markup.is_name(markup.one_blank(element.text_content()))


def _is_dropped(element: HtmlElement) -> bool:
    if element.tag == "header":  # a page's banner goes, an article's own head stays
        return not any(above.tag in ("article", "main") for above in element.iterancestors())
    if element.tag == "button" and element.get("aria-expanded") is not None:  # it opens what its heading is about
        return not any(above.tag in HEADINGS for above in element.iterancestors())
    if element.tag in _DROPPED or element.get("role") in _DROPPED_ROLES:
        return True
    if element.tag == "a" and (_is_anchor(element) or _is_skip(element)):
        return True
    # A box that stands before the page (a dialog, a consent banner) is no part of its text.
    is_box = (
        element.get("role") in _OVER_ROLES
        or element.get("aria-modal") == "true"
        or _FIXED.search(element.get("style") or "") is not None
        or _asks_consent(element)
    )
    return is_box and next(element.iter(*_CONTENT), None) is None


def _asks_consent(element: HtmlElement) -> bool:
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    if element.tag not in ("div", "section", "form") or _CONSENT.search(names) is None:
        return False
    text = element.text_content()[: _CONSENT_CHARACTERS + 1].lower()
    is_short = len(text) <= _CONSENT_CHARACTERS and ("cookie" in text or "쿠키" in text)
    return is_short and not any(above.tag in _CONTENT for above in element.iterancestors())


def _is_anchor(link: HtmlElement) -> bool:
    """Whether a link only points to the heading that it stands in: ``¶``, nothing to be read, or words beside it."""
    href = link.get("href") or ""
    if "#" not in href:
        return False
    text = link.text_content().strip()
    if text in _ANCHOR_SIGNS:
        return True
    above = next((each for each in link.iterancestors() if each.tag in HEADINGS), None)
    return above is not None and href == f"#{above.get('id')}" and above.text_content().strip() != text


def _is_skip(link: HtmlElement) -> bool:
    """Whether a link leads over the menus; what it or its box is called is the only sign."""
    names = (of.get("class") or "" for of in (link, link.getparent()) if of is not None)
    return (link.get("href") or "").startswith("#") and any(map(_SKIP.search, names))


def _is_data(table: HtmlElement) -> bool:
    """Whether a table holds data; older pages lay their text out in tables, with headings and tables inside.

    One with headers of its own may have tables in its cells, but not tables within those.
    """
    cells = [cell for row in _own_rows(table) for cell in row.iterchildren("td", "th")]
    if table.get("role") in ("presentation", "none") or len(cells) < 2:
        return False
    has_header = any(cell.tag == "th" for cell in cells)
    may_nest = has_header and table.find(".//table//table") is None
    inside = table.iterdescendants("pre", *HEADINGS, *(() if may_nest else ("table",)))
    return all(may_nest and _above(each, "th") is not None for each in inside)


def _own_rows(table: HtmlElement) -> list[HtmlElement]:
    """The rows as they are shown, those of a ``tfoot`` last."""
    own = [row for row in table.iter("tr") if _above(row, "table") is table]
    return sorted(own, key=lambda row: _group(row) == "tfoot")


def _above(element: HtmlElement, tag: str) -> HtmlElement | None:
    return next(element.iterancestors(tag), None)


def _group(row: HtmlElement) -> str:
    above = row.getparent()
    return str(above.tag) if above is not None else ""


def _data(table: HtmlElement) -> Iterator[markup.Block]:
    """Caption, table and behind it the tables in its cells; a row of headers among the others begins a new table."""
    for caption in table.iterchildren("caption"):
        yield "paragraph", _line(_blocks(caption))
    own = [row for row in _own_rows(table) if not _is_dropped(row)]
    inner: list[markup.Block] = []
    rows = _cells(own, inner)
    tags = ([cell.tag for cell in row.iterchildren("td", "th")] for row in own)
    is_head = [
        group == "thead" or (group != "tfoot" and len(row) > 1 and "td" not in row)
        for group, row in zip(map(_group, own), tags, strict=True)
    ]
    begin = 0
    for n in range(1, len(rows) + 1):
        is_new = n < len(rows) and is_head[n] and not is_head[n - 1] and not all(is_head[n:])
        if n == len(rows) or (is_new and any(len(row) > 1 for row in rows[begin:n])):
            first = next((k for k in range(begin, n) if is_head[k]), begin)
            last = next((k for k in range(first, n) if not is_head[k]), n)
            yield from tables(rows[begin:n], last - begin if is_head[first] else 0)
            begin = n
    yield from inner


def _cells(own: Sequence[HtmlElement], inner: list[markup.Block]) -> list[list[Cell]]:
    """The rows; tables in cells go to ``inner``."""
    groups = [row.getparent() for row in own]
    left = Counter(groups)
    rows: list[list[Cell]] = []
    for row, group in zip(own, groups, strict=True):
        rows.append([])
        for cell in row.iterchildren("td", "th"):
            if _is_dropped(cell):
                continue
            text: markup.Block = "paragraph", cell.text or ""
            blocks = _blocks(cell) if len(cell) else [text]
            inner += (block for block in blocks if block[0] == "table")
            # A cell ends with its group of rows, whatever it says.
            deep = min(whole(cell.get("rowspan"), 1) or _MOST_CELLS, left[group])
            wide = whole(cell.get("colspan"), 1)
            rows[-1].append(Cell(_line(blocks), wide, deep, is_label=cell.tag == "th" or _is_bold(cell)))
        left[group] -= 1
    return rows


def _is_bold(cell: HtmlElement) -> bool:
    beside = [cell.text, *(child.tail for child in cell)]
    return (
        len(cell) == 1
        and cell[0].tag in ("b", "strong")
        and not any((text or "").strip(" \r\n\t:：") for text in beside)
    )


def _line(blocks: Sequence[markup.Block]) -> str:
    """Blocks in one line, items of a list with commas between them; tables are left out."""
    said = ""
    before = ""
    for kind, text in blocks:
        if kind != "table":
            marks = {"list": "- ", "heading": "# "}.get(kind, "")
            said += (", " if kind == before == "list" else " ") + text.lstrip(marks)
        before = kind
    return markup.one_blank(said)
