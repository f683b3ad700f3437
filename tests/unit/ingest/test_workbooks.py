"""Workbooks: each value under its column as it is shown, and nothing that is hidden."""

import io
import time
import zipfile
from collections.abc import Callable

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from tests.support.office import changed, odt
from tests.support.ooxml import sheet, xlsx

_X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ReadOne = Callable[..., Document]
Read = Callable[..., list[Document | UnreadableFile]]


def documents(found: list[Document | UnreadableFile]) -> list[Document]:
    return [item for item in found if isinstance(item, Document)]


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1200, "₩#,##0", "₩1,200"),
        (1200, '"₩"#,##0', "₩1,200"),
        (1200, "[$₩-412]#,##0", "₩1,200"),
        (1200, '#,##0"원"', "1,200원"),
        (1200, "#,##0원", "1,200원"),
        (43, "00000", "00043"),
        (0.125, "0.0%", "12.5%"),
        (0.07, 9, "7%"),
        (-1200, "#,##0;(#,##0)", "(1,200)"),
        (-5, 37, "(5)"),
        (9.5, 44, "$9.50"),
        (-1200, 41, "(1,200)"),
        (1012345678, "000-0000-0000", "010-1234-5678"),
        (-1200, '_-"₩"* #,##0_-;-"₩"* #,##0_-', "-₩1,200"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (9.5, "$#,##0.00", "$9.50"),
        (1e-7, "0.00E+00", "1.00E-07"),
        (46184, 'yyyy"년" m"월" d"일"', "2026년 6월 11일"),
        (46184, "yyyy년 m월 d일", "2026년 6월 11일"),
        (46184, "[$-412]yyyy. mm. dd (aaa)", "2026. 06. 11 (목)"),
        (46184, "[$-ko-KR]aaaa;@", "목요일"),
        (46184, "dd/mm/yyyy", "11/06/2026"),
        (46184, "d mmmm yyyy", "11 June 2026"),
        (46184, "ddd, mmm d", "Thu, Jun 11"),
        (46184, 14, "2026-06-11"),
        (46184, 31, "2026-06-11"),
        (46184, "[$-F800]dddd, mmmm dd, yyyy", "2026-06-11"),
        (46184.5625, "yyyy-mm-dd hh:mm", "2026-06-11 13:30"),
        (46184.5625, "m/d/yy h:mm AM/PM", "6/11/26 1:30 PM"),
        (0.5625, "h:mm", "13:30"),
        (0.25, "오전/오후 h:mm", "오전 6:00"),
        (1.5, "[h]:mm", "36:00"),
        (0.0208333333, "[h]:mm", "0:30"),
        (0.0520833333, "[mm]:ss", "1:15:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (5, ";;;", ""),
        (42, "General", "42"),
        (0.1, 0, "0.1"),
    ],
)
def test_a_value_is_what_is_shown(read_one: ReadOne, value: float, code: str | int, shown: str) -> None:
    rows = [["name", "value"], ["a", (value, 1)]]
    assert read_one("a.xlsx", xlsx({"S": sheet(rows)}, [code])).text == f"|name|value|\n|---|---|\n|a|{shown or ' '}|"


def test_dates_since_1904_truth_errors_and_texts(read_one: ReadOne) -> None:
    cells = ["<c t='b'><v>1</v></c>", "<c t='e'><v>#DIV/0!</v></c>", "<c t='str'><f>A1</f><v>007</v></c>", (44722, 1)]
    content = xlsx({"S": sheet([["a", "b", "c", "d"], cells])}, ["yyyy-mm-dd"])
    text = read_one(
        "a.xlsx", changed(content, "xl/workbook.xml", "<sheets>", '<workbookPr date1904="1"/><sheets>')
    ).text
    assert text.splitlines()[-1] == "|TRUE|#DIV/0!|007|2026-06-11|"


