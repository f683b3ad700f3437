"""Presentations, and texts and presentations of OpenDocument: what is shown, in order, and no more."""

import time
from collections.abc import Callable

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from tests.support.office import odt, zipped
from tests.support.ooxml import grid, pptx, shape

ReadOne = Callable[..., Document]


def test_a_presentation_slide_by_slide(read_one: ReadOne) -> None:
    bullets = "<a:p><a:pPr lvl='{}'><a:buChar char='•'/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>"
    numbers = "<a:p><a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>"
    content = pptx(
        shape(bullets.format(0, "Opens at 7 bar"), bullets.format(1, "closes at 6"), place="body")
        + shape("Relief valve", place="title"),
        shape("no title here") + grid(("part", "price"), ("pump", "9")),
        "",
        f"<p:grpSp>{shape('묶음 안')}</p:grpSp>" + shape(numbers.format("첫째"), numbers.format("둘째")),
        notes={1: shape("Say why.", place="body") + shape("7", place="sldNum")},
    )
    document = read_one("a.pptx", content)
    assert document.text == (
        "## Relief valve\n\n- Opens at 7 bar\n  - closes at 6\n\nSay why.\n\n"
        "## Slide 2\n\nno title here\n\n|part|price|\n|---|---|\n|pump|9|\n\n"
        "## Slide 4\n\n묶음 안\n\n1. 첫째\n2. 둘째"
    )
    assert document.title == "Relief valve"


def test_hidden_slides_and_shapes_are_left_out(read_one: ReadOne) -> None:
    content = pptx(
        shape("Launch", place="ctrTitle") + shape("Zircon", hidden=True),
        shape("Budget", place="title") + shape("99 million"),
        shape("마지막", place="title"),
        hidden=[2],
        notes={2: shape("hidden note", place="body")},
        title="PowerPoint Presentation",
    )
    document = read_one("a.pptx", content)
    assert (document.text, document.title) == ("## Launch\n\n## 마지막", "Launch")


def test_the_footer_of_slides_comes_once(read_one: ReadOne) -> None:
    slides = [
        shape(title, place="title") + shape("QMS-4417", place="ftr") + shape("9", place="sldNum") for title in "ab"
    ]
    assert read_one("a.pptx", pptx(*slides)).text == "## a\n\nQMS-4417\n\n## b"


def test_letters_above_the_line_are_off_the_number(read_one: ReadOne) -> None:
    runs = ("", "10"), ('<a:rPr baseline="30000"/>', "6"), ('<a:rPr baseline="-25000"/>', "2"), ("<a:rPr/>", "3")
    said = "".join(f"<a:r>{looks}<a:t>{text}</a:t></a:r>" for looks, text in runs)
    assert read_one("a.pptx", pptx(shape(f"<a:p>{said}</a:p>"))).text == "## Slide 1\n\n10⁶23"
    styles = '<style:style style:name="s" style:family="text"><style:text-properties style:text-position="{}"/>'
    for place, text in (
        ("super 58%", "1,299 1)"),
        ("33% 58%", "1,299 1)"),
        ("sub 58%", "1,2991)"),
        ("-33%", "1,2991)"),
    ):
        body = '<text:p>1,299<text:span text:style-name="s">1)</text:span></text:p>'
        assert read_one("a.odt", odt(body, styles=styles.format(place) + "</style:style>")).text == text


def test_letters_of_fonts_of_signs_are_the_signs(read_one: ReadOne) -> None:
    runs = ("sym", "Wingdings", "à"), ("latin", "Symbol", "b"), ("sym", "Symbol", "b"), ("latin", "Arial", "à")
    said = "".join(
        f'<a:r><a:rPr><a:{kind} typeface="{font}"/></a:rPr><a:t>{text}</a:t></a:r>' for kind, font, text in runs
    )
    assert read_one("a.pptx", pptx(shape(f"<a:p>{said}</a:p>"))).text == "## Slide 1\n\n→βbà"


