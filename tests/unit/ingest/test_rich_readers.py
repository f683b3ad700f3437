"""HTML and PDF: the text a reader sees, in one Markdown form; broken and hostile files refused by name."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import blocks
from selfright.ingest.files import SourceFile
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
        "|part|bar|\n|---|---|\n|valve|2\\|3|\n\n## Code\n\n```\nopen()\n  close()\n```\n\ntail text"
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
    assert read_one("old.htm", page).text == "# Top\n\n|a|b|\n\nText"


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
