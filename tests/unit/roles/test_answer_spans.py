"""Where the answer stands by a reader: in the passage's own positions, and what strips and sentences make of it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.passages import Passage
from selfright.roles import refine
from selfright.roles.grade import networks
from selfright.roles.grade.features import Asked
from selfright.roles.grade.networks import MOST_READ, WINDOWS, answer_spans
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.refine import OfflineRefiner
from tests.support.readers import Damaged, Favourite
from tests.support.texts import analyzer, hits, passage

QUESTION = "Who looks after the lamp of the lighthouse?"
TEXT = (
    "The lamp of the lighthouse burns from dusk to dawn. The oil comes by boat in spring. "
    "Edda Marsh has done so for eleven years. Nobody else looks after the lamp of the lighthouse. It was made in Cork."
)
PAGE = passage(TEXT, "lamp.md", "Northern cape")
READ = analyzer(TEXT, "A bakery sells rye bread.", "Boats anchor outside.")


def asked(question: str = QUESTION) -> Asked:
    return Asked.of(question, READ)


def refiner(reader: Favourite | None) -> OfflineRefiner:
    return OfflineRefiner(READ, reader=reader)


def knowing(word: str) -> Favourite:
    """A reader that the shipped weights of strips and sentences take for theirs."""
    return Favourite(word, name=refine.shipped_model().reader)


@pytest.mark.parametrize("before", ["", "Ships pass. ", "Nothing of it is known here, and nobody asks. " * 30])
@pytest.mark.parametrize("title", ["", "Northern cape"])
def test_positions_are_those_of_the_passage_whatever_is_shown_of_it(before: str, title: str) -> None:
    page = replace(passage(before + TEXT, "lamp.md", title), start=1_000)
    reader = Favourite("Edda Marsh")
    found = answer_spans(asked(), [page], reader)[page.id]
    start = page.text.index("Edda Marsh")
    assert all(len(text) <= WINDOWS["en"] + len(title) + 1 for text in reader.seen)
    assert [(place.start, place.end) for place in found.places] == [(start, start + len("Edda Marsh"))]
    assert found.covers(start, start + 10)
    assert found.covers(0, 10) == (len(page.text) <= WINDOWS["en"])
    assert found.chance > 0.9


def test_positions_in_tables_are_those_of_the_passage() -> None:
    page = replace(
        passage("|keeper|since|\n|---|---|\n|Ada Finch|2001|\n|Edda Marsh|2012|", "k.csv"), head="keeper|since"
    )
    reader = Favourite("Edda Marsh")
    found = answer_spans(asked(), [page], reader)[page.id]
    assert all("| Edda Marsh | 2012 |" in text for text in reader.seen)  # as networks have learnt to read rows
    assert [page.text[place.start : place.end] for place in found.places] == ["Edda Marsh"]


def test_rows_from_the_middle_of_a_table_are_shown_under_its_head() -> None:
    rows = "".join(f"|Keeper {n}|{1900 + n}|\n" for n in range(100))
    page = replace(passage(f"|keeper|since|\n|---|---|\n{rows}|Edda Marsh|2012|", "k.csv"), head="keeper|since")
    reader = Favourite("Edda Marsh")
    found = answer_spans(asked("Since when is Edda Marsh keeper?"), [page], reader)[page.id]
    assert "Keeper 0 " not in reader.seen[0]
    assert "keeper | since\n" in reader.seen[0]
    assert [page.text[place.start : place.end] for place in found.places] == ["Edda Marsh"]


@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_the_parts_of_a_passage_share_its_answer(cuts: list[int]) -> None:
    found = answer_spans(asked(), [PAGE], Favourite("Marsh"))[PAGE.id]
    shares = [found.within(a, b) for a, b in pairwise(sorted([0, *cuts, len(TEXT)]))]
    assert sum(shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares)


def test_only_a_few_passages_are_read_and_none_in_a_language_that_the_reader_does_not_know() -> None:
    korean = replace(passage("등대의 등은 밤에 켜진다.", "ko.md"), id="ko", language="ko")
    many = [replace(PAGE, id=str(n)) for n in range(MOST_READ + 3)]
    reader = Favourite("Marsh")
    assert list(answer_spans(asked(), [korean, *many], reader)) == [str(n) for n in range(MOST_READ)]
    assert answer_spans(asked("등대의 등은 누가 돌보나요?"), many, reader) == {}
    assert len(reader.seen) == MOST_READ


def kept(reader: Favourite | None, page: Passage = PAGE) -> str:
    return " ".join(s.text for s in refiner(reader).filter(QUESTION, hits(page)).strips)


def test_the_strip_that_a_reader_points_at_stays_whatever_its_words() -> None:
    far = passage(
        "The lamp of the lighthouse burns until dawn. " * 3 + "Edda Marsh does it. " + "It rains. " * 60, "x.md"
    )
    assert "Edda Marsh" in kept(knowing("Edda Marsh"), far)
    weighed = refiner(knowing("Edda Marsh")).weighed(QUESTION, hits(PAGE))
    others = refiner(Favourite("Edda Marsh", name="another")).weighed(QUESTION, hits(PAGE))
    best = max(weighed.scored, key=lambda scored: scored.score)
    assert "Edda Marsh" in best.strip.text
    assert others == refiner(None).weighed(QUESTION, hits(PAGE))
    assert refiner(knowing("Edda Marsh")).without_reader().weighed(QUESTION, hits(PAGE)) == others


def test_a_damaged_reader_is_done_without_and_said(caplog: pytest.LogCaptureFixture) -> None:
    networks._say.cache_clear()
    damaged = Damaged("Marsh", name=refine.shipped_model().reader)
    grader = OfflineGrader(READ, reader=damaged)
    assert grader.judge(QUESTION, hits(PAGE)) == OfflineGrader(READ).judge(QUESTION, hits(PAGE))
    assert grader._reader is damaged
    assert kept(damaged) == kept(None)
    (said,) = caplog.records  # once, though two roles asked, and loud enough to be seen at the shell
    assert said.levelname == "ERROR"
    assert "reinstall selfright" in said.getMessage()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|a|b c|\n|---|:-:|\n|1| |", "| a | b c |\n|---|:-:|\n| 1 | |"),
        ("| a | b |\nstr|None", "| a | b |\nstr|None"),
        ("|x\\|y|z|", "| x\\| y | z |"),
    ],
)
def test_bars_of_tables_have_blanks_beside_them(text: str, shown: str) -> None:
    assert networks.spaced(text) == shown