def test_each_sheet_that_is_shown_is_a_document(read_file: Read) -> None:
    alone = documents(read_file("prices.xlsx", xlsx({"One": sheet([["part", "price"], ["pump", 9.5]])})))
    assert [(item.id, item.title) for item in alone] == [("prices.xlsx", "prices")]
    sheets = {
        "부품": sheet([["번호", "이름"], [1, "밸브"]]),
        "secret": sheet([["no"]]),
        "deep": sheet([["nor this"]]),
        "empty": sheet([]),
        "FAQ": sheet([["text", "title", "shelf"], ["It opens.", "Valve", 3]]),
    }
    states = {"secret": "hidden", "deep": "veryHidden"}
    found = documents(read_file("all.xlsx", xlsx(sheets, states=states, title="ignored")))
    assert [(item.id, item.title) for item in found] == [("all.xlsx:부품", "all: 부품"), ("all.xlsx:FAQ:2", "Valve")]
    assert found[0].text == "|번호|이름|\n|---|---|\n|1|밸브|"
    assert (found[1].text, found[1].metadata) == ("It opens.", {"shelf": "3"})


def test_hidden_rows_and_columns_are_left_out(read_one: ReadOne) -> None:
    rows = [["name", "cost", "price", 7], ["pump", 3, 9, 7], ["secret", 1, 2, 7], ["fan", 4, 8, 7]]
    columns = '<cols><col min="2" max="2" width="0"/><col min="4" max="9" hidden="1"/></cols>'
    content = xlsx({"S": sheet(rows, hidden=[3], columns=columns)})
    assert read_one("a.xlsx", content).text == "|name|price|\n|---|---|\n|pump|9|\n|fan|8|"


def test_titles_merged_headers_and_two_tables_on_a_sheet(read_one: ReadOne) -> None:
    rows = [
        ["2026년 가격표", None, None],
        ["지역", "소포", None],
        [None, "소형", "대형"],
        ["북부", 4, 9],
        [None, 5, 11],
        [],
        ["Contact", "Phone"],
        ["Kim", "010"],
    ]
    content = xlsx({"S": sheet(rows, merged=["A1:C1", "A2:A3", "B2:C2", "A4:A5"])})
    assert read_one("a.xlsx", content).text == (
        "2026년 가격표\n\n|지역|소포 – 소형|소포 – 대형|\n|---|---|---|\n|북부|4|9|\n|북부|5|11|\n\n"
        "|Contact|Phone|\n|---|---|\n|Kim|010|"
    )


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("look", ['fontId="1"', 'fillId="1"'])
def test_labels_in_bold_letters_or_on_a_ground_have_their_values_behind_them(
    read_one: ReadOne, look: str, *, is_shared: bool
) -> None:
    looks = "<fonts><font/><font><b/></font></fonts><fills><fill/><fill><patternFill patternType='solid'>"
    looks += "<fgColor rgb='FFDDDDDD'/></patternFill></fill></fills><cellXfs>"
    by, way = [f'<c s="1" t="s"><v>{n}</v></c>' for n in (0, 1)] if is_shared else [("By", 1), ("Way", 1)]
    content = xlsx({"Form": sheet([[by, "Kim"], [way, "post"]])}, ["@"])
    for old, new in (("<cellXfs>", looks), ('numFmtId="200"/></cellXfs>', f"{look}/></cellXfs>")):
        content = changed(content, "xl/styles.xml", old, new)
    if is_shared:
        texts = io.BytesIO(content)
        with zipfile.ZipFile(texts, "a") as archive:
            archive.writestr("xl/sharedStrings.xml", f"<sst {_X}><si><t>By</t></si><si><r><t>Way</t></r></si></sst>")
        content = texts.getvalue()
    assert read_one("a.xlsx", content).text == "- By: Kim\n- Way: post"


