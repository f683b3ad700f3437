"""Which value stands under which column."""

import pytest

from selfright.ingest.readers.tables import Cell, plain_rows, sheet_blocks, tables


def text(rows: list[list[Cell]], header_rows: int = 0) -> str:
    return "\n\n".join(text for _, text in tables(rows, header_rows))


def test_a_title_between_blank_rows_is_a_caption() -> None:
    rows = plain_rows([["Prices of 2026", ""], ["", ""], ["a", "b"], ["1", "2"], ["", ""], ["", "as of May"]])
    assert text(rows) == "Prices of 2026\n\n|a|b|\n|---|---|\n|1|2|\n\nas of May"


def test_equal_values_stay_under_their_columns_and_a_header_of_one_name_is_no_title() -> None:
    assert text(plain_rows([["a", "b", "c"], ["0", "0", "0"]])).endswith("|0|0|0|")
    assert text(plain_rows([["", "Sum"], ["North", "4"]])) == "| |Sum|\n|---|---|\n|North|4|"


def test_spans_without_bound_cost_nothing() -> None:
    rows = [[Cell("x", columns=10**9, rows=10**9) for _ in range(50)] for _ in range(50)]
    assert len(text(rows)) < 10**7


def test_rows_of_different_lengths_and_bars() -> None:
    assert text(plain_rows([["a", "b"], ["1"], ["x|y", "2", "3"]])) == ("|a|b| |\n|---|---|---|\n|1| | |\n|x\\|y|2|3|")


