"""The grader with a reader beside its signals: when it is asked, what it sees, and what happens when it is broken."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import JudgeFailed
from selfright.roles.calibration.stored import GraderCalibration, Origin
from selfright.roles.grade.features import Asked, Read
from selfright.roles.grade.model import Variant, shipped_model
from selfright.roles.grade.neural import CHARACTERS, NEURAL, NeuralModel, shown, with_reader
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.scoring import Curve, Scorer
from tests.support.embedders import WordHashes
from tests.support.readers import Favourite
from tests.support.texts import analyzer, hits
from tests.support.texts import passage as passage_of

QUESTION = "Who rewrote the log at night?"
LEFT = replace(passage_of("The compactor rewrote the log at night.", "left"), id="left")
RIGHT = replace(passage_of("The archiver rewrote the log at night.", "right"), id="right")
KOREAN = replace(passage_of("기록은 밤마다 다시 쓰인다.", "ko"), id="ko")
TEXTS = [p.text for p in (LEFT, RIGHT, KOREAN)]


def trusting(reader: str = "favourite") -> NeuralModel:
    """A model that believes the reader and nothing else."""
    curve = Curve((-1.0, 1.0), (0.05, 0.95))
    only = Scorer(NEURAL, tuple(10.0 * (name == "reader_logit") for name in NEURAL), 0.0, curve)
    return NeuralModel(reader, "", Variant(only, shipped_model().semantic.sufficiency))


def grader(reader: Favourite | None, model: NeuralModel | None = None, embedder: str = "") -> OfflineGrader:
    encoder = WordHashes(embedder or shipped_model().embedder)
    return OfflineGrader(analyzer(*TEXTS), encoder, reader=reader, neural=model or trusting())


def test_the_reader_tells_apart_what_the_signals_cannot() -> None:
    for word, wanted, other in (("compactor", "left", "right"), ("archiver", "right", "left")):
        grading = grader(Favourite(word)).judge(QUESTION, hits(LEFT, RIGHT))
        assert (grading.probability(wanted) or 0) > 0.9
        assert (grading.probability(other) or 1) < 0.1


def test_another_reader_than_the_one_the_scorers_know_is_not_asked() -> None:
    stranger = Favourite("compactor", name="stranger")
    grading = grader(stranger).judge(QUESTION, hits(LEFT, RIGHT))
    assert not stranger.seen
    assert grading == grader(None).judge(QUESTION, hits(LEFT, RIGHT))


def test_korean_and_sets_without_cosines_are_left_to_the_signals() -> None:
    reader = Favourite("기록")
    grader(reader).judge(QUESTION, hits(KOREAN))
    grader(reader).judge("기록은 언제 다시 쓰이나요?", hits(KOREAN, LEFT))
    grader(reader, embedder="another").judge(QUESTION, hits(LEFT))
    assert not reader.seen


def test_the_few_passages_that_may_help_are_read_and_the_others_judged_by_signals() -> None:
    near = [replace(passage_of(f"The compactor {n} rewrote the log at night.", f"n{n}"), id=f"n{n}") for n in range(8)]
    far = replace(passage_of("Bread rises in a warm kitchen.", "far"), id="far")
    reader = Favourite("compactor")
    asked = grader(reader).judge(QUESTION, hits(*near, far))
    assert len(reader.seen) == 5
    assert not any("Bread" in text for text in reader.seen)
    assert asked.probability("far") == grader(None).judge(QUESTION, hits(*near, far)).probability("far")


def test_nothing_is_read_when_nothing_may_help() -> None:
    reader = Favourite("compactor")
    far = replace(passage_of("Bread rises in a warm kitchen.", "far"), id="far")
    grader(reader).judge(QUESTION, hits(far))
    assert not reader.seen


def test_before_a_model_that_judges_nothing_is_read_unless_calibrated_with_the_reader() -> None:
    reader = Favourite("compactor")
    first = grader(reader).without_reader().judge(QUESTION, hits(LEFT, RIGHT))
    assert not reader.seen
    assert first == grader(None).judge(QUESTION, hits(LEFT, RIGHT))
    curve = Curve((0.0, 1.0), (0.0, 1.0))
    own = GraderCalibration(curve, curve, 0.2, 0.8, False, Origin("2026-01-01", 4, 2, "", "", 0.1))
    calibrated = OfflineGrader(
        analyzer(*TEXTS),
        WordHashes(shipped_model().embedder),
        reader=reader,
        neural=trusting(),
        calibration=own,
    )
    calibrated.without_reader().judge(QUESTION, hits(LEFT, RIGHT))
    assert reader.seen


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_fails_the_judge(broken: float) -> None:
    with pytest.raises(JudgeFailed):
        grader(Favourite("compactor", high=broken)).judge(QUESTION, hits(LEFT, RIGHT))


def test_of_a_long_passage_the_reader_sees_the_part_to_the_point() -> None:
    filler = " ".join(f"Sentence number {n} is about nothing in particular." for n in range(60))
    long = passage_of(f"{filler} The compactor rewrote the log at night. {filler}", "long")
    asked = Asked.of(QUESTION, analyzer(*TEXTS))
    text = shown(asked, long, Read.of(asked, long))
    assert "The compactor rewrote the log at night." in text
    assert text.startswith(long.heading)
    assert len(text) <= CHARACTERS + len(long.heading) + 1


@given(st.text(max_size=3_000))
def test_what_is_shown_is_a_part_of_the_passage(text: str) -> None:
    asked = Asked.of(QUESTION, analyzer(*TEXTS))
    whole = passage_of(text if text.strip() else "x", "")
    assert not whole.heading
    seen = shown(asked, whole, Read.of(asked, whole))
    assert seen in whole.text
    assert len(seen) == len(whole.text) if len(whole.text) <= CHARACTERS else 0 < len(seen) <= CHARACTERS


@given(st.lists(st.one_of(st.none(), st.floats(-50, 50)), min_size=1, max_size=6))
def test_signals_are_bounded_and_compare_within_the_set(scores: list[float | None]) -> None:
    rows = with_reader([{} for _ in scores], scores)
    assert all(0 <= row["reader"] <= 1 and -1 <= row["reader_logit"] <= 1 for row in rows)
    known = [row["behind_reader"] for row, score in zip(rows, scores, strict=True) if score is not None]
    assert not known or min(known) == 0.0 <= max(known) < 1
