"""Pages to documents."""

import contextlib
import logging
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from selfright.domain.errors import PageUnusable
from selfright.domain.passages import Document
from selfright.web.addresses import target_of
from selfright.web.extract import read_reply
from selfright.web.types import Reply
from tests.support.web_rooms import read_pdf

PAGE = """<!DOCTYPE html><html lang="ko"><head><title>밸브 정비 안내 | 기계마을</title>
<meta property="article:published_time" content="2024-03-05T10:00:00Z">
<style>.q, p.r {display: none} @media screen { #s{font-size:0} }</style></head><body>
<nav>처음 로그인 장바구니</nav><article><h1>밸브 정비 안내</h1>
<p>안전 밸브는 <b>2바</b>에서 열립니다. 해마다 한 번 점검해야 하고, 점검한 날을 적어 둡니다.</p>
<h2>압력표</h2><table><tr><th>모델</th><th>압력</th></tr><tr><td>A1</td><td>2바</td></tr><tr><td>B2</td><td>3.5바</td></tr></table>
<ul><li>먼저 밸브를 잠급니다.</li><li>그다음 압력을 뺍니다.</li></ul>{more}</article>
<footer>저작권 기계마을</footer></body></html>"""


def reply(body: str | bytes, kind: str = "text/html", charset: str | None = None) -> Reply:
    data = body.encode() if isinstance(body, str) else body
    return Reply(target_of("https://example.org/valve"), 200, {}, data, kind, charset)


def read(body: str | bytes, kind: str = "text/html", charset: str | None = None) -> Document:
    return read_reply(reply(body, kind, charset), read_pdf)


def test_a_page_and_what_it_says_of_itself() -> None:
    page = read(PAGE)
    assert page.title.startswith("밸브 정비 안내")
    assert (page.language, page.metadata, page.url) == ("ko", {"date": "2024-03-05"}, "https://example.org/valve")
    assert "안전 밸브는 2바에서 열립니다." in page.text
    assert "## 압력표" in page.text
    assert "| A1 | 2바 |\n| B2 | 3.5바 |" in page.text
    assert "- 먼저 밸브를 잠급니다." in page.text
    assert not any(menu in page.text for menu in ("장바구니", "저작권"))


def test_a_discussion_is_read_whole() -> None:
    posts = "".join(
        f'<div class="post"><p class="who">{n}</p><p>The answer number {n} has words of its own.</p></div>'
        for n in range(4)
    )
    text = read(f"<html><body><article><h1>Who knows valves?</h1>{posts}</article></body></html>").text
    assert all(f"The answer number {n} has words" in text for n in range(4))


HIDDEN = [
    '<p style="display:none">KEEP OUT</p>',
    '<p style="DISPLAY : None !important">KEEP OUT</p>',
    '<div hidden><p>KEEP OUT</p></div>',
    '<p aria-hidden="true">KEEP OUT</p>',
    '<p style="visibility: hidden">KEEP OUT</p>',
    '<p style="font-size:0">KEEP OUT</p>',
    '<p style="font-size: 1px">KEEP OUT</p>',
    '<p style="opacity:0.0">KEEP OUT</p>',
    '<p style="opacity: .01;">KEEP OUT</p>',
    '<p style="position:absolute; left:-9999px">KEEP OUT</p>',
    '<p style="text-indent:-999em">KEEP OUT</p>',
    '<p style="height:0;overflow:hidden">KEEP OUT</p>',
    '<p style="clip: rect(0,0,0,0)">KEEP OUT</p>',
    '<p style="transform: scale(0)">KEEP OUT</p>',
    '<p style="color:#FFF;background:#fff">KEEP OUT</p>',
    '<p style="color: rgb(255, 255, 255)">KEEP OUT</p>',
    '<p style="color: transparent">KEEP OUT</p>',
    '<p style="display/**/:none">KEEP OUT</p>',
    '<p class="q">KEEP OUT</p>',
    '<p class="z r">KEEP OUT</p>',
    '<p id="s">KEEP OUT</p>',
    '<p class="sr-only">KEEP OUT</p>',
    "<!-- KEEP OUT -->",
    "<template><p>KEEP OUT</p></template>",
    "<noscript><p>KEEP OUT</p></noscript>",
    "<script>KEEP OUT</script>",
    '<svg><text>KEEP OUT</text></svg>',
    '<table style="display:none"><tr><td>KEEP OUT</td><td>KEEP OUT</td></tr></table>',
    "<p>seen <span style='display:none'>KEEP OUT</span> words that go on after it.</p>",
    "<p>a\u200bb \u202eKEEP\u202c TUO \U000e004b\U000e0045</p>".replace("KEEP", "words"),
]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN)
def test_hidden_text_is_no_evidence(hidden: str) -> None:
    text = read(PAGE.replace("{more}", f"{hidden}<p>이 뒤의 문단은 남아서 그대로 읽혀야 합니다.</p>")).text
    assert "KEEP OUT" not in text
    assert "이 뒤의 문단은 남아서" in text
    assert not any(mark in text for mark in "\u200b\u202e\u202c\U000e004b")
    if "go on after it" in hidden:
        assert "words that go on after it." in text


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="color:#fff;background:#000">SEEN by everybody who looks.</p>',
        '<div style="background:navy"><p style="color:white">SEEN by everybody who looks.</p></div>',
        '<p style="font-size:10px; line-height: 0.9; opacity: 0.9">SEEN by everybody who looks.</p>',
        '<p style="width:100px; max-width: 0.5em; margin-left: -10px">SEEN by everybody who looks.</p>',
        '<p class="quiet">SEEN by everybody who looks.</p>',
    ],
)
def test_what_is_shown_stays(shown: str) -> None:
    assert "SEEN by everybody" in read(PAGE.replace("{more}", shown)).text


