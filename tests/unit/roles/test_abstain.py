"""When the abstainer refuses, and what a refusal says."""

import dataclasses
import json
import math
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Attempt, Citation, Draft, Sentence
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource, Grade, Grading, QueryClass, Verdict
from selfright.domain.passages import Hit, Strip, web_id
from selfright.roles.abstain import (
    MISSING,
    NEAREST,
    SIGNALS,
    CalibratedAbstainer,
    Grounds,
    SupportAbstainer,
    load_model,
    read_model,
    signals,
)
from selfright.roles.evaluate.scoring import support
from tests.support.texts import hits, passage

ABSTAINER = SupportAbstainer(0.5)
SAID = Draft("It holds 2 litres.", (Sentence("It holds 2 litres."),))
PAGES = hits(*(passage("Kettles.", f"{n}.md", f"Kettle {n}") for n in range(5)))
QUESTION = "How much water does the copper kettle hold?"
TEXT = "The copper kettle holds 2 litres of water. It was made in Dunmore."


def judged(
    grounding: float, completeness: float, accuracy: float, source: EvaluationSource = EvaluationSource.LOCAL
) -> Evaluation:
    missing = tuple(f"point {n}" for n in range(6))
    label = AnswerQuality.NEEDS_DOCS
    return Evaluation(grounding, completeness, accuracy, label, 0.9, source, missing_info=missing)


def attempt(evaluation: Evaluation | None, draft: Draft = SAID) -> Attempt:
    return Attempt(draft, evaluation, 0.0, 0)


def abstains(evaluation: Evaluation | None, flags: Flags | None = None, draft: Draft = SAID) -> bool:
    return ABSTAINER.should_abstain(QUESTION, QueryClass.QUESTION, attempt(evaluation, draft), flags or Flags())


# By support alone


@pytest.mark.parametrize("scores", [(0.4, 1.0, 1.0), (1.0, 0.4, 1.0), (1.0, 1.0, 0.4)])
def test_an_answer_is_as_good_as_what_it_lacks_most(scores: tuple[float, float, float]) -> None:
    assert support(judged(*scores)) == 0.4
    assert abstains(judged(*scores))


REFUSED = Draft("Nothing found.", refused=True)
OFF = Flags(abstention_enabled=False)


@pytest.mark.parametrize(
    ("evaluation", "flags", "draft", "refuses"),
    [
        (judged(0.9, 0.5, 0.9), None, SAID, False),
        (judged(0.9, 0.9, 0.9, EvaluationSource.HEURISTIC), None, SAID, True),  # without evidence it counts half
        (None, None, SAID, False),
        (None, None, REFUSED, True),
        (judged(0.0, 0.0, 0.0), OFF, SAID, False),
        (judged(0.0, 0.0, 0.0), OFF, REFUSED, True),
    ],
)
def test_support_or_its_absence_decides_where_abstention_is_on(
    evaluation: Evaluation | None, flags: Flags | None, draft: Draft, refuses: bool
) -> None:
    assert abstains(evaluation, flags, draft) is refuses


# By all that is known


def known(p: float, completeness: float, text: str = TEXT) -> Attempt:
    """An answer that quotes the first sentence of its one passage, which the grader gives probability ``p``."""
    page = passage(text, "kettle.md", "Kettles")
    quoted = text.split(". ", maxsplit=1)[0] + "."
    citation = Citation(1, page.id, "kettle.md", "Kettles", "", 0, len(quoted), quoted)
    grading = Grading(Verdict.CORRECT, p, (Grade(page.id, p),))
    return Attempt(
        Draft(f"{quoted} [1]", (Sentence(quoted, (1,)),), (citation,)),
        judged(0.9, completeness, 0.9),
        0.5,
        0,
        strips=(Strip(page, 0, len(text), text, p),),
        hits=(Hit(page, 1 / 61),),
        grading=grading,
    )


def probability(best: Attempt) -> float:
    assert best.evaluation is not None
    return load_model().probability(Grounds(best.draft, best.evaluation, best.grading))


def test_the_signals_of_one_answer_by_hand() -> None:
    best = known(0.75, 0.5)
    assert best.evaluation is not None
    found = signals(Grounds(best.draft, best.evaluation, best.grading))
    assert set(found) == set(SIGNALS)
    assert [found[name] for name in ("sufficiency", "cited")] == pytest.approx([math.log(3)] * 2)
    assert found["completeness"] == 0.0


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_belief_never_makes_an_answer_less_likely(p: float, more: float, c: float, better: float) -> None:
    low, high = known(min(p, more), min(c, better)), known(max(p, more), max(c, better))
    assert 0 <= probability(low) <= probability(high) <= 1


def test_what_all_judges_believe_is_given_and_what_none_does_is_not() -> None:
    calibrated = CalibratedAbstainer()
    for best, refused in ((known(0.95, 0.95), False), (known(0.005, 0.05, "Boats anchor outside."), True)):
        assert calibrated.should_abstain(QUESTION, QueryClass.QUESTION, best, Flags()) is refused
        assert not calibrated.should_abstain(QUESTION, QueryClass.QUESTION, best, Flags(abstention_enabled=False))


