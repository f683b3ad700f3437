"""What is changed in a Word file before it is read: hidden text goes, numbers and page headers come in."""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from xml.sax.saxutils import escape, quoteattr

from lxml.etree import _Element

from selfright.ingest.readers import markup, packed
from selfright.ingest.readers.sign_fonts import as_shown
from selfright.ingest.readers.word_numbers import Numbers, W, is_on, style_chain, value

NUMBERED = "\u2063"
"""Stands behind the number of an item, where the text begins."""

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_NAMED = f'xmlns:w="{W[1:-1]}"'
_LABEL = f'<w:r {_NAMED}><w:t xml:space="preserve">{{}}</w:t></w:r>'
_IN_LIST = f'<w:numPr {_NAMED}><w:ilvl w:val="{{}}"/><w:numId w:val={{}}/></w:numPr>'
_PARAGRAPH, _RUN, _TEXT, _ROW = f"{W}p", f"{W}r", f"{W}t", f"{W}tr"
_CELL_WRAPS = (f"{W}sdt", f"{W}customXml")
_NOT_OF_TEXT = frozenset(f"{W}{name}" for name in ("rPr", "fldChar", "instrText"))
_SEEN = tuple(f"{W}{name}" for name in ("t", "drawing", "pict", "object", "sym", "tab"))
_LETTER = re.compile(r"(?!00[01]|[Dd][89A-Fa-f]|[Ff]{3}[EFef])[0-9A-Fa-f]{4}")
_DELETED_MARK = f"{W}pPr/{W}rPr/{W}del"
_GONE = (f"{W}del", f"{W}moveFrom")
_TEXT_PARTS = frozenset(f"{W}{name}" for name in ("document", "footnotes", "endnotes", "hdr", "ftr"))


def change(parts: dict[str, _Element]) -> None:
    """Changes the parts of a Word file so that they hold what Word shows, and no more.

    Hidden text, rows and deletions are taken out, also the table of contents; the numbers of lists and headings are put
    before their texts, and what stands at the top and bottom of pages comes first, once.
    """
    main = next((name for name, root in parts.items() if root.tag == f"{W}document"), "")
    body = parts[main].find(f"{W}body") if main else None
    if body is None:
        raise ValueError("there is no document in it")
    related = {kind: parts.get(target) for _, kind, target in packed.relations(parts, main)}
    styles = _Styles(related.get("styles"))
    texts = [root for root in parts.values() if root.tag in _TEXT_PARTS]
    for root in texts:
        _take_out(root, styles)
        _mark_looks(root)
    numbering = related.get("numbering")
    numbers = Numbers(styles.by_id, numbering)
    for paragraph in body.iter(_PARAGRAPH):
        _number(paragraph, numbers)
    for form in numbering.iter(f"{W}numFmt") if numbering is not None else ():
        if form.get(f"{W}val") != "none":
            form.set(f"{W}val", "bullet")  # the numbers are in the texts now
    body[:0] = list(_of_pages(parts, main, related.get("settings")))


class _Styles:
    """What styles say of hidden text and of tables of contents."""

    def __init__(self, root: _Element | None) -> None:
        found = root.iterchildren(f"{W}style") if root is not None else ()
        self.by_id = {style.get(f"{W}styleId") or "": style for style in found}
        usual = (name for name, of in self.by_id.items() if of.get(f"{W}default") and of.get(f"{W}type") == "paragraph")
        self._usual = next(usual, "")
        self._hides = bool(is_on(root, "docDefaults", "rPrDefault", "rPr", "vanish"))
        self._vanish = cache(self._find_vanish)

    def is_hidden(self, properties: _Element | None, paragraph: _Element | None) -> bool:
        """Whether a run (or the mark of a paragraph) with these properties is hidden: directly, or by a style."""
        direct = is_on(properties, "vanish")
        if direct is not None:
            return direct
        own = value(paragraph, "pPr", "pStyle") or self._usual
        said = [of for name in (own, value(properties, "rStyle")) if (of := self._vanish(name)) is not None]
        # Where the styles of paragraph and letters both hide, Word shows.
        return said.count(True) == 1 if said else self._hides

    def is_of_contents(self, paragraph: _Element) -> bool:
        """Whether it is a line of a table of contents."""
        name = value(self.by_id.get(value(paragraph, "pPr", "pStyle")), "name").lower()
        return name.startswith("toc ") and name[4:].isdecimal()

    def _find_vanish(self, name: str) -> bool | None:
        said = (is_on(style, "rPr", "vanish") for style in style_chain(self.by_id, name))
        return next((on for on in said if on is not None), None)


