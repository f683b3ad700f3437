"""PDF: what a page says, in the order a reader reads it, every value under its column; broken files named."""

import functools
import io
import random
import re
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from selfright.domain.blocks import blocks
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest import ocr
from selfright.ingest.readers import pdf_words
from tests.support.mutating import mutated
from tests.support.office import pdf_of

Read = Callable[..., list[Document | UnreadableFile]]
ReadOne = Callable[..., Document]
Draw = Callable[[Any], None]
SENTENCE = "The valve opens when the pressure in the line falls under two bar."
KOREAN = "관의 압력이 2 bar 아래로 내려가면 밸브가 저절로 열립니다."
KOREAN_LINES = " ".join([KOREAN] * 3)
HANGUL = "HYSMyeongJo-Medium"
LEADING = 14


def pdf(*pages: Draw, **options: Any) -> bytes:
    """Pages of 595 × 842 points, each drawn by a function; a Korean font is named, not embedded."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont(HANGUL))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, **options)
    for draw in pages:
        canvas.setFont(HANGUL, 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def texts(*placed: tuple[float, float, str], font: str = HANGUL, size: float = 10) -> Draw:
    """Texts at places."""

    def draw(canvas: Any) -> None:
        canvas.setFont(font, size)
        for x, y, text in placed:
            canvas.drawString(x, y, text)

    return draw


def lines(*said: str, x: float = 72, y: float = 700, **more: Any) -> Draw:
    """Lines one under the other."""
    return texts(*((x, y - LEADING * n, text) for n, text in enumerate(said)), **more)


def both(*draws: Draw) -> Draw:
    def draw(canvas: Any) -> None:
        for one in draws:
            one(canvas)

    return draw


def grid(
    rows: Sequence[Sequence[str]], y: float = 700, merged: Sequence[Any] = (), rules: str = "GRID", width: Any = 100,
    x: float = 60, size: float = 10,
) -> Draw:  # fmt: skip
    """A table; ``merged`` are the ends of cells that reach over several places, ``rules`` may be empty."""

    def draw(canvas: Any) -> None:
        from reportlab.lib.colors import black
        from reportlab.platypus import Table

        style = [("FONT", (0, 0), (-1, -1), HANGUL, size), *(("SPAN", a, b) for a, b in merged)]
        table = Table(
            rows, colWidths=width, style=[*style, *([(rules, (0, 0), (-1, -1), 0.7, black)] if rules else [])]
        )
        _, height = table.wrapOn(canvas, 500, 700)
        table.drawOn(canvas, x, y - height)

    return draw


def tables(text: str) -> list[list[dict[str, str]]]:
    """Each Markdown table as its rows, a value under the name of its column."""
    found = []
    for block in blocks(text):
        if block.kind == "table":
            rows = [
                [cell.strip() for cell in line[1:-1].split("|")] for line in text[block.start : block.end].splitlines()
            ]
            found.append([dict(zip(rows[0], row, strict=True)) for row in rows[2:]])
    return found


ENGLISH_COLUMNS = (
    ["The harbour was dredged in spring,", "when the tides were lowest, and", "the spoil went to the east bank."],
    ["Pilots come aboard at buoy nine", "and leave the ship again when it", "has passed the northern light."],
)
KOREAN_COLUMNS = (
    ["항만은 조수가 가장 낮은 봄에", "준설하였고 퍼 올린 흙은 모두", "동쪽 둑으로 옮겨 쌓았습니다."],
    ["도선사는 9번 부표에서 배에", "오르고 북쪽 등대를 지나면", "다시 배에서 내리게 됩니다."],
)


@pytest.mark.parametrize("columns", [ENGLISH_COLUMNS, KOREAN_COLUMNS], ids=["en", "ko"])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(
    read_one: ReadOne, columns: tuple[list[str], list[str]]
) -> None:
    left, right = (column * 4 for column in columns)
    rows = zip(left, right, strict=True)
    placed = [
        (x, 700 - LEADING * n, text) for n, row in enumerate(rows) for x, text in zip((60, 320), row, strict=True)
    ]
    text = " ".join(read_one("c.pdf", pdf(texts(*placed))).text.split())
    assert text == " ".join([*left, *right])


def test_words_divided_at_line_ends_are_whole(read_one: ReadOne) -> None:
    said = ["The opera-", "tion of a well-known pump costs", "little, as every well-", "known maker has shown."]
    assert read_one("h.pdf", pdf(lines(*said))).text == (
        "The operation of a well-known pump costs little, as every well-known maker has shown."
    )


def test_a_code_divided_at_its_hyphen_is_whole(read_one: ReadOne) -> None:
    assert read_one("h.pdf", pdf(lines("The code is KX99-", "0070 and no other."))).text == (
        "The code is KX99-0070 and no other."
    )


def test_an_address_divided_at_its_hyphen_keeps_it(read_one: ReadOne) -> None:
    assert read_one("h.pdf", pdf(lines("They are at http://pump.test/help/river-", "valves/2017 for all."))).text == (
        "They are at http://pump.test/help/river-valves/2017 for all."
    )


def test_korean_words_cut_at_line_ends_are_whole(read_one: ReadOne) -> None:
    if find_spec("kiwipiepy") is None:
        pytest.skip("the extra 'ko' is not installed")
    said = ["담당자는 사고가 나면 절차를 정", "하여 보고하고 관리자는 그 결과를 바", "탕으로 예산을 다시 편성합니다."]
    assert read_one("k.pdf", pdf(lines(*said))).text == (
        "담당자는 사고가 나면 절차를 정하여 보고하고 관리자는 그 결과를 바탕으로 예산을 다시 편성합니다."
    )


def test_korean_words_that_end_with_the_line_stay_apart(read_one: ReadOne) -> None:
    said = ["밸브는 압력이 오르면", "저절로 열리고 압력이", "내려가면 다시 닫히므로", "손으로 돌릴 필요가 없습니다."]
    assert read_one("k.pdf", pdf(lines(*said))).text == " ".join(said)


def test_the_model_for_korean_is_loaded_where_a_line_end_needs_it_only(
    read_one: ReadOne, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded() -> None:
        raise AssertionError("it takes a second")

    monkeypatch.setattr(pdf_words, "_kiwi", loaded)
    assert read_one("e.pdf", pdf(lines(SENTENCE, SENTENCE, "A short end."))).text.endswith("A short end.")
    assert read_one("k.pdf", pdf(both(lines(KOREAN), grid(PRICES_KO, y=600)))).text.startswith(KOREAN)


PRICES = [["Zone", "Small", "Large"], ["North", "4.10", "9.80"], ["South", "3.90", ""], ["East", "", "8.70"]]
PRICES_KO = [["구역", "소형", "대형"], ["북부", "4,100", "9,800"], ["남부", "3,900", ""], ["동부", "", "8,700"]]


@pytest.mark.parametrize("rules", ["GRID", "LINEBELOW", ""])
@pytest.mark.parametrize("rows", [PRICES, PRICES_KO], ids=["en", "ko"])
def test_each_value_stands_under_its_column(read_one: ReadOne, rows: list[list[str]], rules: str) -> None:
    """Ruled wholly, by lines under the rows, or by the places alone."""
    (found,) = tables(read_one("t.pdf", pdf(grid(rows, rules=rules))).text)
    assert found == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@pytest.mark.parametrize("first", [0, 1])
def test_rows_that_no_rule_parts_are_several(read_one: ReadOne, first: int) -> None:
    """Rules between the columns alone, or between the rows as well but for the first column."""

    def draw(canvas: Any) -> None:
        from reportlab.lib.colors import black
        from reportlab.platypus import Table

        places = [("BOX", (0, 0), (-1, -1)), ("LINEBELOW", (0, 0), (-1, 0)), ("LINEAFTER", (0, 0), (-2, -1))]
        places += [("LINEBELOW", (1, 1), (-1, -1))] * first
        style = [("FONT", (0, 0), (-1, -1), HANGUL, 10), *((*place, 0.7, black) for place in places)]
        table = Table(rows, colWidths=100, style=style)
        table.wrapOn(canvas, 500, 700)
        table.drawOn(canvas, 60, 500)

    rows = [["구역", "소형", "대형"], *([f"구{n}", f"{n},100", f"{n},800"] for n in range(1, 8))]
    (found,) = tables(read_one("t.pdf", pdf(draw)).text)
    assert found == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_a_last_row_on_the_next_page_is_of_the_table(read_one: ReadOne) -> None:
    rows = [["Code", "Part", "Price"], *([f"K-{n}", f"valve {n}", f"{n}.50"] for n in range(21))]
    pages = grid(rows[:21], y=400, rules=""), both(grid(rows[21:], y=800, rules=""), lines(SENTENCE, y=700))
    (found,) = tables(read_one("t.pdf", pdf(*pages)).text)
    assert found == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_a_cell_of_several_lines_is_one_cell(read_one: ReadOne) -> None:
    rows = [["Part", "Use"], ["P-1", "opens when the\npressure falls"], ["P-2", "closes"]]
    (found,) = tables(read_one("t.pdf", pdf(grid(rows))).text)
    assert found == [{"Part": "P-1", "Use": "opens when the pressure falls"}, {"Part": "P-2", "Use": "closes"}]


def test_merged_header_cells_name_each_column_below(read_one: ReadOne) -> None:
    rows = [
        ["지역", "2025", "", "2026", ""],
        ["", "대수", "매출", "대수", "매출"],
        ["북부", "11", "120", "14", "155"],
        ["남부", "7", "80", "9", "99"],
    ]
    merged = [((0, 0), (0, 1)), ((1, 0), (2, 0)), ((3, 0), (4, 0))]
    north, south = tables(read_one("m.pdf", pdf(grid(rows, merged=merged))).text)[0]
    assert north == {
        "지역": "북부", "2025 – 대수": "11", "2025 – 매출": "120", "2026 – 대수": "14", "2026 – 매출": "155",
    }  # fmt: skip
    assert south["2026 – 매출"] == "99"


def test_merged_rows_count_for_each_row(read_one: ReadOne) -> None:
    rows = [["Zone", "Part", "Price"], ["North", "P-1", "4"], ["", "P-2", "5"], ["South", "P-3", "6"]]
    (found,) = tables(read_one("m.pdf", pdf(grid(rows, merged=[((0, 1), (0, 2))]))).text)
    assert [(row["Zone"], row["Price"]) for row in found] == [("North", "4"), ("North", "5"), ("South", "6")]


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("header", [["Code", "Part", "Price"], ["코드", "부품", "가격"]], ids=["en", "ko"])
def test_a_table_over_two_pages_is_one(read_one: ReadOne, header: list[str], repeated: bool) -> None:
    rows = [[f"K-{n}", f"valve {n}", f"{n}.50"] for n in range(40)]
    first = grid([header, *rows[:25]], y=560)
    second = grid([*([header] if repeated else []), *rows[25:]], y=800)
    (found,) = tables(read_one("t.pdf", pdf(first, second)).text)
    assert found == [dict(zip(header, row, strict=True)) for row in rows]


@pytest.mark.parametrize("widths", [(40, 48, 40, 60), (38, 46, 36, 52)])  # the library takes the second for text
def test_a_long_table_of_narrow_cells_is_one(read_one: ReadOne, widths: Sequence[float]) -> None:
    header = ["코드", "품명", "재고", "단가"]
    rows = [[f"{n:05d}", f"부품 {n}", f"{n * 3}개", f"{n * 150:,}원"] for n in range(1, 91)]
    pages = [grid([header, *rows[n : n + 30]], y=780, width=widths) for n in (0, 30, 60)]
    assert tables(read_one("t.pdf", pdf(*pages)).text) == [[dict(zip(header, row, strict=True)) for row in rows]]


def test_a_caption_that_a_rule_of_its_table_cuts_is_read(read_one: ReadOne) -> None:
    page = both(lines("Table 3. Fees of the berths", "(in EUR, without VAT)", y=700), grid(PRICES, y=685))
    assert read_one("n.pdf", pdf(page)).text.startswith("Table 3. Fees of the berths (in EUR, without VAT)\n\n|Zone|")


def test_text_over_a_drawing_is_no_table(read_one: ReadOne) -> None:
    def draw(canvas: Any) -> None:
        dice = random.Random(1)
        for n in range(1_000):
            x, y, length = 50 + dice.random() * 500, 650 + dice.random() * 60, dice.random() * 40
            canvas.line(x, y, *((x + length, y) if n % 2 else (x, y + length)))

    assert read_one("d.pdf", pdf(both(draw, lines(*[SENTENCE] * 3)))).text == " ".join([SENTENCE] * 3)


def test_two_tables_stay_two(read_one: ReadOne) -> None:
    parts = [["Part", "Stock"], ["valve", "14"], ["seal", "90"]]
    page = both(
        grid(parts, y=780),
        lines("Dates of the next deliveries:", y=640),
        grid([["Day", "Ship"], ["3 May", "Iris"]], y=600),
    )
    first, second = tables(read_one("t.pdf", pdf(page)).text)
    assert first[1] == {"Part": "seal", "Stock": "90"}
    assert second == [{"Day": "3 May", "Ship": "Iris"}]


def test_headers_and_footers_stand_once_and_page_numbers_not_at_all(read_one: ReadOne) -> None:
    def page(number: int) -> Draw:
        frame = texts((72, 810, "QMS-4417 Harbour rules"), (72, 30, "대외비"), (290, 30, f"Page {number} of 5"))
        return both(frame, lines(f"Berth {number * 7} is for ships with cargo {'abcde'[number - 1]} only."))

    text = read_one("r.pdf", pdf(*map(page, range(1, 6)))).text
    assert text.count("QMS-4417 Harbour rules") == 1
    assert text.count("대외비") == 1
    assert "Page" not in text
    assert [int(n) for n in re.findall(r"Berth (\d+)", text)] == [7, 14, 21, 28, 35]


def test_page_numbers_in_roman_letters_are_left_out(read_one: ReadOne) -> None:
    numbers = ["iii", "iv", "- v -", "1", "2", "3"]
    pages = [both(texts((290, 30, number)), lines(f"Berth {number} is for ships.")) for number in numbers]
    assert read_one("r.pdf", pdf(*pages)).text == "\n\n".join(f"Berth {number} is for ships." for number in numbers)


def test_a_paragraph_that_runs_over_a_page_is_whole(read_one: ReadOne) -> None:
    first = lines(
        "The pilot boards the ship at buoy nine and stays", "aboard until the ship has passed the northern", y=100
    )
    second = lines("light, where a boat from the harbour takes him", "back to the quay.", y=780)
    assert "the northern light, where" in read_one("p.pdf", pdf(first, second)).text


def test_the_sign_of_a_footnote_is_off_the_word(read_one: ReadOne) -> None:
    def draw(canvas: Any) -> None:
        text = canvas.beginText(72, 700)
        text.setFont("Helvetica", 10)
        text.textOut("The ferry goes to Ostwick.")
        text.setFont("Helvetica", 6)
        text.setRise(4)
        text.textOut("1")
        text.setRise(0)
        text.setFont("Helvetica", 10)
        text.textOut(" It takes 25 m")
        text.setFont("Helvetica", 6)
        text.setRise(4)
        text.textOut("2")
        canvas.drawText(text)
        lines("1 Only from May to September.", y=90, font="Helvetica", size=8)(canvas)

    text = read_one("f.pdf", pdf(draw)).text
    assert "Ostwick. It takes 25 m" in text
    assert "Only from May to September." in text


def test_the_values_of_a_form_and_comments(read_one: ReadOne) -> None:
    def form(canvas: Any) -> None:
        canvas.drawString(72, 760, "Application for a mooring place.")
        fields = canvas.acroForm
        fields.textfield(name="Name", value="Orla Keane", x=72, y=700, tooltip="Full name")
        fields.checkbox(name="Insured", checked=True, x=72, y=650)
        fields.checkbox(name="Pets", checked=False, x=72, y=620)
        fields.choice(name="Berth", value="B", options=["A", "B"], x=72, y=580)
        fields.textfield(name="Empty", value="", x=72, y=500)
        canvas.textAnnotation("Dredged every spring.", Rect=[100, 100, 120, 120])

    assert read_one("form.pdf", pdf(form)).text == (
        "Application for a mooring place.\n\n- Full name: Orla Keane\n- Insured: ✓\n- Berth: B\n- Dredged every spring."
    )


@pytest.mark.parametrize("degrees", [90, 270])
def test_turned_text_is_kept(read_one: ReadOne, degrees: int) -> None:
    def aside(canvas: Any) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.translate(560, 400)
        canvas.rotate(degrees)
        canvas.drawString(0, 0, "Approved in 2024 by the port office")

    text = read_one("t.pdf", pdf(both(lines(SENTENCE, SENTENCE, SENTENCE), aside))).text
    assert f"{SENTENCE} {SENTENCE}" in text
    assert "Approved in 2024 by the port office" in text


@pytest.mark.parametrize(("degrees", "x", "y"), [(90, 595, 0), (180, 595, 842), (270, 0, 842)])
def test_a_page_that_lies_on_its_side_is_read(read_one: ReadOne, degrees: int, x: float, y: float) -> None:
    def turned(canvas: Any) -> None:
        canvas.translate(x, y)
        canvas.rotate(degrees)
        canvas.setFont("Helvetica", 10)
        for n, text in enumerate([*[SENTENCE] * 3, "A short end."]):
            canvas.drawString(72, 400 - LEADING * n, text)

    assert read_one("t.pdf", pdf(turned)).text == f"{' '.join([SENTENCE] * 3)} A short end."


def guide(canvas: Any) -> None:
    lines("Valve Guide", y=760, font="Helvetica-Bold", size=22)(canvas)
    lines(SENTENCE, SENTENCE, "A short end.", y=720)(canvas)
    lines("Maintenance", y=640, font="Helvetica-Bold", size=15)(canvas)
    lines("• first", "• second", y=610)(canvas)
    lines("1. open it", "2. clean it", y=560)(canvas)
    lines(KOREAN, y=500)(canvas)


def test_headings_have_levels_and_lists_items(read_one: ReadOne) -> None:
    document = read_one("guide.pdf", pdf(guide))
    assert document.text == (
        f"# Valve Guide\n\n{SENTENCE} {SENTENCE} A short end.\n\n## Maintenance\n\n- first\n- second\n"
        f"1. open it\n2. clean it\n\n{KOREAN}"
    )


def test_a_line_in_larger_letters_is_a_heading_and_a_sentence_is_none(read_one: ReadOne) -> None:
    page = both(
        lines("보존 기간", y=760, size=15), lines(KOREAN, KOREAN, KOREAN, y=730), lines("120 %", y=660, size=15),
        lines("파기", y=620, size=12), lines(KOREAN, y=590), lines("끝까지 읽으십시오.", y=560, size=12),
        texts((72, 520, "Transfer"), (300, 520, "free"), size=15),
    )  # fmt: skip
    found = read_one("h.pdf", pdf(page)).text.split("\n\n")
    assert found == ["## 보존 기간", KOREAN_LINES, "120 %", "### 파기", KOREAN, "끝까지 읽으십시오.", "Transfer free"]


def test_headings_one_below_the_other_are_two_and_a_sentence_above_a_table_is_none(read_one: ReadOne) -> None:
    page = both(
        texts((72, 760, "Gate Manual"), (72, 733, "1 Keys"), font="Helvetica-Bold", size=18),
        lines("All sums are net of tax.", y=690, size=12), grid(PRICES_KO + PRICES_KO[1:] * 7, y=660),
    )  # fmt: skip
    found = read_one("two.pdf", pdf(page)).text.split("\n\n")
    assert found[:3] == ["## Gate Manual", "## 1 Keys", "All sums are net of tax."]


def test_what_stands_left_of_an_item_is_no_part_of_it(read_one: ReadOne) -> None:
    page = both(lines("1. Park", "2. Pay", x=90, y=700), lines("End of the rules.", x=72, y=664))
    assert read_one("i.pdf", pdf(page)).text == "1. Park\n2. Pay\n\nEnd of the rules."


def test_a_contents_list_has_its_pages_beside_its_names(read_one: ReadOne) -> None:
    said = [f"{name} {'.' * 60} {page}" for name, page in (("Mooring", 3), ("Pilots", 14), ("Dredging", 21))]
    assert "- Pilots … 14" in read_one("toc.pdf", pdf(lines(*said))).text


@pytest.mark.parametrize("said", ["전화 02-2133-4567", "2024년 3월 15일", "KX99-0070 1,250원"])
def test_digits_in_a_font_that_is_named_only_are_right(read_one: ReadOne, said: str) -> None:
    assert read_one("n.pdf", pdf(lines(said))).text == said


@pytest.mark.parametrize("is_apart", [False, True])
def test_syllables_that_stand_alone_in_a_font_that_is_named_only_are_read(read_one: ReadOne, *, is_apart: bool) -> None:
    content = pdf(texts(*((100 * n, 700 - 40 * n, said) for n, said in enumerate(("월", "계", "A동"), 1))))
    if is_apart:  # the parts of the font as objects of their own
        font = re.compile(rb"/DescendantFonts \[ (<<.*?/FontDescriptor )(<<.*?>>)(.*?>>) \]", re.DOTALL)
        own = rb"/DescendantFonts [ 90 0 R ]>>endobj 91 0 obj\2endobj 90 0 obj\1 91 0 R\3endobj 92 0 obj<</Was "
        content = font.sub(own, content).replace(b"/Size ", b"/Size 9")
        font_end = b"/Encoding /UniKS-UCS2-H /Name /F2 /Subtype /Type0 /Type /Font"
        content = content.replace(font_end, b"/F2").replace(
            b"/DescendantFonts [ 90", font_end + b"/DescendantFonts [ 90"
        )
    assert read_one("s.pdf", content).text.split() == ["월", "계", "A동"]


INVOICE = [
    ("Description", "Qty", "Price", "Amount"),
    ("Pump housing", "2", "40.00", "80.00"),
    ("Labour, hours", "3", "60.00", "180.00"),
    ("", "", "Subtotal", "260.00"),
    ("", "", "VAT 19%", "49.40"),
    ("", "", "Total", "309.40"),
]


def test_the_totals_of_an_invoice_without_rules_are_rows_of_their_own(read_one: ReadOne) -> None:
    placed = [
        (x, 640 - 16 * n, of)
        for n, row in enumerate(INVOICE)
        for x, of in zip((60, 260, 340, 440), row, strict=True)
        if of
    ]
    (rows,) = tables(read_one("i.pdf", pdf(texts(*placed))).text)
    assert [tuple(row.values()) for row in rows] == INVOICE[1:]


WRAPPED = [
    ("Plan", "Fee", "Storage", ["Support"]),
    ("Basic", "9.00", "10 GB", ["E-mail only, answers within three", "working days"]),
    ("Plus", "19.00", "100 GB", ["Chat, answers within one day"]),
    ("Pro", "49.00", "1 TB", ["Phone and chat around the clock", "on all days"]),
]


@pytest.mark.parametrize("middle", [0.0, 0.5])
@pytest.mark.parametrize("rules", ["", "down", "across"])
def test_cells_of_several_lines_that_no_rule_parts_are_whole(read_one: ReadOne, middle: float, rules: str) -> None:
    """Level with their row by their tops, or by their middles."""
    placed, ys = [], [712.0]
    for *cells, support in WRAPPED:
        height = 12 * len(support)
        placed += [(x, ys[-1] - 10 - middle * (height - 12), of) for x, of in zip((60, 130, 200), cells, strict=True)]
        placed += [(280, ys[-1] - 10 - 12 * n, of) for n, of in enumerate(support)]
        ys.append(ys[-1] - height - 6)

    def draw(canvas: Any) -> None:
        for x in (56, 126, 196, 276, 480) if rules == "down" else ():
            canvas.line(x, ys[0], x, ys[-1])
        for y in ys if rules == "across" else (ys[:2] if rules else ()):
            canvas.line(56, y, 480, y)

    (rows,) = tables(read_one("w.pdf", pdf(both(texts(*placed, font="Helvetica"), draw))).text)
    assert [tuple(row.values()) for row in rows] == [(*cells, " ".join(of)) for *cells, of in WRAPPED[1:]]


def test_the_last_line_of_a_cell_below_a_table_without_rules_is_of_it(read_one: ReadOne) -> None:
    rows = [
        (700, "등급", "조건", "혜택"),
        (682, "실버", "최근 6개월 동안 구매 금액이 10만 원", "적립 1%, 생일 쿠폰 한 장"),
        (652, "골드", "최근 6개월 동안 구매 금액이 30만 원", "적립 2%, 무료 배송, 생일 쿠폰 두 장"),
    ]
    placed = [(x, y, of) for y, *row in rows for x, of in zip((89, 139, 329), row, strict=True)]
    rest = texts(*placed, (139, 670, "이상인 회원"), (139, 640, "이상인 회원"), (89, 622, "계"), size=9)
    text = read_one("t.pdf", pdf(both(lines("등급은 매월 1일에 다시 정한다.", x=78, y=724), rest))).text
    assert "|골드|최근 6개월 동안 구매 금액이 30만 원 이상인 회원|적립 2%, 무료 배송, 생일 쿠폰 두 장|" in text


def test_a_second_line_of_a_caption_above_a_table_without_rules_is_one(read_one: ReadOne) -> None:
    rows = [("Article", "Description", "Unit", "Price")]
    rows += [(f"SP-{n:03}", f"Seal ring {2 * n} mm", "pc", f"{1.15 * n:.2f}") for n in range(1, 13)]
    placed = [
        (x, 700 - 17 * n, of) for n, row in enumerate(rows) for x, of in zip((31, 116, 343, 428), row, strict=True)
    ]
    above = texts((31, 738, "Table 1: Spare parts."), (31, 721, "All prices in euros, without VAT."), font="Helvetica")
    text = read_one("c.pdf", pdf(both(above, texts(*placed, font="Helvetica")))).text
    assert text.startswith("Table 1: Spare parts.\n\nAll prices in euros, without VAT.\n\n|Article|Description|")


PAIRS = [("Operator", "Blue Sound Ferries"), ("Phone", "0171 555 0123"), ("Office", "Pier 3, daily 7:30-19:00")]


BERTH = [("Harbour master", "R. Hale"), ("VHF channel", "12"), ("Office hours", "8:00-18:00")]
BERTH += [("Water", "free of charge")]


def test_labels_and_values_side_by_side_without_rules_are_pairs(read_one: ReadOne) -> None:
    labels, values = zip(*PAIRS, strict=True)
    columns = lines(*labels, size=12, font="Helvetica"), lines(*values, x=150, size=12, font="Helvetica")
    text = read_one("l.pdf", pdf(both(*columns, lines(SENTENCE, SENTENCE, y=560)))).text
    assert text.startswith("\n".join(f"- {label}: {value}" for label, value in PAIRS))


@pytest.mark.parametrize("pairs", [PAIRS, BERTH])
def test_a_line_right_below_labels_is_none_of_them(read_one: ReadOne, pairs: list[tuple[str, str]]) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    sheet, buffer = getSampleStyleSheet(), io.BytesIO()
    said = [
        Paragraph(of, sheet["Normal"]) for of in ("Table 3. Fees of the berths", "(in EUR)", "Fees are due at once.")
    ]
    fees = Table(
        [["Berth", "Length", "Depth", "Fee"], ["A1", "12 m", "3.5 m", "24.00"], ["A2", "18 m", "4 m", "36.50"]]
    )
    titles = Paragraph("Berths", sheet["Heading1"]), Paragraph("Desk", sheet["Heading2"])
    parts = [titles[0], *said[:2], fees, Spacer(1, 10), titles[1], Table(pairs, hAlign="LEFT"), said[2]]
    SimpleDocTemplate(buffer).build(parts)
    items = "\n".join(f"- {label}: {value}" for label, value in pairs)
    assert read_one("b.pdf", buffer.getvalue()).text.endswith(f"Desk\n\n{items}\n\nFees are due at once.")


def test_a_caption_below_a_table_without_rules_is_no_row(read_one: ReadOne) -> None:
    rows = [["Port", "Depth", "Berths"], ["Ostend", "8 m", "4"], ["Bremen", "11 m", "9"]]
    caption = "Table 1: Depth and berths of the ports."
    text = read_one("c.pdf", pdf(both(grid(rows, rules=""), lines(caption, x=60, y=635), lines(SENTENCE, y=560)))).text
    (found,) = tables(text)
    assert [list(row.values()) for row in found] == rows[1:]
    assert caption in text.split("\n\n")


@pytest.mark.parametrize("sign", ["※", "ㅇ", "g"])  # the last one as a font of signs has it
def test_signs_that_the_library_does_not_know_are_bullets(read_one: ReadOne, sign: str) -> None:
    said = [f"{sign} open the valve", f"{sign} close the line", f"{sign} call the pilot"]
    placed = [(90, 680 - LEADING * n, line) for n, line in enumerate(said)]
    text = read_one("b.pdf", pdf_of([(72, 700, "To do"), *placed])).text
    assert text == "To do\n\n- open the valve\n- close the line\n- call the pilot"


def test_a_bullet_with_indented_lines_is_one(read_one: ReadOne) -> None:
    placed = [(90, 680, "※ open the valve and"), (114, 666, "wait a minute"), (90, 652, "※ close the line")]
    text = read_one("b.pdf", pdf_of([(72, 700, "To do"), *placed])).text
    assert "- open the valve and" in text
    assert "- close the line" in text


@pytest.mark.parametrize("marks", [("①", "②"), ("가.", "나.")])
def test_items_numbered_as_in_korea_stay_apart(read_one: ReadOne, marks: tuple[str, str]) -> None:
    first, second = (
        f"{mark} {said}." for mark, said in zip(marks, ("신분증을 가져온다", "수수료를 낸다"), strict=True)
    )
    text = read_one("k.pdf", pdf(lines(first, second, "※ 분실 신고는 안내대로 한다."))).text
    assert text == f"{first}\n{second}\n- 분실 신고는 안내대로 한다."


def test_lines_around_a_table_in_the_middle_stay_around_it_and_are_no_headings(read_one: ReadOne) -> None:
    page = both(
        lines("신청서", y=760, size=16), grid(PRICES_KO, y=740, size=9), lines("<표 1> 이용료", "(단위: 원)", y=630),
        grid(PRICES_KO, y=605, width=60, x=207, size=9), lines("① 신분증", "② 수수료", y=500),
    )  # fmt: skip
    text = read_one("m.pdf", pdf(page)).text
    assert [block.partition("\n")[0] for block in text.split("\n\n")] == [
        "## 신청서", "|구역|소형|대형|", "<표 1> 이용료 (단위: 원)", "|구역|소형|대형|", "① 신분증"
    ]  # fmt: skip


def test_a_letter_in_front_of_lines_of_prose_is_no_bullet(read_one: ReadOne) -> None:
    said = [
        "I saw the pilot at the pier and",
        "I told her of the valve that",
        "was stuck, then of the pump that",
        "I mend",
    ]
    assert " ".join(said) in read_one("p.pdf", pdf(lines(*said))).text


DRAFT = [
    "The harbour was dredged in the spring, when",
    "the tides were lowest, and the spoil went to",
    "the east bank. Pilots come aboard at buoy nine",
    "and leave the ship again when it has passed",
    "the northern light. They speak by radio.",
] * 2


@pytest.mark.parametrize("gap", [30, 9])
def test_the_line_numbers_of_a_draft_are_no_text(read_one: ReadOne, gap: int) -> None:
    numbers = texts(*((90 - gap, 700 - LEADING * n, str(n + 31)) for n in range(len(DRAFT))), size=7)
    text = read_one("d.pdf", pdf(both(lines(*DRAFT, x=90), numbers))).text
    assert text == " ".join(DRAFT)


def test_the_numbers_of_a_list_stay(read_one: ReadOne) -> None:
    said = [f"{n} Open the valve of pump {n}" for n in range(1, 12)]
    text = read_one("l.pdf", pdf(lines(*said))).text
    assert "11 Open" in text.replace("11. Open", "11 Open")


def test_an_address_goes_on_in_the_next_line(read_one: ReadOne) -> None:
    said = [
        "The parts are listed on the page at https://www.apple.",
        "com/support/pumps, or write a letter to anna@apple.",
        "com and ask. The depth is told at https://example.org/",
        "harbour/depth. The tides are told at https://example.org/",
        "and in the book of the harbour, near the pump. and",
    ]
    text = read_one("a.pdf", pdf(lines(*said))).text
    assert "https://www.apple.com/support/pumps," in text
    assert "anna@apple.com and ask" in text
    assert "https://example.org/harbour/depth." in text
    assert "https://example.org/ and in" in text


def titled(title: str) -> Draw:
    return both(lambda canvas: canvas.setTitle(title), guide)


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("About valves", "About valves"),
        ("밸브 안내 (2판)", "밸브 안내 (2판)"),
        ("Microsoft Word - draft3.doc", "Valve Guide"),
        ("untitled", "Valve Guide"),
        ("report_final.hwp", "Valve Guide"),
        ("print.html", "Valve Guide"),
        ("1111", "Valve Guide"),
        ("Quarterly budget", "Valve Guide"),  # of the file that this one was made from
        ("", "Valve Guide"),
    ],
)
def test_a_title_counts_when_it_says_something(read_one: ReadOne, given: str, title: str) -> None:
    assert read_one("a.pdf", pdf(titled(given))).title == title


def encrypted() -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption

    return pdf(guide, encrypt=StandardEncryption("secret"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (lambda: b"%PDF-1.7\nbroken", "no PDF that can be read"),
        (lambda: b"<html>not one</html>", "no PDF that can be read .it does not begin as one"),
        (lambda: pdf(guide)[:300], "no PDF that can be read"),
        (lambda: pdf(lambda canvas: canvas.rect(9, 9, 9, 9)), r"no text layer.*OCR"),
        (encrypted, "protected by a password"),
    ],
    ids=["broken", "another format", "cut off", "scanned", "encrypted"],
)
def test_a_pdf_that_cannot_be_read_says_why(read_one: ReadOne, content: Callable[[], bytes], why: str) -> None:
    with pytest.raises(UnreadableFile, match=why) as refused:
        read_one("x.pdf", content())
    assert "\n" not in refused.value.why


def picture(canvas: Any) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "grey")), 0, 0, 595, 842)


def test_pages_that_are_pictures_are_named_with_their_numbers(read_file: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    pages = (lines("The valve opens."), picture, lambda _: None, lines("It closes."), picture)
    document, error = read_file("mixed.pdf", pdf(*pages))
    assert isinstance(document, Document)
    assert document.text == "The valve opens.\n\nIt closes."
    assert isinstance(error, UnreadableFile)
    assert "pages without a text layer were left out: 2, 5; recognise the text (OCR)" in error.why
    with pytest.raises(UnreadableFile, match="no text layer"):
        read_file("scanned.pdf", pdf(picture))


@functools.cache
def whole() -> bytes:
    """A bit of everything, its streams plain, so that a fault in them is one in what they say."""
    return pdf(guide, both(grid(PRICES_KO), picture), pageCompression=0)


@pytest.mark.parametrize("seed", range(200))
def test_a_file_with_a_fault_is_read_or_named(read_file: Read, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    content, _ = mutated(whole(), random.Random(seed))
    begun = time.process_time()
    try:
        found = read_file("m.pdf", content)
    except UnreadableFile as error:
        found = [error]
    assert time.process_time() - begun < 5
    assert found
    for item in found:
        said = f"{item.id}{item.title}{item.text}" if isinstance(item, Document) else item.why
        said.encode()
        assert isinstance(item, Document) or "\n" not in said


def test_questions_and_lists_with_marks_far_off_stay_apart(read_one: ReadOne) -> None:
    said = ["Q: Who opens the gate at dawn?", "A: The keeper.", "Q: Who closes it?", "A: The pilot."]
    assert read_one("q.pdf", pdf(lines(*said))).text == "\n\n".join(said)
    marks = [(72, 700 - 14 * n, f"{n + 2}.") for n in range(4)]
    items = [(110, 700 - 14 * n, f"Drain the line of pump {n}") for n in range(4)]
    text = read_one("l.pdf", pdf(texts(*marks, *items))).text
    assert text.split("\n") == [f"{n + 2}. Drain the line of pump {n}" for n in range(4)]
