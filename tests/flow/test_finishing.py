"""One way to finish an answer: an error, a failing search or a rule of the field leaves nothing of it out."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import pytest

from selfright.domain.answers import Answer, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.budget import Meter
from selfright.domain.chat import OnText
from selfright.domain.errors import IndexBusy, StoreError
from selfright.domain.judgements import Claim, ClaimStatus, Evaluation, StopReason
from selfright.domain.packs import GENERAL
from selfright.domain.passages import Hit, Language, Retrieval
from selfright.domain.ports import Evaluator
from selfright.domain.slots import Concern
from selfright.flow.presets import PRESETS
from selfright.flow.run import _notes
from selfright.flow.state import AgentState
from tests.support.turns import Judge, Library, Scripted, answer_of, evaluation, hit, tools_of

SAFE, DOSE = "The lamp is in the tower.", "Take 40 mg of it every hour."
URGENT = "Call the emergency number now."
FIELD = dataclasses.replace(GENERAL, urgent=lambda _text, _language: URGENT)


class Writer(Scripted):
    """Says the same two sentences in every pass; from its ``fails``-th pass on it is out of order."""

    fails = 2
    sentences: Sequence[str] = (SAFE, DOSE)
    passes = 0

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        self.passes += 1
        if self.passes >= self.fails:
            raise RuntimeError("out of order")
        return Draft(" ".join(self.sentences), tuple(Sentence(text) for text in self.sentences))


class Doubter:
    """Finds the dose unsupported, and asks for another pass as long as the score is low."""

    def __init__(self, score: float = 0.3) -> None:
        self._score = score

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        status = {DOSE: ClaimStatus.UNSUPPORTED}
        claims = (Claim(one.text, status.get(one.text, ClaimStatus.SUPPORTED)) for one in request.draft.sentences)
        return dataclasses.replace(evaluation(self._score), claims=tuple(claims))


def answered(role: Scripted, judge: Evaluator, retriever: Any = None, pack: Any = FIELD, **flags: Any) -> Answer:
    preset = PRESETS["full"]
    tools = dataclasses.replace(tools_of(preset, judge, role=role, retriever=retriever, **flags), pack=pack)
    return answer_of(preset, tools)


def test_an_error_after_the_first_draft_keeps_what_is_urgent_and_removes_what_nothing_supports() -> None:
    answer = answered(Writer(), Doubter())
    assert answer.stop_reason is StopReason.ERROR
    assert answer.answer == f"{URGENT}\n\n{SAFE}"
    assert answer.removed_claims == (DOSE,)
    assert not answer.abstained
    assert any("RuntimeError" in note for note in answer.notes)
    assert len(answer.iterations) == 1


def test_an_error_leaves_a_refusal_where_the_draft_cannot_be_given() -> None:
    role = Writer(abstain=True)
    answer = answered(role, Doubter())
    assert (answer.stop_reason, answer.abstained) == (StopReason.ERROR, True)
    assert answer.answer.startswith(URGENT)
    assert DOSE not in answer.answer


def test_a_draft_that_an_error_left_unjudged_is_given_as_such() -> None:
    answer = answered(Writer(), Judge(TypeError("a mistake of ours")))
    assert (answer.stop_reason, answer.evaluation) == (StopReason.ERROR, None)
    assert answer.answer.startswith(URGENT)


def test_a_refusal_is_never_told_as_an_answer() -> None:
    """Sentences that need a source and have none go; when that is all of them, the turn has abstained."""
    field = dataclasses.replace(FIELD, needs_source=lambda _sentence: True)
    role = Writer()
    role.fails, role.sentences = 9, (SAFE,)
    answer = answered(role, Judge(evaluation(0.9)), pack=field)
    assert answer.removed_claims == (SAFE,)
    assert "nothing to support an answer" in answer.answer
    assert (answer.abstained, answer.stop_reason) == (True, StopReason.ABSTAINED)


def test_a_refusal_does_not_say_that_its_draft_answered_the_question() -> None:
    role = Writer(abstain=True)
    role.fails = 9
    answer = answered(role, Judge(evaluation(0.9)))
    assert answer.abstained
    assert any("does not seem to answer the question" in note for note in answer.notes)


WARNS = Concern("alpha was taken before", ("alpha",), ("alpha",), warns=True)


@pytest.mark.parametrize(
    ("warning", "begins"),
    [({}, "this conflicts with your profile"), ({"en": "read the label first"}, "read the label first")],
)
def test_a_warning_begins_as_the_pack_says(warning: dict[Language, str], begins: str) -> None:
    field = dataclasses.replace(FIELD, concerns=lambda *_: (WARNS,), warning=warning)
    answer = answered(Writer(), Judge(evaluation(0.9)), pack=field)
    assert f"{begins}: {WARNS.text}" in answer.notes


def test_what_is_left_out_is_a_fact_and_the_first_note() -> None:
    """Concerns have notes of their own, and a note lists no more than six things."""
    things = tuple(f"thing {n}" for n in range(8))
    field = dataclasses.replace(FIELD, concerns=lambda *_: (WARNS,))
    answer = answered(Writer(), Judge(evaluation(0.9, missing=(*things, WARNS.text))), pack=field)
    assert answer.uncovered == things
    assert answer.notes[0] == f"not covered: {', '.join(things[:6])}"
    covered = answered(Writer(), Judge(evaluation(0.9)))
    assert covered.uncovered == ()
    assert not any("not covered" in note for note in covered.notes)


def test_the_question_itself_is_not_called_uncovered_beside_an_answer() -> None:
    """The judge doubts the answer then, and names nothing that it leaves out."""
    answer = answered(Writer(), Judge(evaluation(0.9, missing=("What is alpha",))))
    assert answer.uncovered == ()
    assert answer.notes[0] == "it is not certain that this answers the question"


class Breaking(Library):
    """An index that answers once."""

    def __init__(self, error: Exception, *results: Sequence[Hit]) -> None:
        super().__init__(*results)
        self._error = error

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        if self.queries:
            raise self._error
        return await super().search(query, k, collections)


@pytest.mark.parametrize("error", [IndexBusy("another process writes"), StoreError("gone"), TimeoutError()])
def test_a_search_that_fails_while_claims_are_repaired_costs_the_repair_alone(error: Exception) -> None:
    role = Writer()
    role.fails = 9
    answer = answered(role, Doubter(0.9), Breaking(error, (hit("a", SAFE),)))
    assert answer.stop_reason is StopReason.ADEQUATE
    assert answer.answer == f"{URGENT}\n\n{SAFE}"
    assert answer.removed_claims == (DOSE,)
    assert any("unsupported claims failed" in note for note in answer.notes)


def test_an_answer_tells_that_a_model_was_out_of_reach_and_how_sure_its_own_verdict_is() -> None:
    for meter, fell_back in ((Meter(9, 9_000, 60.0), False), (Meter(9, 9_000, 60.0, degraded=True), True)):
        role = Scripted(fell_back=fell_back)
        answer = answer_of(PRESETS["full"], tools_of(PRESETS["full"], Judge(evaluation(0.9)), role=role, meter=meter))
        assert answer.degraded is meter.degraded
        # The grader's confidence is of its own verdict, not of the one that refining left.
        assert (answer.verdict_confidence is None) is fell_back


def test_what_went_wrong_is_said_in_the_language_of_the_question() -> None:
    meter = Meter(1, 1, 1.0)
    for kind in ("unusable evaluate", "slots read by rules", "rejected 400", "timeout"):
        meter.trouble(kind)
    meter.left_out["answer"] = 1_200
    state: AgentState = {"language": "ko"}  # all that is read
    notes = " ".join(_notes(Draft("답"), state, meter))
    assert not re.search("[a-z]", notes)
    assert "쓸 수 없는 응답 (답변 평가) ×1" in notes
    state["language"] = "en"
    assert "unusable evaluate ×1" in " ".join(_notes(Draft("answer"), state, meter))