def test_merged_cells_of_a_slide_count_for_every_place(read_one: ReadOne) -> None:
    rows = (
        ('[rowSpan="2"]Zone', '[gridSpan="2"]Parcel', '[hMerge="1"]'),
        ('[vMerge="1"]', "Small", "Large"),
        ('[rowSpan="2"]North', "4", "9"),
        ('[vMerge="1"]', "5", "11"),
    )
    text = read_one("a.pptx", pptx(shape("Rates", place="title") + grid(*rows))).text
    assert text == ("## Rates\n\n|Zone|Parcel – Small|Parcel – Large|\n|---|---|---|\n|North|4|9|\n|North|5|11|")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pptx(shape("a", place="title"), hidden=[1]), "no slide of it is shown"),
        (pptx(shape("a")).replace(b"slides/slide1.xml", b"slides/slide9.xml"), "no PowerPoint presentation"),
        (zipped({"ppt/presentation.xml": "<a/>"}), "there is no presentation in it"),
    ],
)
def test_a_presentation_that_cannot_be_read_is_named(read_one: ReadOne, content: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_one("a.pptx", content)


def test_an_opendocument_text(read_one: ReadOne) -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:table-of-content><text:index-body><text:p>Pump 1</text:p></text:index-body></text:table-of-content>"
        '<text:h text:outline-level="1">Pump</text:h>'
        "<text:p>It <text:span>runs</text:span><text:s/>daily<text:line-break/>on oil.<text:note><text:note-citation>1"
        "</text:note-citation><text:note-body><text:p>A footnote.</text:p></text:note-body></text:note>"
        "<office:annotation><text:p>a comment</text:p></office:annotation></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deeper</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<text:p>drawn: <draw:rect><text:p>a box</text:p></draw:rect></text:p>"
        "<text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>"
    )
    document = read_one("a.odt", odt(body))
    assert document.text == (
        "# Pump\n\nIt runs daily\non oil.\n\nA footnote.\n\n- one\n  - deeper\n\ndrawn:\n\na box\n\nboxed"
    )
    assert document.title == "Pump"
    assert read_one("b.odt", odt("<text:p>x</text:p>", title="Given")).title == "Given"


def test_numbers_of_lists_and_headings_in_opendocument(read_one: ReadOne) -> None:
    level = "<text:list-level-style-number text:level='{}' style:num-format='1' style:num-suffix='.' {}/>"
    both = level.format(1, "") + level.format(2, "text:display-levels='2'")
    styles = f"<text:list-style style:name='L'>{both}</text:list-style>"
    item = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    inner = f"<text:list>{item.format('두번째', '')}</text:list>"
    heading = "<text:list-item><text:h text:outline-level='2'>Scope</text:h></text:list-item>"
    two = item.format("밸브를 연다", "") + item.format("모터를 켠다", inner)
    body = (
        f"<text:list text:style-name='L'>{two}</text:list>"
        "<text:p>Between.</text:p>"
        f"<text:list text:style-name='L' text:continue-numbering='true'>{item.format('Check', '')}</text:list>"
        f"<text:list text:style-name='L'>{heading}</text:list>"
    )
    assert read_one("a.odt", odt(body, styles=styles)).text == (
        "1. 밸브를 연다\n2. 모터를 켠다\n  - 2.1. 두번째\n\nBetween.\n\n3. Check\n\n## 1. Scope"
    )


def test_merged_cells_lists_and_notes_in_a_table_of_opendocument(read_one: ReadOne) -> None:
    note = "<text:note><text:note-body><text:p>At 20 degrees.</text:p></text:note-body></text:note>"
    items = "".join(f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in ("bolt", "nut"))
    cells = (
        ("<text:p>구분</text:p>", ""), ("<text:p>과정</text:p>", ""), ("<text:p>수강료</text:p>", ""),
        ("<text:p>야간</text:p>", 'table:number-rows-spanned="2"'), (f"<text:list>{items}</text:list>", ""),
        (f"<text:p>7 bar{note}</text:p>", ""),
    )  # fmt: skip
    made = [f"<table:table-cell {extra}>{inner}</table:table-cell>" for inner, extra in cells]
    same = "<table:table-cell table:number-columns-repeated='2'><text:p>same</text:p></table:table-cell>"
    last = f"<table:covered-table-cell/>{same}"
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in ("".join(made[:3]), "".join(made[3:]), last))
    assert read_one("a.odt", odt(f"<table:table>{rows}</table:table>")).text == (
        "|구분|과정|수강료|\n|---|---|---|\n|야간|bolt nut|7 bar|\n|야간|same|same|\n\nAt 20 degrees."
    )


def test_hidden_text_and_heads_of_pages_in_opendocument(read_one: ReadOne) -> None:
    hidden = '<style:text-properties text:display="none"/>'
    styles = (
        f'<style:style style:name="h" style:family="text">{hidden}</style:style>'
        f'<style:style style:name="p" style:family="paragraph">{hidden}</style:style>'
        '<style:style style:name="q" style:family="paragraph" style:parent-style-name="p"/>'
    )
    body = (
        '<text:p>Seen <text:span text:style-name="h">SECRET</text:span>too.</text:p>'
        '<text:p text:style-name="q">SECRET</text:p>'
        '<text:section text:display="none"><text:p>SECRET</text:p></text:section>'
        '<text:p>SECRET<text:hidden-paragraph text:is-hidden="true"/></text:p>'
        '<text:p>끝<text:hidden-text text:is-hidden="true">SECRET</text:hidden-text></text:p>'
    )
    number, page = "<text:p>문서 QMS-4417</text:p>", "<text:p><text:page-number>3</text:page-number></text:p>"
    pages = f"<style:header>{number}</style:header><style:footer>{page}{number}</style:footer>"
    text = read_one("a.odt", odt(body, styles=styles, pages=pages)).text
    assert text == "문서 QMS-4417\n\nSeen too.\n\n끝"


