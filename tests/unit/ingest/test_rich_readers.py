"""HTML, PDF and Word: the text a reader sees, in one Markdown form; broken and hostile files refused by name."""

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import blocks
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import SUFFIXES, read

ReadOne = Callable[..., Document]
SENTENCE = "The valve opens when the pressure in the line falls under two bar."
KOREAN = "관의 압력이 2 bar 아래로 내려가면 밸브가 저절로 열립니다."

PAGE = """<!DOCTYPE html><html><head><title>Valves &amp; seals</title><link rel="canonical" href="https://x.example/v">
<style>p {color: red}</style><script>var hidden = "secret 1";</script></head><body>
<header>Banner <nav><ul><li>Menu</li></ul></nav></header><div role="navigation">Crumbs</div>
<main><article><header><h1>The <em>valve</em></h1></header>
<p>It opens
   at <b>2 bar</b>.<br>Then it closes.<!-- secret 2 --></p><p hidden>secret 3</p>
<span style="display: none">secret 4</span>
<ul><li>first</li><li><p>second</p><ul hidden><li>secret 5</li></ul><ol><li>inner</li></ol></li></ul>
<table><tr><th>part</th><th>bar</th></tr><tr><td>valve<script>secret 6</script></td><td>2|3</td></tr></table>
<h2>Code</h2><pre>open()
  close()</pre>tail text</article></main><aside>Ads</aside><footer>Imprint</footer></body></html>"""


def test_a_page_becomes_markdown_without_what_a_reader_does_not_see(read_one: ReadOne) -> None:
    document = read_one("v.html", PAGE)
    assert (document.title, document.url) == ("Valves & seals", "https://x.example/v")
    assert document.text == (
        "# The valve\n\nIt opens at 2 bar.\nThen it closes.\n\n- first\n- second\n  1. inner\n\n"
        "| part | bar |\n|---|---|\n| valve | 2\\|3 |\n\n## Code\n\n```\nopen()\n  close()\n```\n\ntail text"
    )
    assert [block.kind for block in blocks(document.text)] == [
        "heading",
        "paragraph",
        "list",
        "table",
        "heading",
        "code",
        "paragraph",
    ]


@pytest.mark.parametrize("charset", ["utf-8", "euc-kr", "ks_c_5601-1987", "nonsense"])
def test_a_page_is_read_in_the_encoding_it_names(read_one: ReadOne, charset: str) -> None:
    encoding = "utf-8" if charset in ("utf-8", "nonsense") else "cp949"
    page = f'<html><head><meta charset="{charset}"></head><body><h1>펲시</h1><p>{KOREAN}</p></body></html>'
    document = read_one("ko.html", page.encode(encoding))
    assert document.text == f"# 펲시\n\n{KOREAN}"
    assert (document.title, document.language, document.url) == ("펲시", "ko", None)


def test_a_page_laid_out_in_tables_keeps_its_blocks(read_one: ReadOne) -> None:
    page = "<table><tr><td><h1>Top</h1><table><tr><td>a</td><td>b</td></tr></table><p>Text</p></td></tr></table>"
    assert read_one("old.htm", page).text == "# Top\n\n| a | b |\n\nText"


@pytest.mark.parametrize(
    "page",
    [
        '<?xml version="1.0" encoding="euc-kr"?><html><body><p>text</p></body></html>',
        "<p>text<table><tr><td>",
        "text &#0; &#xD800; &nosuch; <p",
        "<div>" * 1_500 + "text",
        "<b><p>" * 500 + "text",
    ],
)
def test_malformed_pages_still_give_their_text(read_one: ReadOne, page: str) -> None:
    document = read_one("x.html", page)
    assert "text" in document.text
    document.text.encode()


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("<html><script>only()</script></html>", "there is no text in it"),
        ("<!-- -->", "no HTML that can be parsed"),
        ("<div>" * 100_000 + "text", "nested too deeply"),
    ],
)
def test_a_page_that_gives_no_text_or_half_of_it_is_refused(read_one: ReadOne, page: str, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_one("x.html", page)


def pdf(draw: Callable[[Any], None], **options: Any) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, **options)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def lines(canvas: Any) -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont("HYSMyeongJo-Medium"))
    canvas.setFont("Helvetica-Bold", 18)
    canvas.drawString(72, 760, "Valve Guide")
    canvas.setFont("Helvetica", 10)
    for n, line in enumerate([SENTENCE, SENTENCE, "A short end.", "• first", "• second"]):
        canvas.drawString(72, 730 - 14 * n, line)
    canvas.showPage()
    canvas.setFont("HYSMyeongJo-Medium", 10)
    canvas.drawString(72, 760, KOREAN)


