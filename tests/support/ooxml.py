"""Word, Excel and PowerPoint files made by hand, part by part, as tests need them."""

from collections.abc import Mapping, Sequence

from tests.support.office import zipped

_MS = "http://schemas.openxmlformats.org"
_RELATION = f"{_MS}/officeDocument/2006/relationships"
_W = f'xmlns:w="{_MS}/wordprocessingml/2006/main" xmlns:r="{_RELATION}"'
_X = f'xmlns="{_MS}/spreadsheetml/2006/main" xmlns:r="{_RELATION}"'
_P = f'xmlns:p="{_MS}/presentationml/2006/main" xmlns:a="{_MS}/drawingml/2006/main" xmlns:r="{_RELATION}"'


def relations(*targets: tuple[str, str]) -> str:
    """Relations ``rId1``… of these kinds to these parts."""
    entries = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_MS}/package/2006/relationships">{entries}</Relationships>'


def properties(title: str) -> str:
    return f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></c>'


def p(*runs: str, style: str = "", numbered: tuple[int, int] | None = None, mark: str = "") -> str:
    """A paragraph of Word; runs are plain text or markup; ``numbered`` is list and level."""
    of_list = f'<w:numPr><w:ilvl w:val="{numbered[1]}"/><w:numId w:val="{numbered[0]}"/></w:numPr>' if numbered else ""
    of_style = f'<w:pStyle w:val="{style}"/>' if style else ""
    of_mark = f"<w:rPr>{mark}</w:rPr>" if mark else ""
    return f"<w:p><w:pPr>{of_style}{of_list}{of_mark}</w:pPr>{''.join(map(run, runs))}</w:p>"


def run(text: str, looks: str = "") -> str:
    return text if text.startswith("<") else f'<w:r><w:rPr>{looks}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def table(*rows: Sequence[str]) -> str:
    """A table of Word; cells are text, or markup of paragraphs, with ``|columns`` or ``|v`` (goes on) behind it."""
    lines = "".join("<w:tr>" + "".join(map(_cell, row)) + "</w:tr>" for row in rows)
    return f"<w:tbl>{lines}</w:tbl>"


def _cell(text: str) -> str:
    content, _, reach = text.partition("|")
    spans = {"": "", "down": '<w:vMerge w:val="restart"/>', "v": "<w:vMerge/>"}
    said = spans.get(reach, f'<w:gridSpan w:val="{reach}"/>')
    return f"<w:tc><w:tcPr>{said}</w:tcPr>{content if content.startswith('<') else p(content)}</w:tc>"


def levels(*forms: tuple[str, str], key: int = 0, extra: str = "") -> str:
    """The levels of a list: how they count, and the text around the number."""
    given = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate(forms)
    )
    return f'<w:abstractNum w:abstractNumId="{key}">{given}{extra}</w:abstractNum>'


def lists(*families: int, restart: Sequence[int] = ()) -> str:
    """Lists 1… of these families; those in ``restart`` begin at 1 again."""
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    return "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{of}"/>{again if n in restart else ""}</w:num>'
        for n, of in enumerate(families, 1)
    )


def docx(body: str, title: str = "", pages: Mapping[str, str] | None = None, **parts: str) -> bytes:
    """A Word file; ``parts``: styles, numbering, footnotes, endnotes, settings. ``pages``: ``header1``, ``footer1``…"""
    roots = {"header": "hdr", "footer": "ftr"}
    kinds = [*((name.rstrip("0123456789"), name) for name in pages or ()), *((name, name) for name in parts)]
    made = {
        f"word/{name}.xml": f"<w:{roots.get(kind, kind)} {_W}>{(pages or {}).get(name) or parts.get(name)}"
        f"</w:{roots.get(kind, kind)}>"
        for kind, name in kinds
    }
    references = "".join(
        f'<w:{kind}Reference w:type="default" r:id="rId{n}"/>' for n, (kind, _) in enumerate(kinds, 1) if kind in roots
    )
    section = f"<w:sectPr>{references}</w:sectPr>"
    return zipped(
        {
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "docProps/core.xml": properties(title),
            "word/_rels/document.xml.rels": relations(*((kind, f"{name}.xml") for kind, name in kinds)),
            "word/document.xml": f"<w:document {_W}><w:body>{body}{section}</w:body></w:document>",
            **made,
        }
    )


def style(name: str, inner: str = "", kind: str = "paragraph", based: str = "", shown: str = "") -> str:
    """A style of Word with this id."""
    on = f'<w:basedOn w:val="{based}"/>' if based else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{shown or name}"/>{on}{inner}</w:style>'


def cell(value: object, style_number: int = 0) -> str:
    """A cell of Excel: text, a number, or markup as it is."""
    if isinstance(value, str) and value.startswith("<c"):
        return value
    if isinstance(value, tuple):
        return cell(*value)
    if value is None:
        return f'<c s="{style_number}"/>'
    if isinstance(value, str):
        return f'<c s="{style_number}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c s="{style_number}"><v>{value}</v></c>'


