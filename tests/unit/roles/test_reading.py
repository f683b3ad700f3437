"""Where the answer stands by a reader: in the passage's own positions, and what strips and sentences make of it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.passages import Passage
from selfright.roles import reading, selection
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.reading import WINDOWS, QuestionFeatures, Reading, readings
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from tests.support.readers import Damaged, Favourite
from tests.support.texts import analyzer, hits, passage

QUESTION = "Who looks after the lamp of the lighthouse?"
TEXT = (
    "The lamp of the lighthouse burns from dusk to dawn. The oil comes by boat in spring. "
    "Edda Marsh has done so for eleven years. Nobody else looks after the lamp of the lighthouse. It was made in Cork."
)
PAGE = passage(TEXT, "lamp.md", "Northern cape")
READ = analyzer(TEXT, "A bakery sells rye bread.", "Boats anchor outside.")


def asked(question: str = QUESTION) -> QuestionFeatures:
    return QuestionFeatures.of(question, READ)


def refiner(reader: Favourite | None) -> OfflineRefiner:
    return OfflineRefiner(UnitScorer(READ, reader))


def read(page: Passage, reader: Favourite, question: str = QUESTION) -> Reading:
    return readings(asked(question), [page], reader)[page.id]


def knowing(word: str) -> Favourite:
    """A reader that the shipped weights of strips and sentences take for theirs."""
    return Favourite(word, name=selection.load_model().reader)


@pytest.mark.parametrize("before", ["", "Ships pass. ", "Nothing of it is known here, and nobody asks. " * 30])
@pytest.mark.parametrize("title", ["", "Northern cape"])
def test_positions_are_those_of_the_passage_whatever_is_shown_of_it(before: str, title: str) -> None:
    page = replace(passage(before + TEXT, "lamp.md", title), start=1_000)
    reader = Favourite("Edda Marsh")
    found = read(page, reader)
    start = page.text.index("Edda Marsh")
    assert all(len(text) <= WINDOWS["en"] + len(title) + 1 for text in reader.seen)
    places = [(place.start, place.end) for window in found.windows for place in window.places]
    assert places == [(start, start + len("Edda Marsh"))]
    assert found.pointing(start, start + 10) == 1.0
    assert found.score == 3.0


@pytest.mark.parametrize(
    "quoted", [f'"{QUESTION}"', f"‘{QUESTION.upper()}’", QUESTION.replace(" the ", "\n  the ").join("``")]
)
def test_an_example_of_asking_the_question_is_not_read(quoted: str) -> None:
    reader = Favourite("Edda Marsh")
    read(passage(f"Ask it: lamp ask {quoted} and wait. {TEXT}", "lamp.md"), reader)
    assert "who looks after" not in reader.seen[0].casefold()
    assert "Edda Marsh" in reader.seen[0]
    read(passage(f"{QUESTION}\n{TEXT}", "lamp.md"), reader)
    assert QUESTION in reader.seen[1]  # an FAQ's heading


def test_the_section_is_not_shown() -> None:
    page = replace(PAGE, section="Keepers")
    reader = Favourite("Edda Marsh")
    read(page, reader)
    assert reader.seen[0].startswith("Northern cape (lamp)\n")
    assert "Keepers" not in reader.seen[0]


def test_of_a_long_passage_a_second_window_is_read() -> None:
    page = passage("The lamp of the lighthouse burns. " * 30 + "Edda Marsh looks on. " + "It rains. " * 40, "long.md")
    reader = Favourite("Edda Marsh")
    start = page.text.index("Edda Marsh")
    assert len(read(page, reader).windows) == 2
    assert read(page, reader).pointing(start, start + 20) == 1.0


def test_positions_in_tables_are_those_of_the_passage() -> None:
    page = replace(
        passage("|keeper|since|\n|---|---|\n|Ada Finch|2001|\n|Edda Marsh|2012|", "k.csv"), head="keeper|since"
    )
    reader = Favourite("Edda Marsh")
    (found,) = read(page, reader).windows
    assert all("| Edda Marsh | 2012 |" in text for text in reader.seen)  # as networks have learnt to read rows
    assert [page.text[place.start : place.end] for place in found.places] == ["Edda Marsh"]


def test_rows_from_the_middle_of_a_table_are_shown_under_its_head() -> None:
    rows = "".join(f"|Keeper {n}|{1900 + n}|\n" for n in range(100))
    page = replace(passage(f"|keeper|since|\n|---|---|\n{rows}|Edda Marsh|2012|", "k.csv"), head="keeper|since")
    reader = Favourite("Edda Marsh")
    first = read(page, reader, "Since when is Edda Marsh keeper?").windows[0]
    assert "Keeper 0 " not in reader.seen[0]
    assert "keeper | since\n" in reader.seen[0]
    assert [page.text[place.start : place.end] for place in first.places] == ["Edda Marsh"]


@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_the_parts_of_a_passage_share_its_answer(cuts: list[int]) -> None:
    (found,) = read(PAGE, Favourite("Marsh")).windows
    shares = [found.within(a, b) for a, b in pairwise(sorted([0, *cuts, len(TEXT)]))]
    assert sum(shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares)


def test_none_is_read_in_a_language_that_the_reader_does_not_know() -> None:
    korean = replace(passage("등대의 등은 밤에 켜진다.", "ko.md"), id="ko", language="ko")
    reader = Favourite("Marsh")
    assert list(readings(asked(), [korean, PAGE], reader)) == [PAGE.id]
    assert readings(asked("등대의 등은 누가 돌보나요?"), [PAGE], reader) == {}
    assert len(reader.seen) == 1


def kept(reader: Favourite | None, page: Passage = PAGE) -> str:
    return " ".join(s.text for s in refiner(reader).filter(QUESTION, hits(page)).strips)


def test_the_strip_that_a_reader_points_at_stays_whatever_its_words() -> None:
    far = passage(
        "The lamp of the lighthouse burns until dawn. " * 3 + "Edda Marsh does it. " + "It rains. " * 60, "x.md"
    )
    assert "Edda Marsh" in kept(knowing("Edda Marsh"), far)
    weighed = refiner(knowing("Edda Marsh")).score_strips(QUESTION, hits(PAGE))
    others = refiner(Favourite("Edda Marsh", name="another")).score_strips(QUESTION, hits(PAGE))
    best = max(weighed.scored, key=lambda scored: scored.score)
    assert "Edda Marsh" in best.strip.text
    assert others == refiner(None).score_strips(QUESTION, hits(PAGE))


def test_a_damaged_reader_is_done_without_and_said(caplog: pytest.LogCaptureFixture) -> None:
    reading._say.cache_clear()
    damaged = Damaged("Marsh", name=selection.load_model().reader)
    grader = OfflineGrader(READ, reader=damaged)
    assert grader.grade_now(QUESTION, hits(PAGE)) == OfflineGrader(READ).grade_now(QUESTION, hits(PAGE))
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
    assert reading.space_out(text) == shown
