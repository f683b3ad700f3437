"""Hangul documents, and what all kinds refuse."""

from collections.abc import Callable
from pathlib import Path

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.sandbox import Bounds, ReadDocument, read_apart
from tests.support.office import hwpx, odt, pdf_of, zipped
from tests.support.ooxml import docx, p, sheet, xlsx

ReadOne = Callable[..., Document]
Read = Callable[..., list[Document | UnreadableFile]]


def paragraph(text: str, style: str = "0", beside: str = "") -> str:
    return f'<hp:p styleIDRef="{style}"><hp:run><hp:t>{text}</hp:t>{beside}</hp:run></hp:p>'


def table(*rows: list[str]) -> str:
    cells = ("".join(f"<hp:tc><hp:subList>{cell}</hp:subList></hp:tc>" for cell in row) for row in rows)
    return f"<hp:tbl>{''.join(f'<hp:tr>{row}</hp:tr>' for row in cells)}</hp:tbl>"


def test_a_hangul_document_in_reading_order_every_word_once(read_one: ReadOne) -> None:
    inner = table([paragraph("볼트"), paragraph("너트")])
    outer = table(
        [paragraph("부품"), paragraph("재질")], [paragraph("펌프"), paragraph("강철", beside=inner) + paragraph("황동")]
    )
    box = f"<hp:rect><hp:drawText><hp:subList>{paragraph('상자 안')}</hp:subList></hp:drawText></hp:rect>"
    note = f"<hp:ctrl><hp:footNote><hp:subList>{paragraph('각주입니다.')}</hp:subList></hp:footNote></hp:ctrl>"
    page_head = f"<hp:ctrl><hp:header><hp:subList>{paragraph('머리말')}</hp:subList></hp:header></hp:ctrl>"
    first = (
        paragraph("밸브 안내", "1", page_head)
        + paragraph("압력이<hp:tab/>오르면<hp:lineBreak/>열린다.", beside=note)
        + paragraph("", beside=outer)
    )
    document = read_one("a.hwpx", hwpx(first, paragraph("끝", beside=box), styles={"0": "바탕글", "1": "개요 1"}))
    assert document.text == (
        "# 밸브 안내\n\n압력이 오르면\n열린다.\n\n각주입니다.\n\n"
        "|부품|재질|\n|---|---|\n|펌프|강철 황동|\n\n|볼트|너트|\n\n끝\n\n상자 안"
    )
    assert (document.title, document.language) == ("밸브 안내", "ko")
    assert read_one("b.hwpx", hwpx(paragraph("글"), title="제목")).title == "제목"
    assert read_one("c.hwpx", hwpx(first, styles={"0": "바탕글", "1": "개요 1"}, title="3")).title == "밸브 안내"


@pytest.mark.parametrize("suffix", [".hwpx", ".odt", ".pptx", ".xlsx"])
@pytest.mark.parametrize("content", [b"no archive", zipped({"a.xml": "<a/>"}), b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_what_is_none_of_its_kind_is_refused(read_file: Read, suffix: str, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"that can be read|there is no text|pip install"):
        read_file(f"x{suffix}", content)


@pytest.mark.parametrize(
    ("name", "bomb"), [("bomb.hwpx", hwpx(paragraph("a" * 3_000_000))), ("bomb.docx", docx(p("a" * 3_000_000)))]
)
def test_a_bomb_is_refused_before_it_is_unpacked(read_file: Read, name: str, bomb: bytes) -> None:
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableFile, match=r"unpacks to .* which is too much"):
        read_file(name, bomb, FileLimits(unpacked_bytes=4_000_000))


@pytest.mark.parametrize("kind", ["hwpx", "odt", "pdf", "xlsx"])
def test_each_kind_is_read_within_the_bounds_of_what_is_sent(tmp_path: Path, kind: str) -> None:
    content = {
        "hwpx": lambda: hwpx(paragraph("밸브")),
        "odt": lambda: odt("<text:p>Valve</text:p>"),
        "pdf": lambda: pdf_of([(72, 700, "Valve")]),
        "xlsx": lambda: xlsx({"One": sheet([["part"], ["Valve"]])}),
    }[kind]()
    path = tmp_path / f"a.{kind}"
    path.write_bytes(content)
    (found,) = read_apart(SourceFile(path, path.name), Bounds())
    assert isinstance(found, ReadDocument)
    assert found.spans