def sheet(
    rows: Sequence[Sequence[object]], *, merged: Sequence[str] = (), hidden: Sequence[int] = (), columns: str = ""
) -> str:
    """A sheet; ``hidden`` are rows (1…); a cell may be a pair of value and number of its format (1…)."""
    lines = "".join(
        f'<row r="{n}" hidden="{int(n in hidden)}">' + "".join(map(cell, row)) + "</row>"
        for n, row in enumerate(rows, 1)
    )
    spans = "".join(f'<mergeCell ref="{of}"/>' for of in merged)
    spans = f"<mergeCells>{spans}</mergeCells>" if merged else ""
    return f"<worksheet {_X}>{columns}<sheetData>{lines}</sheetData>{spans}</worksheet>"


def xlsx(
    sheets: Mapping[str, str],
    formats: Sequence[str | int] = (),
    states: Mapping[str, str] | None = None,
    title: str = "",
) -> bytes:
    """A workbook; ``formats`` are codes, or numbers of those that every program knows."""
    codes = [(code if isinstance(code, int) else 200 + n, code) for n, code in enumerate(formats)]
    named = "".join(f'<numFmt numFmtId="{n}" formatCode="{_escaped(str(code))}"/>' for n, code in codes if n >= 200)
    used = "".join(f'<xf numFmtId="{n}"/>' for n in (0, *(n for n, _ in codes)))
    entries = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}" state="{(states or {}).get(name, "visible")}"/>'
        for n, name in enumerate(sheets, 1)
    )
    targets = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    return zipped(
        {
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "docProps/core.xml": properties(title),
            "xl/_rels/workbook.xml.rels": relations(*targets, ("styles", "styles.xml")),
            "xl/workbook.xml": f"<workbook {_X}><sheets>{entries}</sheets></workbook>",
            "xl/styles.xml": f"<styleSheet {_X}><numFmts>{named}</numFmts><cellXfs>{used}</cellXfs></styleSheet>",
            **{f"xl/worksheets/sheet{n}.xml": xml for n, xml in enumerate(sheets.values(), 1)},
        }
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def shape(*paragraphs: str, place: str = "", hidden: bool = False) -> str:
    """A shape of PowerPoint; paragraphs are text or markup."""
    named = '<p:cNvPr id="2" name="x" hidden="1"/>' if hidden else '<p:cNvPr id="2" name="x"/>'
    of = f'<p:nvPr><p:ph type="{place}"/></p:nvPr>' if place else "<p:nvPr/>"
    lines = (text if text.startswith("<") else f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    return f"<p:sp><p:nvSpPr>{named}{of}</p:nvSpPr><p:txBody>{''.join(lines)}</p:txBody></p:sp>"


def grid(*rows: Sequence[str]) -> str:
    """A table of PowerPoint; a cell may begin with its attributes in brackets."""
    lines = ""
    for row in rows:
        lines += "<a:tr>"
        for text in row:
            attributes, _, said = text[1:].partition("]") if text.startswith("[") else ("", "", text)
            lines += f"<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{said}</a:t></a:r></a:p></a:txBody></a:tc>"
        lines += "</a:tr>"
    frame = "<p:nvGraphicFramePr><p:cNvPr id='3' name='t'/></p:nvGraphicFramePr>"
    data = f"<a:graphic><a:graphicData><a:tbl>{lines}</a:tbl></a:graphicData></a:graphic>"
    return f"<p:graphicFrame>{frame}{data}</p:graphicFrame>"


def pptx(*slides: str, hidden: Sequence[int] = (), notes: Mapping[int, str] | None = None, title: str = "") -> bytes:
    """A presentation of slides 1… with these shapes; ``notes`` are shapes, too."""
    numbers = range(1, len(slides) + 1)
    parts = {}
    for n, shapes in enumerate(slides, 1):
        shown = ' show="0"' if n in hidden else ""
        parts[f"ppt/slides/slide{n}.xml"] = f"<p:sld {_P}{shown}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    for n, shapes in (notes or {}).items():
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(("notesSlide", f"../notesSlides/notesSlide{n}.xml"))
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        parts[f"ppt/notesSlides/notesSlide{n}.xml"] = f"<p:notes {_P}>{tree}</p:notes>"
    entries = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in numbers)
    return zipped(
        {
            "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
            "docProps/core.xml": properties(title),
            "ppt/_rels/presentation.xml.rels": relations(*(("slide", f"slides/slide{n}.xml") for n in numbers)),
            "ppt/presentation.xml": f"<p:presentation {_P}><p:sldIdLst>{entries}</p:sldIdLst></p:presentation>",
            **parts,
        }
    )