def test_tables_side_by_side_are_two_and_a_column_of_notes_is_none(read_one: ReadOne) -> None:
    beside = [["part", "price", None, "site", "phone"], ["pump", 9, None, "Ulsan", 1], ["fan", 4], ["rod", 2]]
    assert read_one("a.xlsx", xlsx({"S": sheet(beside)})).text == (
        "|part|price|\n|---|---|\n|pump|9|\n|fan|4|\n|rod|2|\n\n|site|phone|\n|---|---|\n|Ulsan|1|"
    )
    same = [["이름", "값", None, "이름", "값"], ["펌프", 9, None, "팬", 4]]
    assert read_one("b.xlsx", xlsx({"S": sheet(same)})).text == (
        "|이름|값|\n|---|---|\n|펌프|9|\n\n|이름|값|\n|---|---|\n|팬|4|"
    )
    notes = [["part", "price", None, "note"], ["pump", 9, None, "new"], ["fan", 4]]
    assert read_one("c.xlsx", xlsx({"S": sheet(notes)})).text == (
        "|part|price|note|\n|---|---|---|\n|pump|9|new|\n|fan|4| |"
    )


def test_a_long_sheet_is_several_documents_under_its_header(read_file: Read) -> None:
    rows = [["no", "name"], *([n, f"part {n}"] for n in range(1, 12_002))]
    found = documents(read_file("a.xlsx", xlsx({"S": sheet(rows)})))
    assert [item.id for item in found] == ["a.xlsx:1", "a.xlsx:5001", "a.xlsx:10001"]
    assert found[2].title == "a (10,001–12,001)"
    assert found[1].text.startswith("|no|name|\n|---|---|\n|5001|part 5001|\n")
    assert found[2].text.endswith("|12001|part 12001|")
    (alone,) = documents(read_file("b.xlsx", xlsx({"S": sheet(rows[:5_001])})))
    assert (alone.id, alone.text.count("\n")) == ("b.xlsx", 5_001)


def test_formulas_without_a_value_are_told_of(read_file: Read) -> None:
    lost = "<c><f>B1*2</f></c>"
    rows = [
        ["이름", "값"],
        ["펌프", lost],
        ["팬", "<c t='str'><f>X</f><v></v></c>"],
        ["밸브", "<c><f>1+1</f><v>2</v></c>"],
    ]
    document, error = read_file("a.xlsx", xlsx({"S": sheet([*rows, ["hidden", lost]], hidden=[5])}))
    assert isinstance(document, Document)
    assert document.text.endswith("|밸브|2|\n\n[저장된 값이 없는 수식: 1]")
    assert isinstance(error, UnreadableFile)
    assert "formulas without a stored value: 1;" in error.why
    english = read_file("b.xlsx", xlsx({"A": sheet([["x"], [lost], [lost]]), "B": sheet([["y"], ["z"]])}))
    assert [item.text for item in documents(english)] == ["x\n\n[formulas without a value: 2]", "|y|\n|---|\n|z|"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("xl/worksheets/sheet2.xml", "</sheetData>", ""), r"xl/worksheets/sheet2\.xml: "),
        (("xl/worksheets/sheet1.xml", "<v>7</v>", "<v>7"), r"xl/worksheets/sheet1\.xml: "),
        (("xl/_rels/workbook.xml.rels", "worksheets/sheet2.xml", "worksheets/none.xml"), "the sheet B is missing"),
        (("xl/styles.xml", "</styleSheet>", ""), r"xl/styles\.xml: "),
        (("_rels/.rels", "xl/workbook.xml", "xl/none.xml"), "no Excel workbook that can be read"),
    ],
)
def test_a_workbook_that_is_broken_anywhere_is_refused(read_file: Read, change: tuple[str, str, str], why: str) -> None:
    content = xlsx({"A": sheet([["x"], [7]]), "B": sheet([["y"], [8]])})
    with pytest.raises(UnreadableFile, match=why):
        read_file("a.xlsx", changed(content, *change))


def test_a_sheet_that_is_too_much_says_so(read_file: Read) -> None:
    far = '<c r="XFD1048576"><v>1</v></c>'
    with pytest.raises(UnreadableFile, match=r"too much to read at once .*; split it"):
        read_file("a.xlsx", xlsx({"S": sheet([["a"], [far]])}))


