"""PDF tables that no rules part: each value under its column, however far off; text that is none stays text."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from selfright.domain.passages import Document
from tests.unit.ingest.test_pdf_reader import SENTENCE, both, lines, pdf, tables, texts

ReadOne = Callable[..., Document]
Placed = Sequence[tuple[float, float, str]]


def rows(said: Sequence[Sequence[str]], lefts: Sequence[float], y: float = 700, step: float = 16) -> Placed:
    """Cells at the left ends of their columns."""
    return [(x, y - step * n, text) for n, row in enumerate(said) for x, text in zip(lefts, row, strict=True) if text]


def named(said: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(said[0], row, strict=True)) for row in said[1:]]


PRICES = [["Room", "Night"], ["Garden room", "54.00"], ["Tower room", "71.00"], ["Loft", "98.00"]]


def test_a_line_below_a_name_is_of_its_row(read_one: ReadOne) -> None:
    """The library reads the two columns one after the other."""
    said = ["two beds, bath across the hall", "one bed, view of the sea", "for families"]
    notes = [(60, 660 - 32 * n, text) for n, text in enumerate(said)]
    placed = [*rows(PRICES[:1], (60, 500), 692), *rows(PRICES[1:], (60, 500), 672, 32), *notes]
    (found,) = tables(read_one("t.pdf", pdf(texts(*placed))).text)
    assert [(row["Room"], row["Night"]) for row in found][:2] == [
        (f"{name} {note}", price) for (name, price), note in zip(PRICES[1:3], said, strict=False)
    ]


def test_centred_columns_are_a_table(read_one: ReadOne) -> None:
    said = [["Lock", "Keeper", "Toll"], ["Upper", "A. Quill", "4 cr"], ["Lower", "B. Thorne and two more", "9 cr"]]
    said += [["Sea", "", "15 cr"], ["Mill", "D. Marsh", "6 cr"]]

    def draw(canvas: Any) -> None:
        for n, row in enumerate(said):
            for x, text in zip((90, 297, 500), row, strict=True):
                canvas.drawCentredString(x, 700 - 20 * n, text)

    assert tables(read_one("t.pdf", pdf(draw)).text) == [named(said)]


def test_labels_with_amounts_at_the_right_edge_are_pairs(read_one: ReadOne) -> None:
    said = [["Rowing boat, an hour", "8.00"], ["Sailing boat, half a day", "45.00"], ["Motor boat", "120.00"]]
    text = read_one("t.pdf", pdf(both(texts(*rows(said, (60, 510), step=12)), lines(SENTENCE, y=600)))).text
    assert text.split("\n\n")[0] == "\n".join(f"- {label}: {value}" for label, value in said)


def test_rows_that_only_rules_between_columns_part_are_several(read_one: ReadOne) -> None:
    """One cell is blank, so that not all columns have as many lines."""
    said = [["Lock", "Keeper", "Toll"], ["Upper", "A. Quill", "4 cr"], ["Middle", "B. Thorne", "6 cr"]]
    said += [["Lower", "", "9 cr"], ["Sea", "D. Marsh", "15 cr"]]

    def draw(canvas: Any) -> None:
        canvas.line(60, 690, 540, 690)
        for x in (150, 480):
            canvas.line(x, 715, x, 615)

    page = both(draw, texts(*rows(said, (64, 154, 500), step=20)))
    assert tables(read_one("t.pdf", pdf(page)).text) == [named(said)]


def test_numbers_in_front_of_rows_are_no_line_numbers(read_one: ReadOne) -> None:
    said = [["No", "Part", "Price"], *([f"{n}", f"valve type {n * 13}", f"{n}.25"] for n in range(1, 30))]
    assert tables(read_one("t.pdf", pdf(texts(*rows(said, (50, 95, 510))))).text) == [named(said)]


def test_prose_in_columns_with_items_is_no_table(read_one: ReadOne) -> None:
    said = ["The old light was lit", "in the year of the flood", "and burned for a century", "until the tower rose"]
    placed = [
        (40 + 180 * column, 760 - 13 * n, ("• " if (7 * n + 5 * column) % 11 == 0 else "") + said[(n + column) % 4])
        for column in range(3)
        for n in range(24)
    ]
    assert "|" not in read_one("t.pdf", pdf(texts(*placed, size=9))).text


@pytest.mark.parametrize("size", [10, 16])
def test_a_title_over_a_table_alone_is_a_heading(read_one: ReadOne, size: float) -> None:
    """Only what stands in larger letters than the table has."""
    said = [["Line", "From", "Departs"], *([f"{n}", "Wexley", f"0{n}:40"] for n in range(1, 6))]
    page = both(texts((60, 760, "Ferries of the bay"), size=size), texts(*rows(said, (60, 200, 480))))
    assert read_one("t.pdf", pdf(page)).text.startswith("#") == (size > 10)


def test_a_numbered_line_in_large_letters_is_a_heading(read_one: ReadOne) -> None:
    draws = [
        both(texts((72, 760 - 120 * n, f"{n + 1}. Part"), size=18), lines(*[SENTENCE] * 4, y=735 - 120 * n))
        for n in range(3)
    ]
    found = read_one("t.pdf", pdf(both(*draws))).text.split("\n\n")[::2]
    assert [block.lstrip("# ") for block in found] == ["1. Part", "2. Part", "3. Part"]
    assert all(block.startswith("#") for block in found)
