"""HTML: the text a reader sees, in one Markdown form; broken and hostile files refused by name."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.blocks import blocks
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.reading import SUFFIXES, read

ReadOne = Callable[..., Document]
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
        "heading", "paragraph", "list", "table", "heading", "code", "paragraph",
    ]  # fmt: skip


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