@pytest.mark.parametrize(
    ("encoding", "charset", "meta"),
    [
        ("utf-8", None, ""), ("euc-kr", "euc-kr", ""), ("cp949", None, '<meta charset="euc-kr">'), ("cp949", None, ""),
        ("utf-16", None, ""), ("utf-8-sig", "iso-8859-1", ""),
    ],
)  # fmt: skip
def test_encodings(encoding: str, charset: str | None, meta: str) -> None:
    html = PAGE.replace("<head>", f"<head>{meta}")
    assert "안전 밸브는 2바에서 열립니다." in read(html.encode(encoding), charset=charset).text


@pytest.mark.parametrize("charset", ["utf-7", "rot13", "unicode_escape", "punycode", "zlib_codec", "hex", "idna"])
def test_strange_encodings_are_not_used(charset: str) -> None:
    text = read(PAGE.encode(), charset=charset).text
    assert "안전 밸브는" in text


@pytest.mark.parametrize("days", [*range(1, 32), 400])
def test_a_date_that_has_not_been_is_none(days: int) -> None:
    to_come = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
    assert read(PAGE.replace("2024-03-05", to_come)).metadata == {}


def test_plain_text_and_pdf() -> None:
    assert read("Valve\n\nIt opens at two bar.", "text/plain").text == "Valve\n\nIt opens at two bar."
    page = read(b"%PDF-1.7 ...", "application/pdf")
    assert (page.title, page.text, page.url) == ("Manual", "The manual says two bar.", "https://example.org/valve")


@pytest.mark.parametrize("body", ["", "   ", "<html></html>", "<html><body><script>x</script></body></html>", "\u200b"])
def test_a_page_without_text_is_none(body: str) -> None:
    with pytest.raises(PageUnusable, match=r"example\.org"):
        read(body)


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 50_000 + "deep",
        "<table><tr><td>" * 5_000 + "cell",
        "<p>word " * 50_000,
        "<a href=x>" * 20_000,
        "<table><tr><td>x<td>y</table>" * 480,
        "&" * 200_000,
        "<!--" * 50_000,
        "<p style='" + "a:b;" * 100_000 + "'>x</p>",
        "<style>" + "a{" * 50_000 + "</style><p>x</p>",
        "<style>" + ".a,.b " * 50_000 + "{display:none}</style><p>x</p>",
        "\x00\x01\x02" * 1000,
        "<html><head><meta charset=" + "x" * 100_000,
    ],
    ids=[
        "deep", "tables", "paragraphs", "links", "small tables", "entities", "comments", "style", "sheet", "selectors",
        "control", "meta",
    ],
)  # fmt: skip
def test_spiteful_pages_cost_little(body: str, caplog: pytest.LogCaptureFixture) -> None:
    began = time.thread_time()
    with contextlib.suppress(PageUnusable):
        assert len(read(body).text) <= 1_100_000
    assert time.thread_time() - began < 10
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("path", "name"),
    [("/docs/valve%20manual.pdf?v=2", "valve-manual.pdf"), ("/%EB%B0%B8%EB%B8%8C", "밸브.pdf"), ("/", "page.pdf"),
     ("/..%2F..%2Fetc%2Fpasswd", "etc-passwd.pdf"), ("/" + "a" * 500, "a" * 60 + ".pdf"), ("/%00", "page.pdf")],
)  # fmt: skip
def test_a_pdf_lies_in_a_folder_of_its_own_under_its_own_name(path: str, name: str) -> None:
    seen: list[Path] = []

    def reading(file: Path) -> Document:
        seen.append(file)
        return read_pdf(file)

    page = Reply(target_of(f"https://example.org{path}"), 200, {}, b"%PDF-1.7", "application/pdf")
    read_reply(page, reading)
    assert seen[0].name == name
    assert seen[0].parent.name.startswith("selfright-")
    assert not seen[0].exists()


def test_a_reader_that_breaks_costs_its_page_only() -> None:
    def broken(_path: object) -> Document:
        raise MemoryError

    with pytest.raises(PageUnusable, match="MemoryError"):
        read_reply(reply(b"%PDF-1.7", "application/pdf"), broken)
    with pytest.raises(PageUnusable, match="PDF"):
        read_reply(reply(b"%PDF-1.7", "application/pdf"))