def test_a_presentation_of_opendocument(read_one: ReadOne) -> None:
    frame = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    styles = (
        '<style:style style:name="h" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    body = (
        f"<draw:page>{frame.format('outline', 'Opens at 7 bar')}{frame.format('title', '밸브')}</draw:page>"
        f'<draw:page draw:style-name="h">{frame.format("title", "SECRET")}</draw:page>'
        f"<draw:page>{frame.format('outline', 'no title')}</draw:page>"
    )
    text = read_one("a.odp", odt(body, styles=styles, kind="presentation")).text
    assert text == "## 밸브\n\nOpens at 7 bar\n\n## Slide 3\n\nno title"


def test_a_locked_opendocument_is_named(read_one: ReadOne) -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>'
    )
    locked = zipped({"META-INF/manifest.xml": manifest, "content.xml": "\x01\x02 scrambled"})
    with pytest.raises(UnreadableFile, match="protected by a password"):
        read_one("a.odt", locked)


def test_a_cell_that_is_said_to_be_repeated_a_million_times(read_one: ReadOne) -> None:
    repeated = "<table:table-cell table:number-columns-repeated='{}'><text:p>{}</text:p></table:table-cell>"
    row = "".join(repeated.format(*of) for of in ((1, "a"), (1_048_576, "b"), (1, "c")))
    begun = time.process_time()
    text = read_one("a.odt", odt(f"<table:table><table:table-row>{row}</table:table-row></table:table>")).text
    assert time.process_time() - begun < 2
    assert text.startswith("|a|b|b|")
    assert text.endswith("|b|c|")


def book(*chapters: str, of: int = 0, **more: str) -> bytes:
    """A book of these chapters; its list names ``of`` where it names more than there are."""
    numbers = range(of or len(chapters))
    listed = "".join(f"<item id='i{n}' href='c%20{n}.xhtml' media-type='application/xhtml+xml'/>" for n in numbers)
    spine = "".join(f"<itemref idref='i{n}'/>" for n in numbers)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<c><rootfiles><rootfile full-path='o/b.opf'/></rootfiles></c>",
            "o/b.opf": "<p><metadata><title>책</title></metadata>"
            f"<manifest>{listed}</manifest><spine>{spine}</spine></p>",
            **{f"o/c {n}.xhtml": chapter for n, chapter in enumerate(chapters)},
            **more,
        }
    )


def chapter(body: str) -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body>{body}</body></html>"


def test_a_book(read_one: ReadOne) -> None:
    body = "<h1><img src='a.png' alt='책'/></h1><h1>1장</h1><p>밸브가 열린다.</p>"  # the first one says nothing
    document = read_one("a.epub", book(chapter(body)))
    assert (document.title, document.text) == ("책", "# 책\n\n# 1장\n\n밸브가 열린다.")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<p>a&nbsp;b &mdash; c</p>", "a b — c"),
        ("<p>first<br>second & third</p>", "first\nsecond & third"),
        ("<p>first <b second</p><p>third", "third"),
        ("<p>above</p><aside><p>a note</p></aside>", "above\n\na note"),
    ],
)
def test_a_chapter_that_is_not_well_formed_is_read(read_one: ReadOne, body: str, said: str) -> None:
    text = read_one("a.epub", book(chapter("<p>before</p>"), chapter(body), chapter("<p>behind</p>"))).text
    assert said in text
    assert text.startswith("# 책\n\nbefore\n\n")
    assert text.endswith("\n\nbehind")


LOCKS = {"META-INF/encryption.xml": "<e><CipherReference URI='o/c%200.xhtml'/></e>"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (book(chapter("<p>one</p>"), of=2), "the chapter o/c 1.xhtml is missing"),
        (book("scrambled", **LOCKS), "protected by a password"),
        (zipped({"a": "b"}), "no EPUB book"),
    ],
)
def test_a_book_that_lacks_anything_is_named(read_one: ReadOne, content: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_one("a.epub", content)


def test_rich_text_that_is_cut_off_is_named(read_one: ReadOne) -> None:
    with pytest.raises(UnreadableFile, match="cut off: expected } at its end"):
        read_one("a.rtf", rb"{\rtf1\ansi one\par two\par thr")
