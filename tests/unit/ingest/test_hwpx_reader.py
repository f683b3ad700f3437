"""Tables of Hangul documents: which value stands under which column."""

from collections.abc import Callable, Mapping

import pytest

from selfright.domain.passages import Document
from tests.support.office import hwpx

ReadOne = Callable[..., Document]


def cell(text: str, wide: int = 1, deep: int = 1, at: tuple[int, int] | None = None, head: str = "0") -> str:
    address = "" if at is None else f'<hp:cellAddr colAddr="{at[1]}" rowAddr="{at[0]}"/>'
    span = "" if wide == deep == 1 else f'<hp:cellSpan colSpan="{wide}" rowSpan="{deep}"/>'
    inner = f"<hp:subList><hp:p><hp:run><hp:t>{text}</hp:t></hp:run></hp:p></hp:subList>"
    return f'<hp:tc header="{head}">{inner}{address}{span}</hp:tc>'


def document(*rows: list[str], caption: str = "", fills: Mapping[str, str] | None = None) -> bytes:
    above = f"<hp:caption><hp:subList><hp:p><hp:run><hp:t>{caption}</hp:t></hp:run></hp:p></hp:subList></hp:caption>"
    body = above + "".join(f"<hp:tr>{''.join(row)}</hp:tr>" for row in rows)
    return hwpx(f"<hp:p><hp:run><hp:t/><hp:tbl>{body}</hp:tbl></hp:run></hp:p>", fills=fills)


@pytest.mark.parametrize("has_address", [True, False])
def test_merged_cells_count_for_all_they_cover(read_one: ReadOne, *, has_address: bool) -> None:
    def at(*place: int) -> tuple[int, int] | None:
        return (place[0], place[1]) if has_address else None

    made = document(
        [cell("구분", deep=2, at=at(0, 0), head="1"), cell("수강료", 2, at=at(0, 1), head="1")],
        [cell("성인", at=at(1, 1), head="1"), cell("청소년", at=at(1, 2), head="1")],
        [cell("야간", deep=2, at=at(2, 0)), cell("40만원", at=at(2, 1)), cell("30만원", at=at(2, 2))],
        [cell("55만원", at=at(3, 1)), cell("45만원", at=at(3, 2))],
        [cell("주말", at=at(4, 0)), cell("협의", 2, at=at(4, 1))],
        caption="2026년 강좌",
    )
    assert read_one("t.hwpx", made).text == (
        "2026년 강좌\n\n|구분|수강료 – 성인|수강료 – 청소년|\n|---|---|---|\n|야간|40만원|30만원|\n"
        "|야간|55만원|45만원|\n|주말|협의|협의|"
    )


def test_an_address_counts_where_the_cells_before_it_are_missing(read_one: ReadOne) -> None:
    made = document(
        [cell("Zone", at=(0, 0)), cell("Small", at=(0, 1)), cell("Large", at=(0, 2))], [cell("13 EUR", at=(1, 2))]
    )
    assert read_one("t.hwpx", made).text == "|Zone|Small|Large|\n|---|---|---|\n| | |13 EUR|"


SHADED = {
    "the first row": ("GG/--/--", "|예금주|은행|\n|---|---|\n|홍길동|국민|\n|김하늘|우리|"),
    "the first column": ("G-/G-/G-", "- 예금주: 은행\n- 홍길동: 국민\n- 김하늘: 우리"),
    "both": ("GG/G-/G-", "|예금주|은행|\n|---|---|\n|홍길동|국민|\n|김하늘|우리|"),
    "every other row": ("--/GG/--", "|예금주|은행|\n|---|---|\n|홍길동|국민|\n|김하늘|우리|"),
    "all of it": ("GG/GG/GG", "|예금주|은행|\n|---|---|\n|홍길동|국민|\n|김하늘|우리|"),
    "the first row white": ("WW/--/--", "|예금주|은행|\n|---|---|\n|홍길동|국민|\n|김하늘|우리|"),
}


@pytest.mark.parametrize("name", SHADED)
def test_cells_with_a_ground_of_their_own_are_names(read_one: ReadOne, name: str) -> None:
    grounds, text = SHADED[name]
    words = [["예금주", "은행"], ["홍길동", "국민"], ["김하늘", "우리"]]
    rows = [
        [
            cell(word).replace("<hp:tc", f'<hp:tc borderFillIDRef="{sign}"')
            for word, sign in zip(row, signs, strict=True)
        ]
        for row, signs in zip(words, grounds.split("/"), strict=True)
    ]
    assert read_one("t.hwpx", document(*rows, fills={"G": "#DFE6F7", "W": "#FFFFFF", "-": "none"})).text == text


@pytest.mark.parametrize("number", ["-1", "9" * 30, "x", "", "²"])
def test_numbers_that_cannot_be(read_one: ReadOne, number: str) -> None:
    odd = cell("b").replace(
        "<hp:subList>", f'<hp:cellAddr colAddr="{number}"/><hp:cellSpan rowSpan="{number}"/><hp:subList>'
    )
    assert read_one("t.hwpx", document([cell("a"), odd])).text == "|a|b|"
