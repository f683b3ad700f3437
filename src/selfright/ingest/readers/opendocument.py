"""What is changed in an OpenDocument file before it is read: comments and all that is hidden go."""

from bisect import bisect_left
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree
from lxml.etree import _Element

from selfright.ingest.readers import markup, packed

_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE, _OFFICE, _DRAW, _STYLE, _SHOW = (
    f"{{{_OPEN}:{name}:1.0}}" for name in ("text", "table", "office", "drawing", "style", "presentation")
)
_PARAGRAPH, _CELLS = f"{_TEXT}p", (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_LEFT_OUT = (f"{_OFFICE}annotation", f"{_OFFICE}annotation-end", f"{_TEXT}table-of-content", f"{_TEXT}tracked-changes")
_SHAPES = tuple(
    f"{_DRAW}{name}"
    for name in ("custom-shape", "rect", "ellipse", "circle", "polygon", "polyline", "path", "line", "caption")
)
_TITLE = (
    f'<draw:frame xmlns:draw="{_DRAW[1:-1]}" xmlns:text="{_TEXT[1:-1]}" xmlns:show="{_SHOW[1:-1]}" show:class="title">'
    "<draw:text-box><text:p>Slide {}</text:p></draw:text-box></draw:frame>"
)
_MOST_COLUMNS = 16_384
_MOST_SAID = 1_000  # columns in which a cell says the same
_ABOVE = ("super", *map(str, range(1, 10)))
_GONE = "gone"
_HIDES_ITSELF = {
    f"{_TABLE}table-row": (f"{_TABLE}visibility", ("collapse", "filter")),
    f"{_TEXT}section": (f"{_TEXT}display", ("none",)),
    f"{_TEXT}hidden-text": (f"{_TEXT}is-hidden", ("true", "1")),
    f"{_TEXT}hidden-paragraph": (f"{_TEXT}is-hidden", ("true", "1")),
}
_BY_LETTERS = f"{_TEXT}style-name", f"{_STYLE}text-properties", f"{_TEXT}display", "none"
# The family of the style, the attribute that names it, and which of its properties hides.
_HIDES_BY_STYLE = {
    _PARAGRAPH: ("paragraph", *_BY_LETTERS),
    f"{_TEXT}h": ("paragraph", *_BY_LETTERS),
    f"{_TEXT}span": ("text", *_BY_LETTERS),
    f"{_TABLE}table": ("table", f"{_TABLE}style-name", f"{_STYLE}table-properties", f"{_TABLE}display", "false"),
    f"{_DRAW}page": (
        *("drawing-page", f"{_DRAW}style-name"),
        *(f"{_STYLE}drawing-page-properties", f"{_SHOW}visibility", "hidden"),
    ),
}


def change(parts: dict[str, _Element]) -> dict[str, int]:
    """Takes out what is not shown; how many formulas have no value, by the name of the sheet.

    Raises ``ValueError`` when there is no content.
    """
    content = parts.get("content.xml")
    body = content.find(f"{_OFFICE}body") if content is not None else None
    if body is None:
        raise ValueError("there is no content in it")
    for number, page in enumerate(body.iter(f"{_DRAW}page"), 1):
        frames = [frame for frame in page.iter(f"{_DRAW}frame") if frame.get(f"{_SHOW}class") == "title"]
        if _says_anything(page) and not any(map(_says_anything, frames)):
            page.insert(0, packed.parse_xml(_TITLE.format(number).encode()))
    styles = _Styles(parts)
    for node in [node for node in body.iterdescendants() if node.tag in _LEFT_OUT or styles.is_hidden(node)]:
        is_mark = node.tag == f"{_TEXT}hidden-paragraph"  # which hides its paragraph
        (next(node.iterancestors(_PARAGRAPH), node) if is_mark else node).tag = _GONE
    etree.strip_elements(body, _GONE, with_tail=False)
    for span in filter(styles.is_raised, body.iter(f"{_TEXT}span")):
        span.text = markup.raised(span.text or "")
    for shape in list(body.iter(*_SHAPES)):
        # One with text is read as a box with text, or its words would run into those around it.
        is_on_slide = next(shape.iterancestors(f"{_DRAW}page"), None) is not None
        if not is_on_slide and next(shape.iter(_PARAGRAPH), None) is not None:
            box = shape.makeelement(f"{_DRAW}text-box")
            box.extend(list(shape))
            shape.tag = f"{_DRAW}frame"
            shape.append(box)
    for cell in body.iter(*_CELLS):
        if _times(cell) > _MOST_SAID and _says_anything(cell):
            cell.set(f"{_TABLE}number-columns-repeated", str(_MOST_SAID))
    for table in body.iter(f"{_TABLE}table"):
        _take_out_columns(table)
    text = body.find(f"{_OFFICE}text")
    if text is not None:
        text[:0] = list(_of_pages(parts.get("styles.xml")))
    counts = {of.get(f"{_TABLE}name") or "": _formulas_without_value(of) for of in body.iter(f"{_TABLE}table")}
    return {name: count for name, count in counts.items() if count}


class _Styles:
    """Which styles hide what has them."""

    def __init__(self, parts: dict[str, _Element]) -> None:
        roots = [parts[name] for name in ("styles.xml", "content.xml") if name in parts]
        found = [style for root in roots for style in root.iter(f"{_STYLE}style")]
        self._named = {(of.get(f"{_STYLE}family") or "", of.get(f"{_STYLE}name") or ""): of for of in found}
        self._said: dict[tuple[str, str, str], str] = {}

    def is_hidden(self, node: _Element) -> bool:
        """Whether a node is not shown: by itself, or by its style."""
        tag = str(node.tag)
        if tag in _HIDES_ITSELF:
            name, values = _HIDES_ITSELF[tag]
            return node.get(name) in values
        if tag not in _HIDES_BY_STYLE:
            return False
        family, named, properties, name, value = _HIDES_BY_STYLE[tag]
        return self._find(family, node.get(named) or "", properties, name) == value

    def is_raised(self, span: _Element) -> bool:
        """Whether it stands above the line."""
        named = span.get(f"{_TEXT}style-name") or ""
        return self._find("text", named, f"{_STYLE}text-properties", f"{_STYLE}text-position").startswith(_ABOVE)

    def _find(self, family: str, style: str, properties: str, name: str) -> str:
        """A property of a style, or of the one it is based on."""
        key = family, style, name
        if key not in self._said:
            self._said[key] = ""  # a style that is based on itself
            found = self._named.get((family, style))
            held = found.find(properties) if found is not None else None
            own = held.get(name) if held is not None else None
            above = (found.get(f"{_STYLE}parent-style-name") or "") if found is not None else ""
            self._said[key] = self._find(family, above, properties, name) if own is None and above else own or ""
        return self._said[key]


def _of_pages(styles: _Element | None) -> Iterator[_Element]:
    """The blocks of the headers, then those of the footers, each that says anything but the page, once."""
    seen: set[str] = set()
    if styles is None:
        return
    for place in ("header", "footer"):
        for block in (block for root in styles.iter(f"{_STYLE}{place}") for block in root):
            said = markup.one_blank(" ".join(map(str, block.itertext())))
            fields = block.find(f".//{_TEXT}page-number") is not None
            if said not in seen and any(map(str.isalpha if fields else str.isalnum, said)):
                seen.add(said)
                yield deepcopy(block)


def _take_out_columns(table: _Element) -> None:
    hidden: list[int] = []
    place = 0
    for column in table.iter(f"{_TABLE}table-column"):
        wide = _times(column)
        if column.get(f"{_TABLE}visibility") in ("collapse", "filter"):
            hidden += range(place, min(place + wide, _MOST_COLUMNS))
        place += wide
    for row in table.iter(f"{_TABLE}table-row") if hidden else ():
        place = moved = 0
        for cell in list(row.iterchildren(*_CELLS)):
            wide, reach = _times(cell), _times(cell, "spanned")
            shown, seen = (of - bisect_left(hidden, place + of) + bisect_left(hidden, place) for of in (wide, reach))
            place += wide
            if not shown and seen:  # it reaches out of a hidden column: it moves to the first one that is shown
                shown = moved = 1
            elif moved and shown:
                shown, moved = shown - 1, 0
            cell.set(f"{_TABLE}number-columns-repeated", str(shown))
            if reach > 1:
                cell.set(f"{_TABLE}number-columns-spanned", str(max(seen, 1)))
            if not shown:
                row.remove(cell)


def _times(node: _Element, what: str = "repeated") -> int:
    said = node.get(f"{_TABLE}number-columns-{what}") or "1"
    return min(max(int(said), 1), _MOST_COLUMNS) if said.isdecimal() and len(said) < 9 else 1


def _says_anything(node: _Element) -> bool:
    return any("".join(of.itertext()).strip() for of in node.iter(_PARAGRAPH, f"{_TEXT}h"))


def _formulas_without_value(table: _Element) -> int:
    cells = (cell for cell in table.iter(_CELLS[0]) if cell.get(f"{_TABLE}formula"))
    return sum(1 for cell in cells if cell.get(f"{_OFFICE}value-type") is None and not _says_anything(cell))
