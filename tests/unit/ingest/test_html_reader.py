"""Web pages: which value stands under which column or label, and what is no text of the page."""

import html
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.reading import read

ReadOne = Callable[..., Document]

TABLES = {
    "two header rows, a foot before the body, cells that end with their group": (
        "<table><caption>Prices of <b>2026</b></caption><thead><tr><th rowspan=9>Zone<th colspan=2>Parcel</tr>"
        "<tr><th>Small<th>Large</thead><tfoot><tr><th>Sum<th>10<th>24</tfoot>"
        "<tbody><tr><td rowspan=0>North<td>4 EUR<td>9 EUR<tr><td>5 EUR<td>11 EUR</tbody>"
        "<tbody><tr><td rowspan='2px'>South<td colspan=2>by arrangement<tr><td>6 EUR<td>13 EUR</table>",
        "Prices of 2026\n\n|Zone|Parcel – Small|Parcel – Large|\n|---|---|---|\n|North|4 EUR|9 EUR|\n"
        "|North|5 EUR|11 EUR|\n|South|by arrangement|by arrangement|\n|South|6 EUR|13 EUR|\n"
        "|Sum|10|24|",
    ),
    "a title of one header cell above the header": (
        "<table><tr><th colspan=2>요금표<tr><th>구역<th>요금<tr><td>북부<td>4,000원</table>",
        "요금표\n\n|구역|요금|\n|---|---|\n|북부|4,000원|",
    ),
    "headers in the first column and above": (
        "<table><tr><td><th>2025<th>2026<tr><th>Units<td>3<td>4<tr><th>Won<td>900<td>1200</table>",
        "| |2025|2026|\n|---|---|---|\n|Units|3|4|\n|Won|900|1200|",
    ),
    "a second header in the middle begins a table": (
        "<table><tr><th>a<th>b<tr><td>1<td>2<tr><th>c<th>d<tr><td>3<td>4<tr><th>Sum<th>9</table>",
        "|a|b|\n|---|---|\n|1|2|\n\n|c|d|\n|---|---|\n|3|4|\n|Sum|9|",
    ),
    "a section within a table": (
        "<table><tr><th>a<th>b<th>c<tr><th colspan=3>Europe<tr><td>1<td>2<td>3</table>",
        "|a|b|c|\n|---|---|---|\n|Europe| | |\n|1|2|3|",
    ),
    "each value beside its label": (
        "<table><tr><th colspan=2>Tower<tr><th>Height:<td>3 m<br>(old 2 m)<tr><th>Fax<td><tr><th>Colour<td>red</table>",
        "Tower\n\n- Height: 3 m (old 2 m)\n- Colour: red",
    ),
    "each value beside its label in bold": (
        "<table><tr><td><b>Holder</b><td>Kim Haneul<tr><td> <strong>Bank</strong><td>National<tr><td><b>Note</b>:<td>-"
        "</table>",
        "- Holder: Kim Haneul\n- Bank: National\n- Note: -",
    ),
    "two labels a row, and one over several": (
        "<table><tr><th>담당부서<td>총무과<th>전화<td>02-1234<tr><th rowspan=2>운영<th>평일<td colspan=2>9시"
        "<tr><th>주말<td colspan=2>10시</table>",
        "- 담당부서: 총무과\n- 전화: 02-1234\n- 운영 – 평일: 9시\n- 운영 – 주말: 10시",
    ),
    "a table in a cell comes behind": (
        "<table><tr><th>part<th>made of<tr><td>pump<td>steel<table><tr><td>bolt<td>M6</table>and brass</table>",
        "|part|made of|\n|---|---|\n|pump|steel and brass|\n\n|bolt|M6|",
    ),
    "lists and headings in cells": (
        "<table><tr><th><h3>plan</h3><th>has<tr><td>free<td><ul><li>a<li>b</ul></table>",
        "|plan|has|\n|---|---|\n|free|a, b|",
    ),
    "hidden rows and cells": (
        "<table><tr><th>a<th hidden>x<th>b<tr><td>1<td style='display:none'>y<td>2<tr hidden><td>3<td>z<td>4</table>",
        "|a|b|\n|---|---|\n|1|2|",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_values_stand_under_their_columns_and_labels(read_one: ReadOne, name: str) -> None:
    page, text = TABLES[name]
    assert read_one("t.html", page).text == text


OTHERS = {
    "several terms, several definitions": (
        "<dl><dt>SLA<dt>SLO<dd>99.95 percent<dd>measured <p>monthly</dl>",
        "- SLA, SLO: 99.95 percent\n- SLA, SLO: measured\n  monthly",
    ),
    "terms in boxes, with a list, without definition": (
        "<dl><div><dt>RPO:<dd><ul><li>1 h<li>2 h</ul></div><div><dt>환불<dd>14일 이내</div><dt>alone</dl>",
        "- RPO:\n  - 1 h\n  - 2 h\n- 환불: 14일 이내\n\nalone",
    ),
    "terms without a list around them": ("<dt>A<dd>one<dt>B<dd>two", "- A: one\n- B: two"),
    "terms within terms": (
        "<dl><dt>size<dd>in bytes<dl><dt>max<dd>9</dl><dd>or none</dl>",
        "- size: in bytes\n  - max: 9\n- size: or none",
    ),
    "questions are headings, and end with their answer": (
        "<h2>Help</h2><dl><dt>How long?<dd>31 months.<p>Or more.<dt>얼마인가요?<dd>9일입니다.</dl><p>Call us.",
        "## Help\n\n### How long?\n\n31 months.\n\nOr more.\n\n### 얼마인가요?\n\n9일입니다.\n\n## Help\n\nCall us.",
    ),
    "a question among headings that ask": (
        "<h1>FAQ</h1><h3>Fee?</h3><p>12 EUR.</p><details><summary>Why?</summary>So.</details><p>Call us.",
        "# FAQ\n\n### Fee?\n\n12 EUR.\n\n## Why?\n\nSo.\n\n# FAQ\n\nCall us.",
    ),
    "a table by its roles": (
        "<div role=table><div role=row><span role=columnheader>Berth</span><span role=columnheader>Depth</span></div>"
        "<div role=row><span role=cell>A</span><span role=cell>3 m</span></div></div>",
        "|Berth|Depth|\n|---|---|\n|A|3 m|",
    ),
    "details": (
        "<h1>A</h1><details><summary>Islands</summary><p>cost 19 EUR.<p>Always.</details>"
        "<details><summary>Why?</summary>So.</details><h2>B</h2>end",
        "# A\n\n- Islands: cost 19 EUR.\n  Always.\n\n## Why?\n\nSo.\n\n## B\n\nend",
    ),
    "lines in bold letters": (
        "<h2>Desk</h2><p><b>Lost keys</b></p><p>15 EUR.</p><div><strong>Late</strong></div><ul><li>Ring.</ul>"
        "<p><b>By car: left</b></p><p>Or right.</p><p><b>Closed.</b></p><p>Till May.",
        "## Desk\n\n### Lost keys\n\n15 EUR.\n\n### Late\n\n- Ring.\n\nBy car: left\n\nOr right.\n\nClosed.\n\n"
        "Till May.",
    ),
    "numbers": (
        "<ol start=4><li>Weigh<li value=9>Print<ol type=i><li>one<li>two</ol><li>End</ol>",
        "4. Weigh\n9. Print\n  - i. one\n  - ii. two\n10. End",
    ),
    "numbers backwards": ("<ol reversed><li>c<li>b<li>a</ol>", "3. c\n2. b\n1. a"),
    "letters": ("<ol type=A start=26><li>z<li>aa</ol>", "- Z. z\n- AA. aa"),
    "a question that opens its answer": (
        "<h3><button aria-expanded=true>Reset?</button></h3><div>Hold the red key.</div><button>Buy</button>",
        "### Reset?\n\nHold the red key.",
    ),
    "boxes over the page": (
        "<div role=dialog>Subscribe</div><div aria-modal=true>Log in</div><div style='position: fixed; '>Sale</div>"
        "<div id=cookie-consent>We use cookies. <a href=x>Settings</a></div><div class=cookie>쿠키 사용 동의</div>"
        "<main><p class=cookie>Bake the cookie.</p></main>",
        "Bake the cookie.",
    ),
    "a link over the menu": (
        "<a class='skip-nav' href='#c'>Skip</a><div class=skip><a href='#c'>본문 바로가기</a></div><p class=skip>Jump.",
        "Jump.",
    ),
    "what no longer holds": ("<p>Fee: <s>99 EUR</s> <del>89 EUR</del> 79 EUR", "Fee: 79 EUR"),
    "letters above the line": (
        "<p>10<sup>6</sup> kg, 1,299<sup><a href='#n'>1)</a></sup>, 5 m<sup>2</sup>, 2<sup>nd</sup>, H<sub>2</sub>O",
        "10⁶ kg, 1,299 1), 5 m², 2nd, H2O",
    ),
    "where words may be divided": ("<p>al&shy;ler<wbr>gens, data&#8203;base", "allergens, database"),
    "a page that is itself called so": ("<div class='gdpr page'><h1>Cookies</h1>Bake.</div>", "# Cookies\n\nBake."),
    "anchors": (
        "<h1 id=use>Use <a href='/x#use'>¶</a><a href='#use'>Link to this heading</a></h1>"
        "<h2 id=b><a href='#b'>Whole</a></h2><p>See <a href='#b'>below</a>.",
        "# Use\n\n## Whole\n\nSee below.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_terms_lists_and_what_is_no_text(read_one: ReadOne, name: str) -> None:
    page, text = OTHERS[name]
    assert read_one("t.html", page).text == text


def test_the_name_in_a_banner_is_no_title(read_one: ReadOne) -> None:
    banner = "<header><h1>Hanbit Bank</h1></header>"
    page = f"<title>Rainbow card | Hanbit Bank</title>{banner}<main><h2>Rainbow card</h2>Fee: 10,000 won."
    assert read_one("t.html", page).title == "Rainbow card"


@st.composite
def grids(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """A table's rows in HTML, and what stands at every place of it."""
    height, width = draw(st.integers(1, 6)), draw(st.integers(2, 6))
    places: list[list[str]] = [[""] * width for _ in range(height)]
    rows = []
    for r in range(height):
        row = ""
        for c in range(width):
            if places[r][c]:
                continue
            free = next((k for k in range(c, width) if places[r][k]), width) - c
            wide, deep = draw(st.integers(1, free)), draw(st.integers(1, height - r))
            for line in places[r : r + deep]:
                line[c : c + wide] = [f"v{r}.{c}"] * wide
            row += f"<td colspan={wide} rowspan={deep}>v{r}.{c}</td>"
        rows.append(f"<tr>{row}</tr>")
    return "".join(rows), places


@given(grids())
def test_every_value_stands_under_its_own_columns(
    tmp_path_factory: pytest.TempPathFactory, grid: tuple[str, list[list[str]]]
) -> None:
    rows, places = grid
    names = [f"c{n}" for n in range(len(places[0]))]
    head = "".join(f"<th>{name}</th>" for name in names)
    path = tmp_path_factory.mktemp("grid") / "t.html"
    path.write_text(f"<table><tr>{head}</tr>{rows}</table>")
    (document,) = read(SourceFile(path, path.name))
    assert isinstance(document, Document)
    lines = [line.strip("|").split("|") for line in document.text.split("\n")]
    said = [[cell.strip() for cell in line] for line in lines]
    once = [row if len(set(row)) > 1 or len(row) < 3 else [row[0], *[""] * (len(row) - 1)] for row in places]
    assert said == [names, ["---"] * len(names), *once]


@given(st.text(st.sampled_from("<>/ =\"'abdtlhrsume1?-\n") | st.characters(), max_size=200), st.integers(0, 400))
def test_a_page_that_is_damaged_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: str, at: int
) -> None:
    whole = "".join(page for page, _ in [*TABLES.values(), *OTHERS.values()])
    path = tmp_path_factory.mktemp("noise") / "t.html"
    path.write_text(whole[:at] + noise + html.escape(noise) + whole[at + 40 :], "utf-8", "replace")
    with suppress(UnreadableFile):
        for document in read(SourceFile(path, path.name)):
            assert isinstance(document, Document)
            document.text.encode()