def _take_out(root: _Element, styles: _Styles) -> None:
    for wrap in [wrap for wrap in root.iter(*_CELL_WRAPS) if next(wrap.iter(_ROW), None) is not None]:
        _unwrap_rows(wrap)
    for row in list(root.iter(_ROW)):
        if is_on(row, "trPr", "hidden") or row.find(f"{W}trPr/{W}del") is not None:
            packed.remove(row)
    for gone in [gone for gone in root.iter(*_GONE) if gone.find(_RUN) is not None]:
        packed.remove(gone)
    for hyphen in root.iter(f"{W}noBreakHyphen"):
        hyphen.tag, hyphen.text = _TEXT, "-"
    for run in root.iter(_RUN):
        if styles.is_hidden(run.find(f"{W}rPr"), next(run.iterancestors(_PARAGRAPH), None)):
            for child in [child for child in run if child.tag not in _NOT_OF_TEXT]:
                run.remove(child)
    for paragraph in reversed(list(root.iter(_PARAGRAPH))):  # from the last, so that each run is moved once
        following = paragraph.getnext()
        if following is not None and following.tag == _PARAGRAPH and paragraph.find(_DELETED_MARK) is not None:
            # Its end was deleted: it goes on in the next one.
            start = 1 if following.find(f"{W}pPr") is not None else 0
            following[start:start] = [child for child in paragraph if child.tag != f"{W}pPr"]
            packed.remove(paragraph)
    # Of what is not shown not even a blank line is left: such a paragraph is not counted either.
    for paragraph in list(root.iter(_PARAGRAPH)):
        mark = paragraph.find(f"{W}pPr/{W}rPr")
        is_out = paragraph.find(_DELETED_MARK) is not None or styles.is_hidden(mark, paragraph)
        if styles.is_of_contents(paragraph) or (is_out and next(paragraph.iter(*_SEEN), None) is None):
            packed.remove(paragraph)


def _mark_looks(root: _Element) -> None:
    """Keeps what is only seen: signs, letters above the line, and shaded cells, labels as those in bold are."""
    for sign in root.iter(f"{W}sym"):
        code = sign.get(f"{W}char") or ""
        shown = as_shown(chr(int(code, 16)), sign.get(f"{W}font")) if _LETTER.fullmatch(code) else ""
        sign.tag, sign.text = _TEXT, "" if "\ue000" <= shown <= "\uf8ff" else shown
    for run in root.iter(_RUN):
        for fonts in run.iterfind(f"{W}rPr/{W}rFonts"):
            for text in run.iterchildren(_TEXT):
                text.text = as_shown(text.text or "", fonts.get(f"{W}ascii"))
        if value(run, "rPr", "vertAlign") == "superscript":
            for text in run.iterchildren(_TEXT):
                text.text = markup.raised(text.text or "")
    for cell in root.iter(f"{W}tc"):
        shade = cell.find(f"{W}tcPr/{W}shd")
        if shade is not None and (shade.get(f"{W}fill") or "auto") not in ("auto", "FFFFFF"):
            for run in cell.iterfind(f"{_PARAGRAPH}/{_RUN}"):
                looks = run.find(f"{W}rPr")
                if looks is None:
                    looks = run.makeelement(f"{W}rPr")
                    run.insert(0, looks)
                looks.insert(0, looks.makeelement(f"{W}b"))


def _unwrap_rows(wrap: _Element) -> None:
    """Rows that stand in a control become rows of the table itself."""
    table = wrap.getparent()
    if table is not None and table.tag == f"{W}tbl":
        rows = [row for row in wrap.iter(_ROW) if next(row.iterancestors(f"{W}tbl")) is table]
        for row in rows:
            wrap.addprevious(row)
        table.remove(wrap)


def _number(paragraph: _Element, numbers: Numbers) -> None:
    found = numbers.label(paragraph)
    if found is None:
        return
    label, name, level = found
    properties = paragraph.find(f"{W}pPr")
    if properties is None:  # it is numbered, so there is a style
        return
    packed.remove(properties.find(f"{W}numPr"))
    properties.append(packed.parse_xml(_IN_LIST.format(level, quoteattr(name)).encode()))
    if label and any((text.text or "").strip() for text in paragraph.iter(_TEXT)):
        properties.addnext(packed.parse_xml(_LABEL.format(escape(label) + NUMBERED).encode()))


def _of_pages(parts: dict[str, _Element], main: str, settings: _Element | None) -> Iterator[_Element]:
    """The blocks of the headers, then those of the footers, each that says anything but the page, once."""
    targets = {key: target for key, _, target in packed.relations(parts, main)}
    seen: set[str] = set()
    for kind in ("header", "footer"):
        for reference in parts[main].iter(f"{W}{kind}Reference"):
            root = parts.get(targets.get(reference.get(f"{_RELATION}id") or "", ""))
            for block in root if root is not None and _is_used(reference, settings) else ():
                said = markup.one_blank(" ".join(text.text or "" for text in block.iter(_TEXT)))
                if said not in seen and _says_more_than_its_page(said, block):
                    seen.add(said)
                    yield deepcopy(block)


def _says_more_than_its_page(said: str, block: _Element) -> bool:
    simple = (field.get(f"{W}instr") or "" for field in block.iter(f"{W}fldSimple"))
    fields = "".join([*simple, *(field.text or "" for field in block.iter(f"{W}instrText"))])
    return any(map(str.isalpha, said)) or (any(map(str.isdigit, said)) and "PAGE" not in fields)


def _is_used(reference: _Element, settings: _Element | None) -> bool:
    """Whether any page has it: those of first and even pages count where the document says so."""
    kind, section = reference.get(f"{W}type"), reference.getparent()
    if kind == "first":
        return bool(is_on(section, "titlePg"))
    return kind != "even" or bool(is_on(settings, "evenAndOddHeaders"))
