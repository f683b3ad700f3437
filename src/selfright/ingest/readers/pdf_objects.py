"""A PDF's own bytes: the title in its properties, and tables for fonts that it names but does not bring."""

import codecs
import html
import re
from typing import Any

_XMP = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]*)</rdf:li>", re.DOTALL)
_INFORMATION = re.compile(rb"/Info\s+(\d+)\s+(\d+)\s+R")
_TITLE = re.compile(rb"/Title\s*(?:\(((?:[^\\()]|\\.|\((?:[^\\()]|\\.)*\))*)\)|<([0-9A-Fa-f\s]*)>)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"", b"\n": b"", b"\r": b"", b"\r\n": b""}
_MOST = 4_096  # bytes of a dictionary
_EAST_ASIAN = re.compile(
    rb"/Encoding\s*/(?:Uni\w{1,9}-(?:UCS2|UTF16)|[\w-]{0,20}(?:RKSJ|EUC|UHC|B5|GBK)[\w-]{0,9})-[HV]\b"
)
_OBJECT = re.compile(rb"(\d{1,8})\s+(\d{1,5})\s+obj\s*<<")
_TABLE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
    b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
    b"1 beginbfrange <0020> <007e> <0020> endbfrange\nendcmap end end"
)


def title_of(data: bytes, properties: Any) -> str:
    """The title, empty where there is none in plain sight; ``properties`` are the library's, if it has any."""
    packet = _XMP.search(getattr(properties, "xmp", None) or "")
    if packet:
        return html.unescape(packet[1])
    references = _INFORMATION.findall(data)
    if not references or getattr(properties, "is_encrypted", True):
        return ""
    begin = re.search(rb"(?<!\d)%s\s+%s\s+obj" % references[-1], data)
    found = _TITLE.search(data[begin.end() : begin.end() + _MOST].partition(b"endobj")[0]) if begin else None
    if not found:
        return ""
    digits = b"".join((found[2] or b"").split())
    raw = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()) or _ESCAPE.sub(_unescape, found[1] or b"")
    if raw.startswith(codecs.BOM_UTF16_BE):
        return raw[2:].decode("utf-16-be", "replace").rstrip("\0")
    return raw.decode("utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "cp1252", "replace")


def _unescape(match: re.Match[bytes]) -> bytes:
    sign = match[1]
    return bytes([int(sign, 8) % 256]) if sign.isdigit() and sign < b"8" else _ESCAPED.get(sign, sign)


def with_font_tables(data: bytes) -> bytes:
    """The PDF with an update at its end: fonts for Korean, Chinese or Japanese get a table of what their codes mean.

    Without one ``liteparse`` asks whatever font the system puts in their place, and takes a 2 for a hyphen.
    """
    fonts: dict[tuple[int, int], bytes] = {}
    for encoding in _EAST_ASIAN.finditer(data):
        first = max(0, encoding.start() - _MOST)
        begin = max(first, data.rfind(b" obj", first, encoding.start()))
        found = _OBJECT.search(data, max(first, data.rfind(b"\n", first, begin)), encoding.start())
        end = data.find(b"endobj", encoding.end(), encoding.end() + _MOST)
        font = data[found.end() : end] if found else b""
        if found and end > 0 and b"/ToUnicode" not in font:
            fonts[int(found[1]), int(found[2])] = font
    if not fonts or b"/Encrypt" in data:
        return data
    size = max(map(int, re.findall(rb"/Size\s+(\d{1,8})", data)), default=0)
    root, start = re.findall(rb"/Root\s+\d+\s+\d+\s+R", data), re.findall(rb"startxref\s+(\d+)", data)
    if not (size and root and start):
        return data
    objects = {place: b"<</ToUnicode %d 0 R %s" % (size, font) for place, font in fonts.items()}
    objects[size, 0] = b"<</Length %d>>stream\n%s\nendstream\n" % (len(_TABLE), _TABLE)
    update, places = bytearray(b"\n"), b""
    for (number, generation), content in sorted(objects.items()):
        places += b"%d 1\n%010d %05d n \n" % (number, len(data) + len(update), generation)
        update += b"%d %d obj\n%sendobj\n" % (number, generation, content)
    end = len(data) + len(update)
    trailer = b"trailer\n<</Size %d %s/Prev %s>>\nstartxref\n%d\n%%%%EOF\n" % (size + 1, root[-1], start[-1], end)
    return data + update + b"xref\n" + places + trailer
