"""Whatever is wrong with a file: it is read or named, soon, and never by halves."""

import io
import json
import random
import time
import zipfile
from collections.abc import Callable

import pytest
from lxml import etree

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.readers import packed
from tests.support.mutating import TEXT_PARTS, mutated
from tests.support.office import hwpx, odt, zipped
from tests.support.ooxml import docx, grid, levels, lists, p, pptx, shape, sheet, style, table, xlsx

ODT = (
    "<text:h text:outline-level='1'>밸브</text:h>"
    "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    "<table:table><table:table-row><table:table-cell table:number-columns-spanned='2'><text:p>a</text:p>"
    "</table:table-cell></table:table-row><table:table-row><table:table-cell table:number-columns-repeated='3'>"
    "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
)
HANGUL = (
    '<hp:p><hp:run><hp:tbl><hp:tr><hp:tc><hp:cellSpan colSpan="2" rowSpan="1"/><hp:p><hp:run><hp:t>값</hp:t></hp:run>'
    "</hp:p></hp:tc></hp:tr></hp:tbl></hp:run></hp:p>"
)
FILES = {
    "a.docx": docx(
        p("Guide", style="H1")
        + "".join(p(f"step {n}", numbered=(1 + n % 2, n % 3)) for n in range(9))
        + table(("구역|down", "소포|2"), ("|v", "소형", "대형"), ("북부", "4", "9")),
        styles=style("H1", shown="heading 1"),
        numbering=levels(("decimal", "%1."), ("ganada", "%1.%2"), ("upperRoman", "%3")) + lists(0, 0, restart=(2,)),
        footnotes=f'<w:footnote w:id="2">{p("Note.")}</w:footnote>',
        pages={"header1": p("QMS-4417")},
    ),
    "a.xlsx": xlsx(
        {
            "A": sheet([["이름", "날짜"], ["펌프", (46184, 1)], ["팬", (1200, 2)]], merged=["A2:A3"], hidden=[9]),
            "B": sheet([["x", "<c><f>A1</f></c>"]]),
        },
        ['yyyy"년" m"월"', "₩#,##0"],
    ),
    "a.pptx": pptx(shape("Rates", place="title") + grid(('[gridSpan="2"]a', '[hMerge="1"]'), ("b", "c")), shape("둘")),
    "a.odt": odt(ODT),
    "a.ods": odt(ODT[ODT.index("<table") :], kind="spreadsheet"),
    "a.rtf": rb"{\rtf1\ansi\ansicpg949 A\par\trowd\cellx1000\cellx2000 part\cell price\cell\row\pard \'b9\'eb\par}",
    "a.html": b"<h1>A</h1><table><tr><th rowspan=2>a<th>b<tr><td colspan=3>1</table><dl><dt>x<dd>y</dl><ol><li>z</ol>",
    "a.hwpx": hwpx(HANGUL),
    "a.json": json.dumps([{"name": "a", "of": [{"b": [1, "값"]}]}, {"question": "c", "answer": "d"}]).encode(),
    "a.csv": '"sep=;"\na;b\n"1";2,5\n\nc;d\n값;"4\n5"\n'.encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_without_a_fault_each_of_them_is_read(
    read_file: Callable[..., list[Document | UnreadableFile]], name: str
) -> None:
    assert isinstance(read_file(name, FILES[name])[0], Document)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.docx", "word/header1.xml"),
        ("a.docx", "word/numbering.xml"),
        ("a.docx", "word/footnotes.xml"),
        ("a.docx", "word/styles.xml"),
        ("a.xlsx", "xl/styles.xml"),
        ("a.hwpx", "Contents/section0.xml"),
    ],
)
def test_a_part_that_is_missing_is_named(
    read_file: Callable[..., list[Document | UnreadableFile]], name: str, part: str
) -> None:
    with zipfile.ZipFile(io.BytesIO(FILES[name])) as archive:
        parts = {of: archive.read(of).decode() for of in archive.namelist() if of != part}
    if name == "a.hwpx":
        parts["Contents/section1.xml"] = parts["Contents/header.xml"]
        parts["Contents/content.hpf"] = '<p><item href="Contents/section0.xml"/></p>'
    with pytest.raises(UnreadableFile, match=f"its part {part} is missing"):
        read_file(name, zipped(parts))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", FILES)
def test_a_file_with_a_fault_is_read_or_named(
    read_file: Callable[..., list[Document | UnreadableFile]], name: str, seed: int
) -> None:
    content, part = mutated(FILES[name], random.Random(f"{name} {seed}"))
    begun = time.process_time()
    try:
        found = read_file(name, content)
    except UnreadableFile as error:
        assert "\n" not in error.why  # noqa: PT017 - either outcome is right
        found = []
    assert time.process_time() - begun < 5
    for item in found:
        (f"{item.id}{item.title}{item.text}" if isinstance(item, Document) else item.why).encode()
    if found and TEXT_PARTS.fullmatch(part):
        assert is_sound(content, part), "half of it was read"


def is_sound(content: bytes, part: str) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        try:
            packed.parse_xml(archive.read(part))
        except etree.XMLSyntaxError:
            return False
    return True
