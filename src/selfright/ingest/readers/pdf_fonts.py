"""What is added to a PDF before it is read, for fonts that it names and does not hold."""

import re
import zlib
from base64 import b64decode

_MOST_BYTES = 4_096  # bytes of a dictionary
_EAST_ASIAN = re.compile(
    rb"/Encoding\s*/(?:Uni\w{1,9}-(?:UCS2|UTF16)|[\w-]{0,20}(?:RKSJ|EUC|UHC|B5|GBK)[\w-]{0,9})-[HV]\b"
)
_OBJECT = re.compile(rb"(\d{1,8})\s+(\d{1,5})\s+obj\s*<<")
_CODES = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
    b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
    b"1 beginbfrange <0020> <007e> <0020> endbfrange\nendcmap end end"
)
# A TrueType font (264 bytes) of one letter, a box, and a table that gives each code this letter.
_BOX = zlib.decompress(
    b64decode(
        "eNpjYGRgYGBjcGBgYlBIz6lMU+s2rACKfABiiYzUxJSEZc5zgOwcIDbLAAqwMrGeArKXALFKRm5JBfMLBhAAkSw5+cmJQJoHiN+A+LmJFQUMzEDTGRhO"
        "ALECA8guIBb7pHwhnt/mKwMzVDcaYJzAtAdIMQPdBBUAcgr+dwBJoHqmCMYJYJNQtEDNZoHKMKGbCbWJByIPtoGZgcFQUFEQxP7rAgDWaCOt"
    )
)
_LETTERS = zlib.compress(bytes(2 * 2**16))
_MAP = re.compile(rb"/CIDToGIDMap\s*(?:/\w+|\d+\s+\d+\s+R)")
_KIND = re.compile(rb"/Subtype\s*/CIDFontType[02]\b")

_Objects = dict[tuple[int, int], bytes]


def with_fonts(data: bytes) -> bytes:
    """The PDF with an update at its end: fonts for Korean, Chinese or Japanese get what their codes mean, and letters.

    Without these ``liteparse`` asks whatever font the system puts in their place: it takes a 2 for a hyphen, and loses
    a syllable that stands alone if that font does not have it.
    """
    fonts: _Objects = {}
    for encoding in _EAST_ASIAN.finditer(data):
        first = max(0, encoding.start() - _MOST_BYTES)
        begin = max(first, data.rfind(b" obj", first, encoding.start()))
        found = _OBJECT.search(data, max(first, data.rfind(b"\n", first, begin)), encoding.start())
        end = data.find(b"endobj", encoding.end(), encoding.end() + _MOST_BYTES)
        font = data[found.end() : end] if found else b""
        if found and end > 0 and b"/ToUnicode" not in font:
            fonts[int(found[1]), int(found[2])] = font
    if not fonts or b"/Encrypt" in data:
        return data
    size = max(map(int, re.findall(rb"/Size\s+(\d{1,8})", data)), default=0)
    root, start = re.findall(rb"/Root\s+\d+\s+\d+\s+R", data), re.findall(rb"startxref\s+(\d+)", data)
    if not (size and root and start):
        return data
    objects: _Objects = {}
    for place, font in fonts.items():
        objects |= _with_letters(data, {place: b"<</ToUnicode %d 0 R %s" % (size, font)}, size)
    objects[size, 0] = b"<</Length %d>>stream\n%s\nendstream\n" % (len(_CODES), _CODES)
    objects[size + 1, 0] = b"<</Length %d/Length1 %d>>stream\n%s\nendstream\n" % (len(_BOX), len(_BOX), _BOX)
    objects[size + 2, 0] = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream\n" % (len(_LETTERS), _LETTERS)
    update, places = bytearray(b"\n"), b""
    for (number, generation), content in sorted(objects.items()):
        places += b"%d 1\n%010d %05d n \n" % (number, len(data) + len(update), generation)
        update += b"%d %d obj\n%sendobj\n" % (number, generation, content)
    end = len(data) + len(update)
    trailer = b"trailer\n<</Size %d %s/Prev %s>>\nstartxref\n%d\n%%%%EOF\n" % (size + 3, root[-1], start[-1], end)
    return data + update + b"xref\n" + places + trailer


def _with_letters(data: bytes, font: _Objects, number: int) -> _Objects:
    """A font and what it refers to, with letters in place of those that it does not hold; as it is where it does.

    ``number`` is that of the table of codes, behind which the two of the letters come.
    """
    objects = dict(font)
    for name in (b"DescendantFonts", b"FontDescriptor"):
        if found := re.search(rb"/%s\s*\[?\s*(\d+)\s+(\d+)\s+R" % name, b"".join(objects.values())):
            objects[int(found[1]), int(found[2])] = object_of(data, (found[1], found[2]))
    whole = b"".join(objects.values())
    if b"/FontFile" in whole or b"/FontName" not in whole:
        return font
    for place, content in objects.items():
        kind = b"/CIDToGIDMap %d 0 R/Subtype/CIDFontType2" % (number + 2)
        named = content.replace(b"/FontName", b"/FontFile2 %d 0 R/FontName" % (number + 1))
        objects[place] = _KIND.sub(kind, _MAP.sub(b"", named))
    return objects


def object_of(data: bytes, place: tuple[bytes, bytes]) -> bytes:
    """What an object of a PDF holds; empty where it is not in plain sight."""
    begin = re.search(rb"(?<!\d)%s\s+%s\s+obj" % place, data)
    return data[begin.end() : data.find(b"endobj", begin.end())] if begin else b""
