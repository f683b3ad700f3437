"""Office and PDF files made as tests need them, by hand where no library writes what matters."""

import io
import zipfile
from collections.abc import Mapping, Sequence

HP = " ".join(
    f'xmlns:{name}="http://www.hancom.co.kr/hwpml/2011/{full}"'
    for name, full in (("hp", "paragraph"), ("hh", "head"), ("hc", "core"))
)
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
    for name, full in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("svg", "svg-compatible"),
        ("style", "style"), ("presentation", "presentation"),
    )
)  # fmt: skip


def zipped(parts: Mapping[str, str]) -> bytes:
    """An archive with these texts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def changed(content: bytes, name: str, old: str, new: str) -> bytes:
    """The archive with a text of one of its parts replaced."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {of: archive.read(of).decode() for of in archive.namelist()}
    assert old in parts[name]
    return zipped({**parts, name: parts[name].replace(old, new)})


def hwpx(
    *sections: str, title: str = "", styles: Mapping[str, str] | None = None, fills: Mapping[str, str] | None = None
) -> bytes:
    """A Hangul document with these bodies; ``styles`` are names and ``fills`` colours by number."""
    filled = "".join(
        f'<hh:borderFill id="{key}"><hc:fillBrush><hc:winBrush faceColor="{colour}"/></hc:fillBrush></hh:borderFill>'
        for key, colour in (fills or {}).items()
    )
    named = "".join(f'<hh:style id="{key}" name="{name}"/>' for key, name in (styles or {}).items())
    return zipped(
        {
            "mimetype": "application/hwp+zip",
            "Contents/content.hpf": f'<p xmlns:opf="http://www.idpf.org/2007/opf/"><opf:title>{title}</opf:title></p>',
            "Contents/header.xml": f"<hh:head {HP}>{filled}{named}</hh:head>",
            **{f"Contents/section{n}.xml": f"<s {HP}>{body}</s>" for n, body in enumerate(sections)},
        }
    )


def odt(body: str, title: str = "", styles: str = "", kind: str = "text", pages: str = "") -> bytes:
    """An OpenDocument file with this body: a ``text``, ``spreadsheet`` or ``presentation``; ``pages`` are its heads."""
    meta = f'<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></m>'
    own = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    inner = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    master = f"<office:master-styles><style:master-page>{pages}</style:master-page></office:master-styles>"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "meta.xml": meta,
            "styles.xml": f"<office:document-styles {ODF}>{master}</office:document-styles>",
            "content.xml": f"<office:document-content {ODF}>{own}{inner}</office:document-content>",
        }
    )


def pdf_of(placed: Sequence[tuple[float, float, str]]) -> bytes:
    """A page with texts at places; its one font draws boxes and says which letters they mean, in any script."""
    letters = sorted({letter for _, _, text in placed for letter in text})
    code = {letter: f"{n:02x}" for n, letter in enumerate(letters, 1)}
    shown = (f"BT /F1 12 Tf 1 0 0 1 {x} {y} Tm <{''.join(code[c] for c in text)}> Tj ET" for x, y, text in placed)
    count = len(letters)
    meant = "".join(f"<{code[letter]}> <{ord(letter):04x}>\n" for letter in letters)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        f"1 begincodespacerange <00> <ff> endcodespacerange\n{count} beginbfchar\n{meant}endbfchar endcmap end end"
    )
    font = (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[0.001 0 0 0.001 0 0]/CharProcs<</g 6 0 R>>"
        f"/Encoding<</Type/Encoding/Differences[1 {'/g ' * count}]>>/FirstChar 1/LastChar {count}"
        f"/Widths[{'1000 ' * count}]/ToUnicode 7 0 R/Resources<<>>>>"
    )
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    streams = ["\n".join(shown), "1000 0 0 0 900 900 d1 0 0 900 900 re f", cmap]
    content, glyph, unicode_map = (f"<</Length {len(text)}>>stream\n{text}\nendstream" for text in streams)
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", page, content, font, glyph]
    out = b"%PDF-1.7\n"
    places = []
    for number, value in enumerate([*objects, unicode_map], 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{value}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 8\n0000000000 65535 f \n{table}trailer<</Size 8/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return out + end.encode("ascii")
