"""A model that writes badly never ends a turn worse than the documents' own words would."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from selfright.domain.answers import (
    Answer,
    Attempt,
    Citation,
    Draft,
    EvaluationRequest,
    GenerationRequest,
    Message,
    Repetition,
    Sentence,
)
from selfright.domain.chat import OnText
from selfright.domain.errors import JudgeFailed, SelfrightError
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.ports import Evaluator, Generator
from selfright.flow.presets import PRESETS
from selfright.flow.strategies import CorrectiveRAGStrategy
from tests.support.turns import Judge, Scripted, answer_of, evaluation, passage, tools_of

WRITTEN, QUOTED = "Alpha is seven.", "Alpha is one."
ADEQUATE, HALLUCINATED = AnswerQuality.ADEQUATE, AnswerQuality.HALLUCINATION
NOTE = "sentences of the documents are quoted instead"


def drafted(text: str, request: GenerationRequest, **fields: Any) -> Draft:
    strips = request.strips[:1]
    cited = tuple(
        Citation(n, s.passage.id, s.passage.document_id, s.passage.title, "", s.start, s.end, s.text)
        for n, s in enumerate(strips, start=1)
    )
    return Draft(text, (Sentence(text, tuple(c.n for c in cited)),), cited, **fields)


class Model(Scripted):
    """Writes what it is told to."""

    text = WRITTEN
    quoting = False
    uncited = False

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        self.calls.append("generate")
        if self.uncited:
            return Draft(self.text, (Sentence(self.text),))
        return drafted(self.text, request, stands_in=self.quoting)


class Quoting:
    """Quotes one sentence, refuses, or fails."""

    needs_documents = True

    def __init__(self, *, refused: bool = False, error: Exception | None = None) -> None:
        self.refused, self.error, self.asked = refused, error, 0

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        self.asked += 1
        if self.error:
            raise self.error
        return drafted(QUOTED, request, refused=self.refused)


class Knowing:
    """The local judge: it knows what is true, whoever says it."""

    def __init__(self, judgements: dict[str, Evaluation] | None = None, error: Exception | None = None) -> None:
        self._judgements = judgements or {WRITTEN: evaluation(0.3, HALLUCINATED), QUOTED: evaluation(0.8)}
        self._error = error

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        if self._error:
            raise self._error
        return self._judgements[request.draft.text]


def answered(
    judge: Evaluator,
    writer: Generator | None = None,
    local: Evaluator | None = None,
    *,
    preset: str = "full",
    role: Scripted | None = None,
    pack: DomainPack = GENERAL,
    messages: tuple[Message, ...] = (),
    **flags: Any,
) -> Answer:
    chosen = PRESETS[preset]
    tools = tools_of(chosen, judge, role=role or Model(), abstention_enabled=False, claim_repair_enabled=False, **flags)
    tools = dataclasses.replace(tools, fallback_generator=writer or Quoting(), referee=local or Knowing(), pack=pack)
    return answer_of(chosen, tools, messages)


@pytest.mark.parametrize("preset", ["self_refine", "self_correcting", "full"])
def test_what_does_not_hold_up_gives_way_to_a_quotation_and_the_account_says_so(preset: str) -> None:
    answer = answered(Judge(evaluation(0.3, HALLUCINATED)), preset=preset)
    assert answer.answer.startswith(QUOTED)
    assert any(NOTE in note for note in answer.notes)
    assert answer.citations


def test_what_holds_up_stands_and_nothing_is_quoted_beside_it() -> None:
    writer = Quoting()
    answer = answered(Judge(evaluation(0.9)), writer)
    assert answer.answer.startswith(WRITTEN)
    assert writer.asked == 0
    assert not any(NOTE in note for note in answer.notes)


SAME = evaluation(0.6, AnswerQuality.NEEDS_DOCS)
BESIDE = evaluation(0.9, AnswerQuality.OFF_TOPIC)


@pytest.mark.parametrize(
    ("judged", "local", "given"),
    [
        (evaluation(0.9, claims=[Claim(WRITTEN, ClaimStatus.UNSUPPORTED)]), None, QUOTED),
        (evaluation(0.9, source=EvaluationSource.HEURISTIC), None, QUOTED),
        # The model's own judge found it bad; the local one finds it better than the quotation.
        (evaluation(0.1, HALLUCINATED), {WRITTEN: evaluation(0.9), QUOTED: evaluation(0.6)}, WRITTEN),
        (SAME, {WRITTEN: SAME, QUOTED: SAME}, WRITTEN),
        (SAME, {WRITTEN: SAME, QUOTED: evaluation(0.69, AnswerQuality.NEEDS_DOCS)}, WRITTEN),
        (SAME, {WRITTEN: SAME, QUOTED: evaluation(0.75, AnswerQuality.NEEDS_DOCS)}, QUOTED),
        (BESIDE, {WRITTEN: BESIDE, QUOTED: evaluation(0.6)}, QUOTED),
    ],
    ids=["an unsupported claim", "not judged", "one judge of both", "equals", "hardly more", "more", "adequate"],
)
def test_what_does_not_hold_up_is_held_against_a_quotation_by_one_judge(
    judged: Evaluation, local: dict[str, Evaluation] | None, given: str
) -> None:
    assert answered(Judge(judged), local=local and Knowing(local)).answer.startswith(given)


@pytest.mark.parametrize("error", [JudgeFailed("no"), OSError("no")])
@pytest.mark.parametrize(
    "broken", [lambda e: (Quoting(error=e), None), lambda e: (None, Knowing(error=e))], ids=["writer", "judge"]
)
def test_a_floor_that_fails_leaves_the_turn_as_it_was(broken: Callable[..., Any], error: Exception) -> None:
    writer, local = broken(error)
    assert answered(Judge(evaluation(0.4, HALLUCINATED)), writer, local).answer.startswith(WRITTEN)


def test_a_quotation_that_refuses_replaces_nothing() -> None:
    answer = answered(Judge(evaluation(0.4, HALLUCINATED)), Quoting(refused=True))
    assert answer.answer.startswith(WRITTEN)


def test_the_best_quotation_of_all_passes_is_given() -> None:
    writer = Quoting()
    answer = answered(Judge(evaluation(0.2, HALLUCINATED), evaluation(0.4, HALLUCINATED)), writer)
    assert writer.asked == len(answer.iterations) > 1
    assert answer.answer.startswith(QUOTED)


@pytest.mark.parametrize("scores", [(0.8, 0.5), (0.5, 0.8)])
def test_of_two_quotations_the_better_one_is_given(scores: tuple[float, float]) -> None:
    class Several(Quoting):
        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            self.asked += 1
            return drafted(f"Quotation {self.asked}.", request)

    judgements = {f"Quotation {n}.": evaluation(score) for n, score in enumerate(scores, start=1)}
    local = Knowing({WRITTEN: evaluation(0.1, HALLUCINATED), **judgements})
    judge = Judge(evaluation(0.2, HALLUCINATED), evaluation(0.3, HALLUCINATED))
    answer = answered(judge, Several(), local, max_refine_iterations=1)
    assert answer.answer.startswith(f"Quotation {scores.index(0.8) + 1}.")


def test_what_is_left_of_an_answer_is_judged_anew_and_tells_what_went() -> None:
    class Two(Model):
        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            return Draft(f"{WRITTEN} {QUOTED}", (Sentence(WRITTEN), Sentence(QUOTED)))

    claims = [Claim(WRITTEN, ClaimStatus.SUPPORTED), Claim(QUOTED, ClaimStatus.UNSUPPORTED)]
    judge, local = Judge(evaluation(0.9, claims=claims)), Knowing({WRITTEN: evaluation(0.7)})
    answer = answered(judge, Quoting(refused=True), local, role=Two())
    assert answer.answer.startswith(WRITTEN)
    assert answer.removed_claims == (QUOTED,)
    assert answer.evaluation is not None
    assert answer.evaluation.overall == 0.7
    assert [claim.text for claim in answer.evaluation.claims] == [QUOTED]


class Shortening(Model):
    """Is asked for the answer before in fewer words."""

    shorter = "Alpha is a letter."

    async def restate(self, text: str, history: Sequence[Message]) -> Repetition:
        told = passage("a", f"{self.shorter} It is the first.")
        source = Citation(1, told.id, told.document_id, told.title, "", told.start, told.end, told.text)
        return Repetition(Draft(self.shorter, (Sentence(self.shorter, (1,)),), (source,)), "What is alpha?", (source,))


def test_an_answer_wanted_in_fewer_words_gives_way_to_one_of_fewer_words() -> None:
    failed = evaluation(0.2, HALLUCINATED, claims=[Claim(WRITTEN, ClaimStatus.UNSUPPORTED)])
    local = Knowing({WRITTEN: failed, Shortening.shorter: evaluation(0.8)})
    role, writer = Shortening(offline_generator=False), Quoting()
    before = (Message("user", "What is alpha?"), Message("assistant", "Alpha is a letter. It is the first."))
    judge = Judge(failed, evaluation(0.8))
    limits = {"max_refine_iterations": 0}
    answer = answered(judge, writer, local, role=role, messages=before, **limits)
    assert answer.answer.startswith(Shortening.shorter)
    assert [citation.document_id for citation in answer.citations] == ["a"]
    assert writer.asked == 0


def test_no_call_of_a_model_is_spent_on_it() -> None:
    role = Model()
    answer = answered(Judge(evaluation(0.3, HALLUCINATED)), role=role)
    assert answer.cost.llm_calls == 0
    assert role.calls.count("generate") == len(answer.iterations)


@pytest.mark.parametrize("preset", ["basic", "crag"])
def test_presets_that_judge_no_answer_have_no_floor(preset: str) -> None:
    assert answered(Judge(evaluation(0.1)), preset=preset).answer.startswith(WRITTEN)


def test_a_draft_that_quotes_already_is_compared_with_nothing() -> None:
    role = Model()
    role.quoting = True
    writer = Quoting()
    answer = answered(Judge(evaluation(0.3, HALLUCINATED)), writer, role=role)
    assert writer.asked == 0
    assert any(NOTE in note for note in answer.notes)


# A refusal of what a model wrote


class Doubting(Model):
    """Refuses what the model wrote, whatever its judge says; of quotations only what it is told to."""

    refuses_quotations = False

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        return self.refuses_quotations or best.draft.text == WRITTEN


def test_a_quotation_is_given_before_a_refusal_of_what_seemed_to_hold_up() -> None:
    answer = answered(Judge(evaluation(0.9)), role=Doubting())
    assert answer.answer.startswith(QUOTED)
    assert not answer.abstained
    assert any(NOTE in note for note in answer.notes)


def test_so_it_is_where_nothing_is_left_for_want_of_a_source() -> None:
    field = dataclasses.replace(GENERAL, needs_source=lambda _sentence: True)
    role = Model()
    role.uncited = True
    answer = answered(Judge(evaluation(0.9)), role=role, pack=field)
    assert answer.answer.startswith(QUOTED)
    assert answer.citations


def test_what_offline_would_be_refused_too_stays_refused() -> None:
    role = Doubting()
    role.refuses_quotations = True
    answer = answered(Judge(evaluation(0.9)), role=role)
    assert answer.abstained
    assert QUOTED not in answer.answer


# Who stands in for a judge


REQUEST = EvaluationRequest("What is alpha?", Draft(WRITTEN, (Sentence(WRITTEN),)), "en")


def stood_in(local: Evaluator) -> Evaluation:
    heuristic = Judge(evaluation(0.3, source=EvaluationSource.HEURISTIC))
    failing = Judge(SelfrightError("out of reach"))
    strategy = CorrectiveRAGStrategy(Flags(), failing, (local, heuristic), "both")
    state = {"question": REQUEST.question, "draft": REQUEST.draft, "language": "en"}
    found: Evaluation = asyncio.run(strategy.refine(state))["evaluation"]
    return found


def test_the_local_judge_stands_in_before_the_heuristic() -> None:
    assert stood_in(Knowing()).source is EvaluationSource.LOCAL
    assert stood_in(Knowing(error=SelfrightError("no"))).source is EvaluationSource.HEURISTIC


def test_a_mistake_in_the_code_is_no_failing_judge() -> None:
    with pytest.raises(RuntimeError):
        stood_in(Knowing(error=RuntimeError("no")))