def ods(*sheets: str, styles: str = "") -> bytes:
    return odt("".join(sheets), kind="spreadsheet", styles=styles)


def ods_row(*cells: str, extra: str = "") -> str:
    made = (
        text if text.startswith("<") else f"<table:table-cell><text:p>{text}</text:p></table:table-cell>"
        for text in cells
    )
    return f"<table:table-row {extra}>{''.join(made)}</table:table-row>"


def test_a_merged_cell_over_a_hidden_column_of_opendocument(read_one: ReadOne) -> None:
    columns = (
        "<table:table-column/><table:table-column table:visibility='collapse'/>"
        "<table:table-column table:number-columns-repeated='2'/>"
    )
    merged = "<table:table-cell table:number-columns-spanned='2'><text:p>소포</text:p></table:table-cell>"
    rest = "<table:table-cell table:number-columns-repeated='16380'/>"
    rows = ods_row("구역", merged, "<table:covered-table-cell/>", "무게", rest) + ods_row("북부", "x", "4", "9", rest)
    sheets = f'<table:table table:name="A">{columns}{rows}</table:table>'
    assert read_one("a.ods", ods(sheets)).text == "|구역|소포|무게|\n|---|---|---|\n|북부|4|9|"


def test_an_opendocument_workbook(read_file: Read) -> None:
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/>'
    rows = (
        ods_row("이름", "원가", "가격")
        + ods_row("펌프", "3", "₩1,200")
        + ods_row("secret", "1", "2", extra='table:visibility="collapse"')
        + ods_row("filtered", "1", "2", extra='table:visibility="filter"')
        + ods_row("팬", "4", "<table:table-cell table:formula='of:=A1'/>")
    )
    shown = f'<table:table table:name="A">{columns}{rows}</table:table>'
    hidden = f'<table:table table:name="B" table:style-name="h">{ods_row("no")}</table:table>'
    other = f'<table:table table:name="C">{ods_row("a", "b")}{ods_row("1", "2")}</table:table>'
    styles = (
        '<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>'
    )
    found = read_file("a.ods", ods(shown, hidden, other, styles=styles))
    assert [(item.id, item.text) for item in documents(found)] == [
        ("a.ods:A", "|이름|가격|\n|---|---|\n|펌프|₩1,200|\n|팬| |\n\n[저장된 값이 없는 수식: 1]"),
        ("a.ods:C", "|a|b|\n|---|---|\n|1|2|"),
    ]
    assert isinstance(found[-1], UnreadableFile)


def test_a_row_at_the_end_of_a_sheet_costs_no_more_than_others(read_one: ReadOne) -> None:
    rows = [["part", "price"], ["pump", "9"], ["fan", "4"], ["", "5"]]
    content = xlsx({"A": sheet(rows, merged=["A3:A4"])})
    for n, to in ((4, 1_048_576), (3, 1_048_575)):
        content = changed(content, "xl/worksheets/sheet1.xml", f'<row r="{n}"', f'<row r="{to}"')
    content = changed(content, "xl/worksheets/sheet1.xml", "A3:A4", "A1048575:A1048576")
    begun = time.process_time()
    text = read_one("a.xlsx", content).text
    assert time.process_time() - begun < 0.5
    assert text == "|part|price|\n|---|---|\n|pump|9|\n\n|fan|4|\n|---|---|\n|fan|5|"


@pytest.mark.parametrize("number", ["0", "3", "1048577", "99999999999", "x"])
def test_rows_that_are_not_numbered_in_order_are_named(read_one: ReadOne, number: str) -> None:
    content = xlsx({"A": sheet([["part", "price"], ["pump", "9"]])})
    with pytest.raises(UnreadableFile, match="expected rows with ascending numbers"):
        read_one("a.xlsx", changed(content, "xl/worksheets/sheet1.xml", '<row r="1"', f'<row r="{number}"'))