def test_what_others_brought_beside_ones_own_has_to_answer_as_well_as_be_relevant() -> None:
    calibrated, own = CalibratedAbstainer(), known(0.95, 0.2)
    upload = replace(own.hits[0].passage, origin="upload")
    alone = replace(own, hits=(Hit(upload, 1 / 61),), strips=(replace(own.strips[0], passage=upload),))
    beside = replace(upload, id="beside#0", document_id="beside", origin="index")
    theirs = replace(alone, hits=(*alone.hits, Hit(beside, 1 / 62)))
    surer = replace(theirs, evaluation=judged(0.9, 0.6, 0.9))
    told = (own, alone, theirs, surer)
    refused = [calibrated.should_abstain(QUESTION, QueryClass.QUESTION, one, Flags()) for one in told]
    assert refused == [False, False, True, False]


@pytest.mark.parametrize(
    "strange",
    [
        replace(known(0.005, 0.5), hits=()),
        replace(known(0.005, 0.5), grading=None),
        replace(known(0.005, 0.5), grading=Grading(Verdict.UNKNOWN, None, ())),
        replace(known(0.005, 0.5), evaluation=judged(0.9, 0.5, 0.9, EvaluationSource.LLM)),
    ],
)
def test_answers_of_another_kind_are_decided_on_by_their_support(strange: Attempt) -> None:
    calibrated = CalibratedAbstainer()
    weak = replace(strange, evaluation=replace(strange.evaluation or judged(1, 1, 1), completeness=0.01))
    assert not calibrated.should_abstain(QUESTION, QueryClass.QUESTION, strange, Flags())
    assert calibrated.should_abstain(QUESTION, QueryClass.QUESTION, weak, Flags())


def test_a_summary_need_not_repeat_the_question() -> None:
    best = known(0.005, 0.5, "Boats anchor outside.")
    calibrated = CalibratedAbstainer()
    assert not calibrated.should_abstain("Summarize it.", QueryClass.SUMMARY, best, Flags())


@pytest.mark.parametrize("message", ["?", "...", "👍", "？！"])
def test_a_message_without_words_has_no_answer_in_the_documents(message: str) -> None:
    best = known(0.95, 0.95)
    for abstainer in (CalibratedAbstainer(), ABSTAINER):
        assert abstainer.should_abstain(message, QueryClass.UNKNOWN, best, Flags())
        assert not abstainer.should_abstain(f"{message} 42", QueryClass.UNKNOWN, best, Flags())
        assert not abstainer.should_abstain(message, QueryClass.CHITCHAT, best, Flags())


def test_passages_that_were_graded_incorrect_make_no_answer_unless_a_page_of_the_web_stands_in() -> None:
    calibrated, flags = CalibratedAbstainer(), Flags()
    best = replace(known(0.95, 0.95), verdict=Verdict.INCORRECT)
    assert calibrated.should_abstain(QUESTION, QueryClass.QUESTION, best, flags)
    page = replace(best.hits[0].passage, id=web_id("kettle"))
    beside = replace(best, hits=(*best.hits, Hit(page, 1.0)))
    assert not calibrated.should_abstain(QUESTION, QueryClass.QUESTION, beside, flags)


def test_a_signal_that_is_no_number_is_no_ground_for_an_answer() -> None:
    best = known(math.nan, 0.95)
    assert math.isnan(probability(best))
    assert CalibratedAbstainer().should_abstain(QUESTION, QueryClass.QUESTION, best, Flags())


def test_an_english_question_takes_more_to_be_answered_in_korean() -> None:
    model = load_model()
    between = (model.threshold + model.across["en"]) / 2
    given = {
        ("How much?", "Two euros."): True,
        ("How much?", "두 유로입니다."): False,
        ("얼마인가요?", "Two euros."): True,
        ("얼마인가요?", "두 유로입니다."): True,
    }
    assert {pair: model.suffices(between, *pair) for pair in given} == given
    assert not model.suffices(math.nan, "How much?", "Two euros.")


def test_the_shipped_weights_have_the_signs_that_their_signals_mean() -> None:
    stored = json.loads(files("selfright.roles").joinpath("abstain.json").read_text(encoding="utf-8"))
    model = read_model(stored)
    scorer = model.scorer
    assert set(scorer.names) <= set(SIGNALS)
    assert min(scorer.weights) >= 0
    assert 0 < model.threshold < 0.5
    assert {"squad2", "field_handbook"} <= set(stored["measured"])


# What is said


def test_a_refusal_names_what_is_missing_and_the_nearest_sources_within_bounds() -> None:
    refusal = ABSTAINER.refusal("How much?", "en", attempt(judged(0, 0, 0)), PAGES)
    assert refusal.refused
    assert refusal.text == (
        "I could not find an answer that the documents support. Missing: point 0, point 1, point 2, point 3. "
        "Nearest sources: Kettle 0 (0.md), Kettle 1 (1.md), Kettle 2 (2.md)."
    )
    assert (MISSING, NEAREST) == (4, 3)


def test_what_a_found_source_has_is_not_called_missing() -> None:
    found = hits(passage("The lamp is short and bright.", "lamp.md", "Lamps"))
    lacking = dataclasses.replace(judged(0, 0, 0), missing_info=("short", "warranty"))
    assert "Missing: warranty. " in ABSTAINER.refusal("How short is the warranty?", "en", attempt(lacking), found).text
    lacking = dataclasses.replace(lacking, missing_info=("short",))
    assert "Missing" not in ABSTAINER.refusal("How short?", "en", attempt(lacking), found).text


def test_a_refusal_in_korean_with_nothing_found() -> None:
    refusal = ABSTAINER.refusal("얼마인가요?", "ko", attempt(None), ())
    assert refusal.text == "문서에서 답의 근거를 찾지 못했습니다. 관련된 자료가 없습니다."