def test_pdf_lines_are_joined_and_large_ones_are_headings(read_one: ReadOne) -> None:
    document = read_one("guide.pdf", pdf(lines))
    assert document.text == f"# Valve Guide\n\n{SENTENCE} {SENTENCE} A short end.\n\n- first\n- second\n\n{KOREAN}"
    assert document.title == "Valve Guide"


def test_a_pdf_title_counts_when_it_says_something(read_one: ReadOne) -> None:
    def titled(title: str) -> Callable[[Any], None]:
        return lambda canvas: (canvas.setTitle(title), lines(canvas))  # type: ignore[func-returns-value]

    assert read_one("a.pdf", pdf(titled("About valves"))).title == "About valves"
    assert read_one("b.pdf", pdf(titled("Microsoft Word - draft3.doc"))).title == "Valve Guide"


def encrypted() -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption

    return pdf(lines, encrypt=StandardEncryption("secret"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (lambda: b"%PDF-1.7\nbroken", "no PDF that can be read"),
        (lambda: pdf(lines)[:300], "no PDF that can be read"),
        (lambda: pdf(lambda canvas: canvas.rect(9, 9, 9, 9)), r"no text layer.*OCR"),
        (encrypted, "protected by a password"),
    ],
    ids=["broken", "cut off", "scanned", "encrypted"],
)
def test_a_pdf_that_cannot_be_read_says_why(read_one: ReadOne, content: Callable[[], bytes], why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_one("x.pdf", content())


def word(path: Path, title: str = "") -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = title
    document.add_heading("밸브 안내서", 0)
    document.add_heading("Opening", 1)
    document.add_paragraph(f"{SENTENCE}\n{KOREAN}")
    document.add_paragraph("first", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    table = document.add_table(2, 2)
    for n, text in enumerate(["part", "bar", "valve\nseal", "2|3"]):
        table.cell(n // 2, n % 2).text = text
    document.add_paragraph("The end.")
    document.save(str(path))
    return path.read_bytes()


def test_word_headings_lists_and_tables_become_markdown(read_one: ReadOne, tmp_path: Path) -> None:
    document = read_one("guide.docx", word(tmp_path / "made.docx"))
    assert document.text == (
        f"# 밸브 안내서\n\n# Opening\n\n{SENTENCE}\n{KOREAN}\n\n- first\n  - inner\n\n"
        "| part | bar |\n|---|---|\n| valve seal | 2\\|3 |\n\nThe end."
    )
    assert document.title == "밸브 안내서"
    assert read_one("titled.docx", word(tmp_path / "made.docx", title="About valves")).title == "About valves"


def repacked(content: bytes, change: Callable[[str], str]) -> bytes:
    """A Word file with another main part."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data.decode()) if name == "word/document.xml" else data)
    return buffer.getvalue()


def test_content_controls_insertions_and_deletions_of_word(read_one: ReadOne, tmp_path: Path) -> None:
    marked = (
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>controlled </w:t></w:r><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p></w:sdtContent></w:sdt>"
    )
    content = repacked(word(tmp_path / "made.docx"), lambda xml: xml.replace("<w:body>", "<w:body>" + marked))
    assert read_one("m.docx", content).text.startswith("controlled inserted\n\n# 밸브 안내서")


def cell(*content: str) -> str:
    return f"<w:tc>{''.join(content)}</w:tc>"


def paragraphs(*texts: str) -> str:
    return "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)


def rows(*cells: Sequence[str]) -> str:
    return "".join(["<w:tbl>", *(f"<w:tr>{''.join(row)}</w:tr>" for row in cells), "</w:tbl>"])


def test_every_word_of_nested_tables_text_boxes_and_moves_comes_once(read_one: ReadOne, tmp_path: Path) -> None:
    innermost = rows([cell(paragraphs("deep"))])
    inner = rows(
        [cell(paragraphs("bolt")), cell(paragraphs("nut"))], [cell(paragraphs("M6")), cell(paragraphs("M8"), innermost)]
    )
    controlled = f"<w:sdt><w:sdtContent>{cell(paragraphs('pump'))}</w:sdtContent></w:sdt>"
    boxed = f"<w:p><w:r><w:pict><w:txbxContent>{paragraphs('boxed')}</w:txbxContent></w:pict></w:r></w:p>"
    outer = rows(
        [cell(paragraphs("part")), cell(paragraphs("made of"))],
        [controlled, cell(paragraphs("steel"), inner, paragraphs("and brass"))],
    )
    moved = (
        "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>"
        "<w:p><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>"
    )
    body = outer + rows([cell(boxed)]) + moved
    content = repacked(word(tmp_path / "made.docx"), lambda xml: xml.replace("<w:body>", "<w:body>" + body))
    assert read_one("t.docx", content).text.startswith(
        "| part | made of |\n|---|---|\n| pump | steel and brass |\n\n| bolt | nut |\n|---|---|\n| M6 | M8 |\n\n"
        "| deep |\n\n| boxed |\n\nmoved\n\n# 밸브 안내서"
    )


def test_the_lines_of_a_text_box_do_not_run_together(read_one: ReadOne, tmp_path: Path) -> None:
    box = f"<w:r><w:pict><w:txbxContent>{paragraphs('Open', 'slowly')}</w:txbxContent></w:pict></w:r>"
    body = f"<w:p><w:r><w:t>before</w:t></w:r>{box}<w:r><w:t>behind</w:t></w:r></w:p>"
    content = repacked(word(tmp_path / "made.docx"), lambda xml: xml.replace("<w:body>", "<w:body>" + body))
    assert read_one("b.docx", content).text.startswith("before\nOpen\nslowly\nbehind\n\n# 밸브 안내서")


def test_footnotes_and_endnotes_follow_the_paragraph_that_refers_to_them(read_one: ReadOne, tmp_path: Path) -> None:
    import docx
    from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    document = docx.Document()
    document.add_paragraph("It opens at 7 bar.")
    document.add_paragraph("It closes at 6 bar.")
    names = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    for kind, text in (("footnote", "At 20 degrees."), ("endnote", "Measured in 2024.")):
        xml = f'<w:n xmlns:w="{names}"><w:{kind} w:id="-1"/><w:{kind} w:id="2">{paragraphs(text)}</w:{kind}></w:n>'
        types = getattr(CONTENT_TYPE, f"WML_{kind.upper()}S"), getattr(RELATIONSHIP_TYPE, f"{kind.upper()}S")
        part = Part(PackURI(f"/word/{kind}s.xml"), types[0], xml.encode(), document.part.package)
        document.part.relate_to(part, types[1])
    path = tmp_path / "made.docx"
    document.save(str(path))
    marked = repacked(
        path.read_bytes(),
        lambda xml: xml.replace(
            "bar.</w:t>", 'bar.</w:t><w:footnoteReference w:id="2"/><w:endnoteReference w:id="2"/>', 1
        ),
    )
    assert read_one("n.docx", marked).text == (
        "It opens at 7 bar.\n\nAt 20 degrees.\n\nMeasured in 2024.\n\nIt closes at 6 bar."
    )


def test_a_zip_bomb_is_refused_before_it_is_unpacked(read_file: Callable[..., object], tmp_path: Path) -> None:
    bomb = repacked(word(tmp_path / "made.docx"), lambda xml: xml + " " * 3_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableFile, match=r"unpacks to .* which is too much"):
        read_file("bomb.docx", bomb, FileLimits(unpacked_bytes=4_000_000))


def test_an_entity_bomb_in_word_is_not_expanded(read_one: ReadOne, tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE d [<!ENTITY e0 "boom">{entities}]>'
    content = repacked(
        word(tmp_path / "made.docx"),
        lambda xml: bomb + xml[xml.index("?>") + 2 :].replace("Opening", "&e11;"),
    )
    try:
        assert "boom" not in read_one("bomb.docx", content).text
    except UnreadableFile as error:
        assert "no Word document" in error.why  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda content: b"PK\x03\x04" + content[:50], "no Word document that can be read"),
        (lambda content: content[: len(content) // 2], "no Word document that can be read"),
        (lambda _: b"\xd0\xcf\x11\xe0" + b"x" * 600, "an old .doc or a protected file"),
        (lambda content: repacked(content, lambda xml: xml[:500]), "no Word document that can be read"),
        (lambda _: empty_zip(), "no Word document that can be read"),
    ],
)
def test_broken_word_files_are_refused(
    read_one: ReadOne, tmp_path: Path, change: Callable[[bytes], bytes], why: str
) -> None:
    with pytest.raises(UnreadableFile, match=why) as raised:
        read_one("x.docx", change(word(tmp_path / "made.docx")))
    assert "\n" not in raised.value.why


def empty_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme", "no document")
    return buffer.getvalue()


@given(data=st.binary(max_size=400), suffix=st.sampled_from(sorted(SUFFIXES)), whole=st.booleans())
def test_no_bytes_bring_a_reader_down(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, suffix: str, whole: bool
) -> None:
    head = {".pdf": b"%PDF-1.7\n", ".docx": b"PK\x03\x04", ".jsonl": b'{"text": ', ".csv": b"id,text\n1,"}.get(
        suffix, b"<"
    )
    path = tmp_path_factory.mktemp("bytes") / f"x{suffix}"
    path.write_bytes(head + data if whole else data)
    try:
        for document in read(SourceFile(path, path.name)):
            if isinstance(document, Document):
                f"{document.id}{document.title}{document.text}{document.url}{document.metadata}".encode()
    except UnreadableFile as error:
        assert "\n" not in error.why  # noqa: PT017 - either outcome is right
