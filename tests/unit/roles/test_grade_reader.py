"""The grader with a reader beside its signals: when it is asked, what it sees, and what happens when it is broken."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import JudgeFailed
from selfright.roles.grade.features import features
from selfright.roles.grade.model import GraderModel, Variant, load_model, names_of
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.reading import MOST_READ, WINDOWS, QuestionFeatures, Reading, Window, readings
from selfright.roles.scoring import Curve, Scorer
from tests.support.readers import Favourite
from tests.support.texts import analyzer, hits
from tests.support.texts import passage as passage_of

QUESTION = "Who rewrote the log at night?"
LEFT = replace(passage_of("The compactor rewrote the log at night.", "left"), id="left")
RIGHT = replace(passage_of("The archiver rewrote the log at night.", "right"), id="right")
KOREAN = replace(passage_of("기록은 밤마다 다시 쓰인다.", "ko"), id="ko")
TEXTS = [p.text for p in (LEFT, RIGHT, KOREAN)]


def trusting(reader: str = "favourite") -> GraderModel:
    """A model that believes the reader and nothing else."""
    model, curve = load_model(), Curve((-1.0, 1.0), (0.05, 0.95))
    variants = dict(model.variants)
    for name in ("read", "both"):
        names = names_of(name)
        only = Scorer(names, tuple(10.0 * (each == "reading") for each in names), 0.0, curve)
        variants[name] = Variant(only, model.variants[name].sufficiency)
    return replace(model, reader=reader, variants=variants)


def grader(reader: Favourite | None, model: GraderModel | None = None) -> OfflineGrader:
    return OfflineGrader(analyzer(*TEXTS), reader=reader, model=model or trusting())


def test_the_reader_tells_apart_what_the_signals_cannot() -> None:
    for word, wanted, other in (("compactor", "left", "right"), ("archiver", "right", "left")):
        grading = grader(Favourite(word)).grade_now(QUESTION, hits(LEFT, RIGHT))
        assert (grading.probability(wanted) or 0) > 0.9
        assert (grading.probability(other) or 1) < 0.1


def test_another_reader_than_the_one_the_scorers_know_is_not_asked() -> None:
    stranger = Favourite("compactor", name="stranger")
    grading = grader(stranger).grade_now(QUESTION, hits(LEFT, RIGHT))
    assert not stranger.seen
    assert grading == grader(None).grade_now(QUESTION, hits(LEFT, RIGHT))


def test_the_reader_is_not_asked_in_a_language_that_it_does_not_know() -> None:
    reader = Favourite("기록")
    grader(reader).grade_now(QUESTION, hits(KOREAN))
    grader(reader).grade_now("기록은 언제 다시 쓰이나요?", hits(KOREAN, LEFT))
    assert not reader.seen


def test_the_first_eight_are_read_whatever_their_words_and_the_others_judged_by_signals() -> None:
    far = replace(passage_of("Bread rises in a warm kitchen.", "far"), id="far")
    near = [replace(passage_of(f"The compactor {n} rewrote the log at night.", f"n{n}"), id=f"n{n}") for n in range(9)]
    reader = Favourite("compactor")
    asked = grader(reader).grade_now(QUESTION, hits(far, *near))
    assert [text.split()[0] for text in reader.seen] == ["Bread", *["The"] * (MOST_READ - 1)]
    unread = grader(None).grade_now(QUESTION, hits(far, *near))
    assert len({round(grading.probability("n8") or 0, 2) for grading in (asked, unread)}) == 1


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_fails_the_judge(broken: float) -> None:
    with pytest.raises(JudgeFailed):
        grader(Favourite("compactor", high=broken)).grade_now(QUESTION, hits(LEFT, RIGHT))


def test_of_a_long_passage_the_reader_sees_the_part_to_the_point() -> None:
    filler = " ".join(f"Sentence number {n} is about nothing in particular." for n in range(60))
    long = passage_of(f"{filler} The compactor rewrote the log at night. {filler}", "long", "Logs")
    reader = Favourite("compactor")
    readings(QuestionFeatures.of(QUESTION, analyzer(*TEXTS)), [long], reader)
    assert "The compactor rewrote the log at night." in reader.seen[0]
    assert reader.seen[0].startswith("Logs\n")
    assert all(len(text) <= WINDOWS["en"] + len("Logs\n") for text in reader.seen)


@given(st.text(max_size=3_000))
def test_what_is_shown_is_a_part_of_the_passage(text: str) -> None:
    asked = QuestionFeatures.of(QUESTION, analyzer(*TEXTS))
    whole = replace(passage_of(text.replace("|", "") or "x" if text.strip("| \n") else "x", ""), language="en")
    reader = Favourite("x")
    readings(asked, [whole], reader)
    assert all(0 < len(seen) <= WINDOWS["en"] and seen in whole.text for seen in reader.seen)


@given(st.lists(st.one_of(st.none(), st.floats(-50, 50)), min_size=1, max_size=6))
def test_signals_are_bounded_and_compare_within_the_set(scores: list[float | None]) -> None:
    asked = QuestionFeatures.of(QUESTION, analyzer(*TEXTS))
    pages = [replace(LEFT, id=str(n)) for n in range(len(scores))]
    read = {str(n): Reading((Window(0, 9, score, ()),)) for n, score in enumerate(scores) if score is not None}
    rows = features(asked, hits(*pages), read)
    assert all(-1 <= row["reading"] <= 1 for row in rows)
    behind = [row["behind_reading"] for row in rows]
    assert min(behind) == 0.0 <= max(behind) <= 2
