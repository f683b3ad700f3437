"""Presentations, workbooks, Hangul and OpenDocument texts, and what PDFs hold beside their text."""

import datetime
import io
import zipfile
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
        "| 부품 | 재질 |\n|---|---|\n| 펌프 | 강철 황동 |\n\n| 볼트 | 너트 |\n\n끝\n\n상자 안"
    )
    assert (document.title, document.language) == ("밸브 안내", "ko")
    assert read_one("b.hwpx", hwpx(paragraph("글"), title="제목")).title == "제목"


def test_an_opendocument_text(read_one: ReadOne) -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Pump</text:h>'
        "<text:p>It <text:span>runs</text:span><text:s/>daily<text:line-break/>on oil.<text:note><text:note-citation>1"
        "</text:note-citation><text:note-body><text:p>A footnote.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deeper</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell><table:table-cell>"
        "<text:p>price</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell "
        'table:number-columns-repeated="2"><text:p>same</text:p></table:table-cell></table:table-row></table:table>'
        "<text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>"
    )
    document = read_one("a.odt", odt(body))
    assert document.text == (
        "# Pump\n\nIt runs daily\non oil.\n\nA footnote.\n\n- one\n  - deeper\n\n"
        "| part | price |\n|---|---|\n| same | same |\n\nboxed"
    )
    assert document.title == "Pump"
    assert read_one("b.odt", odt("<text:p>x</text:p>", title="Given")).title == "Given"


def test_lists_notes_and_boxes_in_the_cells_of_an_opendocument_table(read_one: ReadOne) -> None:
    note = "<text:note><text:note-body><text:p>At 20 degrees.</text:p></text:note-body></text:note>"
    items = "".join(f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in ("bolt", "nut"))
    cells = f"<text:p>parts</text:p><text:list>{items}</text:list>", f"<text:p>7 bar{note}</text:p>"
    row = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
    shape = "<text:p>drawn: <draw:rect><svg:desc>blue</svg:desc><text:p>a box</text:p></draw:rect></text:p>"
    body = f"<table:table><table:table-row>{row}</table:table-row></table:table>{shape}"
    assert read_one("a.odt", odt(body)).text == (
        "| parts bolt nut | 7 bar |\n\nAt 20 degrees.\n\ndrawn:\n\nblue\n\na box"
    )


def test_a_presentation(read_one: ReadOne) -> None:
    pptx = pytest.importorskip("pptx", reason="python-pptx is not installed")
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Relief valve"
    slide.placeholders[1].text_frame.text = "Opens at 7 bar"
    deeper = slide.placeholders[1].text_frame.add_paragraph()
    deeper.text, deeper.level = "closes at 6", 1
    slide.notes_slide.notes_text_frame.text = "Say why."
    other = made.slides.add_slide(made.slide_layouts[6])
    cells = other.shapes.add_table(2, 2, 0, 0, 1_000_000, 1_000_000).table
    for n, text in enumerate(("part", "price", "pump", "9")):
        cells.cell(n // 2, n % 2).text = text
    group = other.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 100, 100).text_frame.text = "grouped"
    made.slides.add_slide(made.slide_layouts[6])
    buffer = io.BytesIO()
    made.save(buffer)
    document = read_one("a.pptx", buffer.getvalue())
    assert document.text == (
        "## Relief valve\n\n- Opens at 7 bar\n  - closes at 6\n\nSay why.\n\n"
        "## Slide 2\n\n| part | price |\n|---|---|\n| pump | 9 |\n\ngrouped"
    )
    assert document.title == "Relief valve"


def workbook(**sheets: list[list[object]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    if "secret" in sheets:
        made["secret"].sheet_state = "hidden"
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def test_the_strict_variant_of_a_workbook_is_named(read_file: Read) -> None:
    """The library sees no sheets in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(One=[["pump"]]))) as old, zipfile.ZipFile(buffer, "w") as strict:
        for name in old.namelist():
            usual, other = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
            data = old.read(name).replace(usual + b"spreadsheetml/2006/main", other + b"spreadsheetml/main")
            strict.writestr(name, data)
    with pytest.raises(UnreadableFile, match="Strict Open XML Spreadsheet"):
        read_file("strict.xlsx", buffer.getvalue())


def test_a_workbook(read_file: Read) -> None:
    (alone,) = read_file("prices.xlsx", workbook(One=[["part", "price"], [], ["pump", 9.5], [None, True]]))
    assert isinstance(alone, Document)
    assert (alone.id, alone.title) == ("prices.xlsx", "prices")
    assert alone.text == "| part | price |\n|---|---|\n| pump | 9.5 |\n|  | TRUE |"
    day = datetime.datetime(2026, 3, 1)
    content = workbook(
        Parts=[["no", "made"], *([n, day] for n in range(1, 151))],
        FAQ=[["text", "title", "shelf"], ["It opens.", "Valve", 3]],
        secret=[["no"]],
        empty=[],
    )
    found = [item for item in read_file("all.xlsx", content) if isinstance(item, Document)]
    assert [item.id for item in found] == ["all.xlsx:Parts", "all.xlsx:FAQ:2"]
    assert found[0].title == "all: Parts"
    assert found[0].text.startswith("| no | made |\n|---|---|\n| 1 | 2026-03-01 |")
    assert (found[1].title, found[1].text, found[1].metadata) == ("Valve", "It opens.", {"shelf": "3"})


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


def test_entities_are_not_expanded(read_file: Read) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = zipped({"content.xml": f'<!DOCTYPE d [<!ENTITY e0 "boom">{entities}]><d>&e11;</d>'})
    with pytest.raises(UnreadableFile):
        read_file("bomb.odt", bomb)


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
        "xlsx": lambda: workbook(One=[["part"], ["Valve"]]),
    }[kind]()
    path = tmp_path / f"a.{kind}"
    path.write_bytes(content)
    (found,) = read_apart(SourceFile(path, path.name), Bounds())
    assert isinstance(found, ReadDocument)
    assert found.spans