SHAPES = {
    "no names, since the first row has values of the shape of all below it": (
        ["Kim|02-123-4567|Seoul", "Lee|051-765-4321|Busan", "Park|042-555-0000|Daejeon"],
        "|Kim|02-123-4567|Seoul|\n|Lee|051-765-4321|Busan|\n|Park|042-555-0000|Daejeon|",
    ),
    "years that go on are names": (
        ["Year|2023|2024|2025", "Visitors|1200|1350|1410", "Members|8000|9500|1010"],
        "|Year|2023|2024|2025|\n|---|---|---|---|\n|Visitors|1200|1350|1410|\n|Members|8000|9500|1010|",
    ),
    "a year over other numbers is a name": (
        ["Zone|2026", "North|1200", "South|1300"],
        "|Zone|2026|\n|---|---|\n|North|1200|\n|South|1300|",
    ),
    "a total behind a blank row": (
        ["Item|Qty|EUR", "A|1|10", "B|2|20", "||", "Total|3|30"],
        "|Item|Qty|EUR|\n|---|---|---|\n|A|1|10|\n|B|2|20|\n|Total|3|30|",
    ),
    "lines above the names": (
        ["Exported|2026-01-01||", "Zone|Small|Large|Most", "North|4|9|12", "South|6|11|14"],
        "Exported, 2026-01-01\n\n|Zone|Small|Large|Most|\n|---|---|---|---|\n|North|4|9|12|\n|South|6|11|14|",
    ),
    "a form": (
        ["Name|Kim Haneul|Dept|Finance", "Phone|1305|Room|B-104", "Since|2019-03-02|Grade|7"],
        "Name: Kim Haneul; Dept: Finance; Phone: 1305; Room: B-104; Since: 2019-03-02; Grade: 7",
    ),
    "values beside their labels, the first one an amount": (
        ["연회비|50,000원", "포인트|1%", "해외 수수료|1.2%", "한도|500만원", "이율|5%"],
        "연회비: 50,000원; 포인트: 1%; 해외 수수료: 1.2%; 한도: 500만원; 이율: 5%",
    ),
    "units below the names": (
        ["시간|온도|습도", "|℃|%", "09:00|21.5|48", "12:00|26.0|41"],
        "|시간|온도 – ℃|습도 – %|\n|---|---|---|\n|09:00|21.5|48|\n|12:00|26.0|41|",
    ),
    "values beside their labels, of one kind": (["연회비|50,000원", "한도|9,000원"], "연회비: 50,000원; 한도: 9,000원"),
    "an amount over words": (["Fee|50.5 EUR", "Family|none", "New|none"], "Fee: 50.5 EUR; Family: none; New: none"),
    "values beside labels with colons, and a blank column between": (
        ["Holder:||Kim", "Address 1:||Main Street", "Address 2:||Seoul"],
        "Holder: Kim; Address 1: Main Street; Address 2: Seoul",
    ),
    "a name with a digit over values of one other kind": (
        ["구분|1월", "매출|1,200", "비용|900"], "|구분|1월|\n|---|---|\n|매출|1,200|\n|비용|900|"
    ),
    "a year with a word over numbers": (["구분|2026년", "매출|1,200"], "|구분|2026년|\n|---|---|\n|매출|1,200|"),
    "a plan over words": (["Has|Plan 2", "SSO|yes", "Mail|no"], "|Has|Plan 2|\n|---|---|\n|SSO|yes|\n|Mail|no|"),
    "words first, then values of several kinds": (
        ["Name|Kim", "Dept|Finance", "Phone|02-123-4567", "Since|2019-03-02", "Grade|7"],
        "Name: Kim; Dept: Finance; Phone: 02-123-4567; Since: 2019-03-02; Grade: 7",
    ),
    "words first, then values of three kinds": (
        ["담당|문화팀 윤서아", "전화|02-555-0177", "접수|평일 09:00~18:00"],
        "담당: 문화팀 윤서아; 전화: 02-555-0177; 접수: 평일 09:00~18:00",
    ),
    "words first, then numbers and a date": (
        ["Site|Ostwick plant", "Built|1987", "Staff|212", "Manager|R. Hale", "Certified|30.11.2025"],
        "Site: Ostwick plant; Built: 1987; Staff: 212; Manager: R. Hale; Certified: 30.11.2025",
    ),
    "one word, then a number, an address and words with a number": (
        ["담당|김하늘", "전화|02-555-0142", "메일|desk@example.kr", "주소|중구 1"],
        "담당: 김하늘; 전화: 02-555-0142; 메일: desk@example.kr; 주소: 중구 1",
    ),
    "one word over two values of one kind": (
        ["Name|Phone", "Kim|02-123-4567", "Lee|02-765-4321"],
        "|Name|Phone|\n|---|---|\n|Kim|02-123-4567|\n|Lee|02-765-4321|",
    ),
    "words first, and half of the values are words": (
        ["Option|Default", "retries|3", "timeout|30s", "proxy|none"],
        "|Option|Default|\n|---|---|\n|retries|3|\n|timeout|30s|\n|proxy|none|",
    ),
    "a form with two values of one kind": (
        ["Seller|Hanbit|Tax No.|123-45-67890", "Street|Jung-gu 1|Phone|02-555-0101"],
        "Seller: Hanbit; Tax No.: 123-45-67890; Street: Jung-gu 1; Phone: 02-555-0101",
    ),
    "scores beside comments are no form": (
        ["Name|Score 1|Note|Score 2", "Kim|80|good|90", "Lee|70|late|60"],
        "|Name|Score 1|Note|Score 2|\n|---|---|---|---|\n|Kim|80|good|90|\n|Lee|70|late|60|",
    ),
    "a table with words in every other column is no form": (
        ["Item|Price|Colour|Weight", "Tea|2|green|3", "Coffee|4|black|5"],
        "|Item|Price|Colour|Weight|\n|---|---|---|---|\n|Tea|2|green|3|\n|Coffee|4|black|5|",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_what_the_first_rows_are_is_told_by_their_shapes(name: str) -> None:
    rows, expected = SHAPES[name]
    found = list(tables(plain_rows([row.split("|") for row in rows])))
    is_form = all(kind == "list" for kind, _ in found)
    said = [line.removeprefix("- ") for _, line in found]
    assert ("; " if is_form else "\n\n").join(said) == expected


def test_names_that_look_like_labels_are_no_row_of_a_form() -> None:
    rows = plain_rows([["Phone", "02-555-0101"], ["Hall", "B 2, ground floor"], ["Fee", "20 EUR"]])
    names = [Cell("Field", is_label=True), Cell("First entry", is_label=True)]
    assert text([names, *rows]).startswith("|Field|First entry|\n|---|---|\n|Phone|02-555-0101|")


def test_a_form_with_values_over_several_places() -> None:
    rows = [
        plain_rows([["성명", "김하늘", "소속", "회계과"]])[0],
        [Cell("기간"), Cell("2026. 5. 1. ~ 5. 3.", columns=3)],
        [Cell("사유"), Cell("가족 행사", columns=3)],
    ]
    assert [line for _, line in tables(rows)] == [
        *("- 성명: 김하늘", "- 소속: 회계과", "- 기간: 2026. 5. 1. ~ 5. 3.", "- 사유: 가족 행사")
    ]


def test_a_note_over_all_of_a_form_is_none_of_its_rows() -> None:
    rows = plain_rows([["Fee", "45.00 EUR"], ["Rate", "30 %"]])
    assert [line for _, line in tables([*rows, [Cell("Due at once.", columns=2)]])] == [
        *("- Fee: 45.00 EUR", "- Rate: 30 %", "Due at once.")
    ]


def test_a_form_with_one_value_over_several_places() -> None:
    name, street, amount = plain_rows(
        [["성명", "김하늘", "생년월일", "1990-03-02"], ["주소"], ["금액", "1,200원", "계좌", "국민"]]
    )
    assert [line for _, line in tables([name, [*street, Cell("중구 1", columns=3)], amount])] == [
        *("- 성명: 김하늘", "- 생년월일: 1990-03-02", "- 주소: 중구 1", "- 금액: 1,200원", "- 계좌: 국민")
    ]


def test_rows_below_a_cell_that_reaches_into_them_are_of_the_header() -> None:
    zone, parcel = Cell("Zone", rows=3), Cell("Parcel", columns=2)
    rows = [[zone, parcel], plain_rows([["Small", "Large"]])[0], plain_rows([["kg", "kg"]])[0]]
    assert text([*rows, *plain_rows([["North", "4", "9"]])]) == (
        "|Zone|Parcel – Small – kg|Parcel – Large – kg|\n|---|---|---|\n|North|4|9|"
    )


def test_a_timetable_with_a_merged_cell_is_no_form() -> None:
    rows = plain_rows([["Day", "Morning", "Noon", "Evening"], ["Mon", "Choir", "Chess", "Yoga"]])
    rows += [[Cell("Tue"), Cell("closed", columns=3)], *plain_rows([["Wed", "Go", "Art", "Judo"]])]
    assert text(rows).startswith("|Day|Morning|Noon|Evening|\n|---|")


def test_a_header_ends_where_values_begin_though_cells_are_merged() -> None:
    names = [[Cell("Place", rows=2), Cell("Votes", columns=3)], [Cell("8 h"), Cell("9 h", columns=2)]]
    values = [[Cell("All", rows=2), Cell("7"), Cell("12", columns=2)], [Cell("7%"), Cell("12%", columns=2)]]
    # Two columns that are one in every row are one.
    assert text([*names, *values]) == "|Place|Votes – 8 h|Votes – 9 h|\n|---|---|---|\n|All|7|12|\n|All|7%|12%|"


def test_a_header_does_not_go_on_in_rows_that_part_none_of_its_cells() -> None:
    rows = [[Cell("Date"), Cell("May 1", columns=2), Cell("By"), Cell("Kim")]]
    rows += [[Cell(name), Cell(value, columns=4)] for name, value in (("Name", "Spring"), ("Aim", "Joy"))]
    rows += plain_rows([["Who", "Kim", "Lee", "", ""]])
    assert text(rows).startswith("|Date|May 1|May 1|By|Kim|\n|---|---|---|---|---|\n|Name|Spring|")


def test_a_cell_that_reaches_down_is_the_name_of_rows_where_it_begins_below_the_header() -> None:
    rows = [[Cell("구분", columns=2), Cell("세부 내용")], [Cell("기술", rows=2), Cell("객관적 평가"), Cell("인력")]]
    assert text([*rows, *plain_rows([["주관적 평가", "기획"]])]) == (
        "|구분|구분|세부 내용|\n|---|---|---|\n|기술|객관적 평가|인력|\n|기술|주관적 평가|기획|"
    )
    rows = [[Cell("신청인", rows=2), *plain_rows([["업체명", "", "전화", ""]])[0]]]
    rows += plain_rows([["대표자", "", "팩스", ""], ["사업", "축제", "금액", "", ""]])
    assert text(rows).startswith("|신청인|업체명| |전화|\n|---|---|---|---|\n|신청인|대표자| |팩스|")


def sheet(*rows: str) -> list[str]:
    return [text for _, text in sheet_blocks(plain_rows([row.split("|") for row in rows]))]


def test_blank_rows_within_a_table_leave_its_header_over_all_of_it() -> None:
    head = ["|People|Active| |Rate", "|||Jobless|(%)"]
    shown = "| |People|Active|Jobless|Rate – (%)|\n|---|---|---|---|---|\n"
    years = ["2015|42,975|27,140|973|3.6", "2016|43,385|27,415|970|3.5"]
    months = ["Jan|43,239|26,433|988|3.7", "Feb|43,274|26,734|317|4.9"]
    rows = "\n".join(f"|{row}|" for row in (*years, *months))
    assert sheet(*head, "||||", *years, "||||", *months) == [shown + rows]

    tasks = ["Source|Task|Weeks", "Plan|Move|1", "Talk|Sort|2", "||", "Plan|Write|x", "Talk|Read|y"]
    assert sheet(*tasks)[0].endswith("|Talk|Sort|2|\n|Plan|Write|x|\n|Talk|Read|y|")
    assert len(sheet(*tasks[:4], "Place|Name|Phone", "Plan|Kim|1")) == 2
