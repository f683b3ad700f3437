"""Which value stands under which column."""

from selfright.ingest.readers.tables import Cell, plain_rows, tables


def text(rows: list[list[Cell]], header_rows: int = 0) -> str:
    return "\n\n".join(text for _, text in tables(rows, header_rows))


def test_merged_cells_count_for_every_place_they_cover() -> None:
    rows = [
        [Cell("Zone"), Cell("Kind"), Cell("Price")],
        [Cell("North", rows=2), Cell("letter"), Cell("2 EUR")],
        [Cell("parcel"), Cell("7 EUR")],
        [Cell("South"), Cell("by arrangement", columns=2)],
    ]
    assert text(rows) == (
        "|Zone|Kind|Price|\n|---|---|---|\n|North|letter|2 EUR|\n|North|parcel|7 EUR|\n"
        "|South|by arrangement|by arrangement|"
    )


def test_a_header_of_two_rows_is_joined() -> None:
    rows = [
        [Cell("Model", rows=2), Cell("2025", columns=2), Cell("2026", columns=2)],
        [Cell("Units"), Cell("Won"), Cell("Units"), Cell("Won")],
        *plain_rows([["K1", "3", "900", "4", "1200"]]),
    ]
    head, _, body = text(rows).split("\n")
    assert head == "|Model|2025 – Units|2025 – Won|2026 – Units|2026 – Won|"
    assert body == "|K1|3|900|4|1200|"


def test_a_title_row_is_a_caption_and_a_blank_row_parts_two_tables() -> None:
    rows = plain_rows(
        [["Prices of 2026", "", ""], ["a", "b", "c"], ["1", "2", "3"], ["", "", ""], ["d", "e", ""], ["4", "5", ""]]
    )
    assert text(rows) == ("Prices of 2026\n\n|a|b|c|\n|---|---|---|\n|1|2|3|\n\n|d|e|\n|---|---|\n|4|5|")


def test_a_title_between_blank_rows_is_a_caption() -> None:
    rows = plain_rows([["Prices of 2026", ""], ["", ""], ["a", "b"], ["1", "2"], ["", ""], ["", "as of May"]])
    assert text(rows) == "Prices of 2026\n\n|a|b|\n|---|---|\n|1|2|\n\nas of May"


def test_a_row_that_says_one_thing_says_it_once() -> None:
    rows = [
        *plain_rows([["a", "b", "c"], ["1", "2", "3"]]),
        [Cell("Europe", columns=3)],
        *plain_rows([["4", "5", "6"]]),
    ]
    assert text(rows).split("\n")[3] == "|Europe| | |"


def test_equal_values_stay_under_their_columns_and_a_header_of_one_name_is_no_title() -> None:
    assert text(plain_rows([["a", "b", "c"], ["0", "0", "0"]])).endswith("|0|0|0|")
    assert text(plain_rows([["", "Sum"], ["North", "4"]])) == "| |Sum|\n|---|---|\n|North|4|"


def test_spans_without_bound_cost_nothing() -> None:
    rows = [[Cell("x", columns=10**9, rows=10**9) for _ in range(50)] for _ in range(50)]
    assert len(text(rows)) < 10**7


def test_rows_of_different_lengths_and_bars() -> None:
    assert text(plain_rows([["a", "b"], ["1"], ["x|y", "2", "3"]])) == ("|a|b| |\n|---|---|---|\n|1| | |\n|x\\|y|2|3|")
