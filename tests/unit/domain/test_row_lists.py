"""Rows of a table in an answer: found where they have the same columns, and nothing of the text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.row_lists import RowList, split_row_lists

BOATS = (
    "- Boat: Kayak; Per day: 45 [1]\n- Boat: Raft; Per day: 20; Note: two seats [1] [2]\n- Boat: Canoe [Source: a.md]\n"
)


def test_rows_are_found_between_what_is_said_around_them() -> None:
    parts = list(split_row_lists(f"Prices:\n{BOATS}\nTowels are free. [3]"))
    assert [parts[0], parts[2]] == ["Prices:\n", "- Boat: Canoe [Source: a.md]\n\nTowels are free. [3]"]
    assert isinstance(parts[1], RowList)
    assert parts[1].head == ("Boat", "Per day", "Note")
    assert [(parts[1].cells(row), row.marks) for row in parts[1].rows] == [
        (["Kayak", "45", ""], "[1]"),
        (["Raft", "20", "two seats"], "[1] [2]"),
    ]


def test_a_cell_may_have_semicolons_and_colons() -> None:
    (rows,) = split_row_lists("- a: 1; 2; b: x: y [1]\n- a: 4; b: 5")
    assert isinstance(rows, RowList)
    assert [rows.cells(row) for row in rows.rows] == [["1; 2", "x: y"], ["4", "5"]]


def test_a_cell_that_is_not_said_is_empty() -> None:
    (rows,) = split_row_lists("- a: 1; b: 2; c: 3\n- a: 4; c: 5\n- b: 6; c: 7")
    assert isinstance(rows, RowList)
    assert [rows.cells(row) for row in rows.rows] == [["1", "2", "3"], ["4", "", "5"], ["", "6", "7"]]


@pytest.mark.parametrize(
    "said",
    [
        "- a: 1; b: 2",  # one row
        "- a: 1\n- a: 2",  # one column
        "- a: 1; b: 2\n- b: 1; a: 2",
        "- a: 1; b: 2\n\n- a: 3; b: 4",
        "- Bring: a towel; a cap\n- Leave: the dog; the radio",
        "```\n- a: 1; b: 2\n- a: 3; b: 4\n```",
    ],
)
def test_what_is_no_table_stays_text(said: str) -> None:
    assert list(split_row_lists(said)) == [said]


@given(st.lists(st.sampled_from(["- a: 1; b: 2", "- a: 3; b: 4 [1]", "- c: 1; d: ; 2", "\n", "a", "- ", "\r"])))
def test_the_parts_are_the_whole(lines: list[str]) -> None:
    said = "\n".join(lines)
    parts = split_row_lists(said)
    assert "".join(part if isinstance(part, str) else part.text for part in parts) == said
