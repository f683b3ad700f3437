"""Hangul documents, what PDFs hold beside their text, and what all kinds refuse."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest import ocr
from selfright.ingest.apart import Bounds, read_apart
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.parallel import ReadDocument
from tests.support.office import hwpx, odt, pdf_of, zipped
from tests.support.ooxml import sheet, xlsx

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


@pytest.mark.parametrize("suffix", [".hwpx", ".odt", ".pptx", ".xlsx"])
@pytest.mark.parametrize("content", [b"no archive", zipped({"a.xml": "<a/>"}), b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_what_is_none_of_its_kind_is_refused(read_file: Read, suffix: str, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"that can be read|there is no text|pip install"):
        read_file(f"x{suffix}", content)


def test_a_bomb_is_refused_before_it_is_unpacked(read_file: Read) -> None:
    bomb = hwpx(paragraph("a" * 3_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableFile, match=r"unpacks to .* which is too much"):
        read_file("bomb.hwpx", bomb, FileLimits(unpacked_bytes=4_000_000))


def form(canvas: Any) -> None:
    canvas.drawString(72, 760, "Application for a mooring place.")
    fields = canvas.acroForm
    fields.textfield(name="Name", value="Orla Keane", x=72, y=700, tooltip="Full name")
    fields.checkbox(name="Insured", checked=True, x=72, y=650)
    fields.checkbox(name="Pets", checked=False, x=72, y=620)
    fields.choice(name="Berth", value="B", options=["A", "B"], x=72, y=580)
    fields.textfield(name="Empty", value="", x=72, y=500)
    canvas.textAnnotation("Dredged every spring.", Rect=[100, 100, 120, 120])


def test_the_values_of_a_form_and_comments(read_one: ReadOne) -> None:
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    form(canvas)
    canvas.save()
    assert read_one("form.pdf", buffer.getvalue()).text == (
        "Application for a mooring place.\n\n- Full name: Orla Keane\n- Insured: ✓\n- Berth: B\n- Dredged every spring."
    )


def test_vertical_text_has_no_blanks_between_its_letters(read_one: ReadOne) -> None:
    columns = ("밸브는압력이", "오르면열린다")
    placed = [(300 - 30 * c, 760 - 16 * n, letter) for c, text in enumerate(columns) for n, letter in enumerate(text)]
    text = read_one("v.pdf", pdf_of([*placed, (72, 400, "가로로 쓴 문장은 남는다.")])).text
    assert text.split("\n\n")[0].startswith("밸브는압력이오르면열린다")
    assert text.endswith("가로로 쓴 문장은 남는다.")


def test_scanned_pages_are_named(read_file: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    def made(*pages: str) -> bytes:
        buffer = io.BytesIO()
        canvas = Canvas(buffer)
        for page in pages:
            if page == "picture":
                canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "grey")), 0, 0, 595, 842)
            elif page:
                canvas.drawString(72, 760, page)
            canvas.showPage()
        canvas.save()
        return buffer.getvalue()

    document, error = read_file("mixed.pdf", made("The valve opens.", "picture", "", "It closes.", "picture"))
    assert isinstance(document, Document)
    assert document.text == "The valve opens.\n\nIt closes."
    assert isinstance(error, UnreadableFile)
    assert "pages without a text layer were left out: 2, 5; recognise the text (OCR)" in error.why
    with pytest.raises(UnreadableFile, match="no text layer"):
        read_file("scanned.pdf", made("picture"))


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
