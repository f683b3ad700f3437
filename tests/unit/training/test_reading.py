"""What the network that reads pairs learns from: windows that hold the answer, pieces that are it, groups left out."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.text import language_of
from selfright.models.files import tokenizer
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.reading import WINDOWS
from training.pairs import is_left_out
from training.reading_batches import ASKED_PIECES, PASSAGE_PIECES, UNKNOWN, Example, batch_of, batches, example
from training.reading_rows import NEITHER, SUPPORTED, Row, Windows, claims_of

SENTENCES = (
    "The Mill Bridge was built in 1832 by Ada Stone.",
    "It was the longest bridge in Harrow until 1901.",
    "물레방아 다리는 하루에 전차가 40번 건너다녔다.",
)
FILLER = "Nothing of note happened on the river in those years, the records of the town say."
ASKED = (("Who built the Mill Bridge?", "Ada Stone"), ("전차는 하루에 몇 번 건넜나?", "40번"))


def row(sentences: list[str], asked: str, answer: str) -> Row:
    text = " ".join(sentences)
    start = text.index(answer)
    return Row(False, "squad2", "squad2/bridge", asked, "Bridges", text, 1, 1, start, start + len(answer))


@given(st.permutations([*SENTENCES, *[FILLER] * 12]), st.sampled_from(ASKED), st.booleans())
def test_a_window_that_is_moved_holds_the_answer(sentences: list[str], asked: tuple[str, str], moved: bool) -> None:
    windows = Windows(SENTENCES, BilingualTokenizer(), random.Random(1))
    shown = windows.shown(row(sentences, *asked), moved=moved)
    assert len(shown.text) <= WINDOWS[language_of(" ".join(sentences))]
    assert (shown.start >= 0) or not moved
    if shown.start >= 0:
        assert shown.text[shown.start : shown.end] == asked[1]


@pytest.mark.parametrize("asked", ASKED)
def test_the_answers_pieces_are_the_answer(asked: tuple[str, str]) -> None:
    made = example(row([*SENTENCES, FILLER], *asked))
    first, last = made.ends
    answer = tokenizer().decode(list(made.ids[first : last + 1]))
    assert asked[1] in answer
    assert len(answer) <= len(asked[1]) + 4
    assert len(made.ids) <= ASKED_PIECES + PASSAGE_PIECES


def test_claims_and_passages_that_do_not_answer_have_no_ends() -> None:
    claim = Row(True, "fm2", "fm2/x", "The bridge is old.", "", SENTENCES[0], SUPPORTED)
    assert example(claim).ends == (UNKNOWN, UNKNOWN)


@given(st.lists(st.integers(3, 60), min_size=1, max_size=80))
def test_batches_hold_everything_once_within_their_bound(lengths: list[int]) -> None:
    everything = [Example(tuple(range(length)), 2, False, number, -1) for number, length in enumerate(lengths)]
    found = list(batches(everything, 120, random.Random(0)))
    assert sorted(one.label for part in found for one in part) == list(range(len(lengths)))
    for part in found:
        assert len(part) * max(len(one.ids) for one in part) <= 120
        made = batch_of(part, pad=1)
        assert made.mask.sum() == sum(len(one.ids) for one in part)
        assert (made.kinds[:, :2] == 0).all()


def test_claims_say_what_their_labels_mean(tmp_path: Path) -> None:
    folder = tmp_path / "check_covid" / "dev"
    folder.mkdir(parents=True)
    same = {"id": "1", "group": "a", "question": "", "context": "It holds.", "answer": "So it is."}
    lines = [{**same, "label": label, "label_raw": raw} for label, raw in ((1, "SUPPORT"), (0, "NOTENOUGHINFO"))]
    (folder / "grounded.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [one.label for one in claims_of(tmp_path, "check_covid")] == [SUPPORTED, NEITHER]


def test_about_a_quarter_of_groups_is_left_out() -> None:
    share = sum(is_left_out(f"set/{number}") for number in range(4_000)) / 4_000
    assert share == pytest.approx(0.25, abs=0.03)
