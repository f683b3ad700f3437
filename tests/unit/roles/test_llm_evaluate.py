"""The model as judge: read strictly, cross-checked, and asked only where the local judge is not sure."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, EvaluationRequest, Message
from selfright.domain.chat import Job
from selfright.domain.errors import BudgetSpent, JudgeFailed, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.passages import Passage
from selfright.domain.text import language_of
from selfright.domain.value_parsing import score
from selfright.models.reader import PairViews, load_net
from selfright.roles.evaluate.completeness import AnswerReader
from selfright.roles.evaluate.judgement_parsing import Judgement, read_judgement
from selfright.roles.evaluate.llm import QualityEvaluator, evaluation_of
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.model_calls import EVALUATION_SCHEMA, JudgingMode
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import KETTLE, SIDE_EFFECTS, TOASTER, analyzer, draft, hits

ANALYZER = analyzer(*(p.text for p in (KETTLE, TOASTER, *SIDE_EFFECTS)))
HOW_OFTEN = "How often should the kettle be descaled?"
VERBATIM = "Descale the kettle every 3 months with citric acid."
LOOSE = "Scale is best removed four times a year."
GOOD: dict[str, Any] = {
    "grounding": 0.9, "completeness": 0.8, "accuracy": 1.0, "answer_quality": "adequate", "confidence": 0.9,
    "missing_info": [], "improvement_suggestions": [], "needs_retrieval": False, "reason": "It answers.", "claims": [],
}  # fmt: skip


def request(
    answer: Draft,
    *evidence: Passage,
    question: str = HOW_OFTEN,
    query_class: QueryClass = QueryClass.QUESTION,
    history: Sequence[Message] = (),
) -> EvaluationRequest:
    return EvaluationRequest(
        question, answer, language_of(question), query_class, hits(*evidence), history=tuple(history)
    )


@dataclass
class Judged:
    evaluation: Evaluation
    chat: ScriptedChat


def judge(asked: EvaluationRequest, *replies: Scripted, judging: JudgingMode = "cascade") -> Judged:
    chat = ScriptedChat(replies)
    evaluator = QualityEvaluator(chat, LocalEvaluator(ANALYZER), ANALYZER, judging)
    return Judged(asyncio.run(evaluator.evaluate(asked)), chat)


def evaluated(
    data: Mapping[str, Any], *sentences: str, shown: Sequence[str] = (), disputed: Sequence[str] = ()
) -> Evaluation:
    claims = [Claim(text, ClaimStatus.UNKNOWN) for text in sentences]
    return evaluation_of(read_judgement(data), shown, claims, frozenset(disputed))


# Reading


def test_worked_example() -> None:
    """Seed 003, section 4: 0.4 / 0.3 / 0.7 → 0.42 → retrieve again."""
    question = "당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?"
    poor = draft("메트포르민은 혈당을 낮추는 약물입니다.", "일반적으로 안전합니다.")
    missing = ["위장 장애(설사, 구토)", "유산증(lactic acidosis) 위험", "금기 사항(신부전, 심부전)", "비타민 B12 결핍"]
    reply = {
        "grounding_score": 0.4,
        "completeness_score": 0.3,
        "accuracy_score": 0.7,
        "missing_info": missing,
        "improvement_suggestions": ["문서에 명시된 부작용을 구체적으로 나열"],
        "needs_retrieval": True,
        "reason": "답변이 검색 문서의 핵심 정보를 누락함.",
    }
    judged = judge(request(poor, *SIDE_EFFECTS, question=question), reply)
    evaluation = judged.evaluation
    assert evaluation.overall == 0.42
    assert evaluation.needs_retrieval
    assert evaluation.answer_quality is AnswerQuality.NEEDS_DOCS
    assert list(evaluation.missing_info) == missing
    assert evaluation.source is EvaluationSource.LLM
    assert (judged.chat.request.job, judged.chat.request.temperature) == (Job.EVALUATE, 0.3)
    assert judged.chat.request.schema == EVALUATION_SCHEMA
    assert "비타민 B12 결핍" in judged.chat.request.user


def test_an_adequate_answer_does_not_lack_the_question_itself() -> None:
    reply = GOOD | {"missing_info": ["how often should the kettle be descaled", "which acid to use"]}
    assert judge(request(draft(LOOSE), KETTLE), reply).evaluation.missing_info == ("which acid to use",)
    reply |= {"answer_quality": "needs_docs"}
    assert len(judge(request(draft(LOOSE), KETTLE), reply).evaluation.missing_info) == 2


@pytest.mark.parametrize(
    "renamed",
    [
        {"근거성": 0.9, "완전성": 0.8, "정확성": 1.0, "답변 품질": "adequate", "신뢰도": 0.9},
        {"groundingScore": "0.9", "Completeness Score": "8/10", "accuracy_score": "100%", "answerQuality": "Adequate",
         "confidence": 0.9},
        {"scores": {"grounding": 0.9, "completeness": 0.8, "accuracy": 1}, "label": "ADEQUATE", "confidence": "０.９"},
        {**GOOD, "overall_score": 0.1, "note": [1, {}], "grounding_score": 0.9},
    ],
)  # fmt: skip
def test_other_names_and_forms_are_read(renamed: dict[str, Any]) -> None:
    evaluation = evaluated(renamed)
    assert (evaluation.grounding, evaluation.completeness, evaluation.accuracy) == (0.9, 0.8, 1.0)
    assert evaluation.overall == 0.88
    assert (evaluation.answer_quality, evaluation.confidence) == (AnswerQuality.ADEQUATE, 0.9)
    assert not evaluation.needs_retrieval


@pytest.mark.parametrize(
    "change",
    [
        {"grounding": None},
        {"grounding": 1.7},
        {"completeness": -1},
        {"accuracy": float("nan")},
        {"accuracy": "high"},
        {"accuracy": True},
        {"accuracy": [0.9]},
        {"accuracy": {"score": 0.9}},
        {"accuracy": 10**400},
        {"grounding_score": 0.2},
        {"confidence": 1.2},
        {"confidence": "very"},
        {"answer_quality": "excellent"},
        {"answer_quality": None},
        {"answer_quality": "not adequate"},
        {"answerQuality": "needs_docs"},
        {"답변 품질": "환각"},
        {"again": {"grounding": 0.1}},
    ],
)
def test_what_cannot_be_read_for_sure_is_a_failure_and_never_clamped(change: dict[str, Any]) -> None:
    with pytest.raises(JudgeFailed):
        read_judgement({**GOOD, **change})
    for name in ("grounding", "completeness", "accuracy"):
        with pytest.raises(JudgeFailed):
            read_judgement({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize(
    ("scores", "confidence", "label"),
    [
        ((0.9, 0.8, 1.0), 0.9, AnswerQuality.ADEQUATE),
        ((0.9, 0.8, 1.0), None, AnswerQuality.NEEDS_DOCS),
        ((0.9, 0.6, 1.0), 0.9, AnswerQuality.NEEDS_DOCS),
        ((0.3, 0.9, 0.9), 0.9, AnswerQuality.NEEDS_DOCS),
        ((0.2, 0.9, 0.9), 0.9, AnswerQuality.HALLUCINATION),
        ((0.9, 0.9, 0.1), 0.9, AnswerQuality.HALLUCINATION),
    ],
)
def test_without_a_label_the_scores_allow_only_the_worse(
    scores: tuple[float, float, float], confidence: float | None, label: AnswerQuality
) -> None:
    data = dict(zip(("grounding", "completeness", "accuracy"), scores, strict=True))
    evaluation = evaluated(data | ({} if confidence is None else {"confidence": confidence}))
    assert evaluation.answer_quality is label
    assert evaluation.confidence <= 0.5 or confidence is not None


def test_a_label_better_than_its_scores_does_not_count() -> None:
    evaluation = evaluated({**GOOD, "grounding": 0.3, "completeness": 0.4})
    assert evaluation.overall == 0.48
    assert evaluation.answer_quality is AnswerQuality.NEEDS_DOCS
    assert evaluation.needs_retrieval


@pytest.mark.parametrize(
    ("flag", "quality", "needed"),
    [
        (True, "adequate", True),
        ("예", "adequate", True),
        ("perhaps", "adequate", True),
        (False, "adequate", False),
        ("false", "off_topic", True),
    ],
)
def test_the_flag_may_only_add_retrieval(flag: object, quality: str, needed: bool) -> None:
    evaluation = evaluated({**GOOD, "needs_retrieval": flag, "answer_quality": quality})
    assert evaluation.needs_retrieval is needed


# Claims


def said(text: str, status: object = "supported", passages: object = (1,)) -> dict[str, Any]:
    return {"text": text, "status": status, "passages": list(passages) if isinstance(passages, tuple) else passages}


def test_claims_are_the_answers_sentences() -> None:
    evaluation = evaluated(
        {
            **GOOD,
            "claims": [
                said("descale the kettle, every 3 months with citric acid [1]"),
                said(LOOSE, "unsupported", ()),
                said("It is blue."),
                said("The K7", "unsupported"),
                "garbage",
                {"status": "supported"},
            ],
        },
        VERBATIM,
        LOOSE,
        "The K7 holds 2 litres.",
        shown=["p1", "p2"],
    )
    assert [(c.text, c.status, c.passage_ids) for c in evaluation.claims] == [
        (VERBATIM, ClaimStatus.SUPPORTED, ("p1",)),
        (LOOSE, ClaimStatus.UNSUPPORTED, ()),
        ("The K7 holds 2 litres.", ClaimStatus.UNKNOWN, ()),
    ]
    assert evaluation.grounding == 0.5


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ([said(LOOSE)], ClaimStatus.SUPPORTED),
        ([said(LOOSE, passages=["1"])], ClaimStatus.SUPPORTED),
        ([said(LOOSE, passages=(3,))], ClaimStatus.UNKNOWN),
        ([said(LOOSE, passages=(0, -1))], ClaimStatus.UNKNOWN),
        ([said(LOOSE, passages=[10**5000, None, {}, 1.0])], ClaimStatus.UNKNOWN),
        ([said(LOOSE, passages=None)], ClaimStatus.UNKNOWN),
        ([said(LOOSE, "verified")], ClaimStatus.UNKNOWN),
        ([said(LOOSE, True)], ClaimStatus.UNKNOWN),
        ([said(LOOSE, "뒷받침되지 않음")], ClaimStatus.UNSUPPORTED),
        ([said(LOOSE), said(LOOSE, "unsupported")], ClaimStatus.UNSUPPORTED),
    ],
)
def test_a_claim_is_supported_only_by_a_passage_that_was_shown(claims: list[Any], status: ClaimStatus) -> None:
    evaluation = evaluated({**GOOD, "claims": claims}, LOOSE, shown=["p1", "p2"])
    assert evaluation.claims[0].status is status
    assert bool(evaluation.claims[0].passage_ids) is (status is ClaimStatus.SUPPORTED)


def test_what_the_evidence_contradicts_is_not_verified_by_a_gullible_judge() -> None:
    wrong = "Descale the kettle every 5 months with citric acid."
    reply = {**GOOD, "grounding": 1.0, "claims": [said(wrong)]}
    evaluation = judge(request(draft(wrong, cites=KETTLE), KETTLE), reply, judging="always").evaluation
    assert evaluation.claims[0].status is ClaimStatus.UNKNOWN
    assert evaluation.answer_quality is AnswerQuality.NEEDS_DOCS
    assert evaluation.grounding <= 0.5
    assert evaluation.confidence <= 0.5


def test_a_claim_the_model_passes_over_keeps_the_local_status() -> None:
    answer = draft(VERBATIM, LOOSE, cites=KETTLE)
    evaluation = judge(request(answer, KETTLE), {**GOOD, "claims": [said(LOOSE)]}).evaluation
    assert [c.status for c in evaluation.claims] == [ClaimStatus.SUPPORTED, ClaimStatus.SUPPORTED]
    assert evaluation.claims[1].passage_ids == (KETTLE.id,)


# When the model is asked


def test_a_sure_local_judge_spares_the_call() -> None:
    answer = draft(VERBATIM, cites=KETTLE)
    judged = judge(request(answer, KETTLE))
    assert judged.evaluation.answer_quality is AnswerQuality.ADEQUATE
    assert judged.evaluation.source is EvaluationSource.LOCAL
    assert not judged.chat.requests
    assert judge(request(answer, KETTLE), GOOD, judging="always").evaluation.source is EvaluationSource.LLM


@pytest.mark.parametrize(
    "answer",
    [
        draft(LOOSE, cites=KETTLE),
        draft(VERBATIM, LOOSE, cites=KETTLE),
        draft("Descale the kettle every 5 months with citric acid.", cites=KETTLE),
        draft("The T2 toaster browns four slices of bread in 90 seconds.", cites=TOASTER),
    ],
)
def test_in_doubt_the_model_decides(answer: Draft) -> None:
    judged = judge(request(answer, KETTLE, TOASTER), {**GOOD, "answer_quality": "off_topic"})
    assert judged.evaluation.answer_quality is AnswerQuality.OFF_TOPIC
    assert judged.evaluation.source is EvaluationSource.LLM


@pytest.mark.parametrize("judging", ["cascade", "always"])
@pytest.mark.parametrize(
    ("asked", "quality"),
    [
        (request(draft("Hello there!"), question="Hi!", query_class=QueryClass.CHITCHAT), AnswerQuality.ADEQUATE),
        (request(Draft("I do not know.", refused=True), KETTLE), AnswerQuality.NEEDS_DOCS),
        (request(Draft("  "), KETTLE), AnswerQuality.NEEDS_DOCS),
    ],
)
def test_small_talk_and_refusals_need_no_call(
    judging: JudgingMode, asked: EvaluationRequest, quality: AnswerQuality
) -> None:
    assert judge(asked, judging=judging).evaluation.answer_quality is quality


@pytest.mark.parametrize(
    "answer", ["Descale it every 3 months.", "It depends on the kettle.", "Bananas grow in warm countries."]
)
def test_without_documents_nothing_is_taken_for_adequate(answer: str) -> None:
    """The fast path: retrieval at once is better than a judge who cannot know."""
    judged = judge(request(draft(answer)))
    assert judged.evaluation.answer_quality in (AnswerQuality.NEEDS_DOCS, AnswerQuality.HALLUCINATION)
    assert judged.evaluation.needs_retrieval


def test_without_documents_the_conversation_may_support_an_answer() -> None:
    history = (
        Message("user", "Tell me about the kettle K7."),
        Message("assistant", "The K7 kettle holds 2 litres. Descale the kettle every 3 months with citric acid."),
    )
    judged = judge(request(draft(VERBATIM), history=history))
    assert judged.evaluation.answer_quality is AnswerQuality.ADEQUATE
    assert [(c.status, c.passage_ids) for c in judged.evaluation.claims] == [(ClaimStatus.SUPPORTED, ())]
    wrong = judge(request(draft("Descale the kettle every 5 months with citric acid."), history=history))
    assert wrong.evaluation.answer_quality is not AnswerQuality.ADEQUATE


def test_a_question_supports_nothing() -> None:
    history = (Message("user", "Should one descale the kettle every 3 months with citric acid?"),)
    assert judge(request(draft(VERBATIM), history=history)).evaluation.needs_retrieval


@pytest.mark.parametrize("label", [AnswerQuality.ADEQUATE, AnswerQuality.HALLUCINATION])
def test_a_draft_before_any_search_is_judged_by_the_model(label: AnswerQuality) -> None:
    """Where answers first were asked for; with nothing to hold it against, the local judge turns all of them down."""
    asked = replace(request(draft(LOOSE)), unsearched=True)
    assert judge(asked, {**GOOD, "answer_quality": label.value}).evaluation.answer_quality is label
    assert judge(asked, ModelUnavailable("down")).evaluation.needs_retrieval


@pytest.mark.parametrize(
    ("answer", "label"),
    [("asdf qwer", AnswerQuality.NEEDS_DOCS), ("The kettle should be descaled weekly.", AnswerQuality.ADEQUATE)],
)
def test_the_network_has_a_word_where_the_model_was_asked(answer: str, label: AnswerQuality) -> None:
    chat = ScriptedChat([GOOD, GOOD])
    answering = AnswerReader(ANALYZER, PairViews(load_net()).questions)
    evaluator = QualityEvaluator(chat, LocalEvaluator(ANALYZER), ANALYZER, "cascade", answering)
    judged = asyncio.run(evaluator.evaluate(replace(request(draft(answer)), unsearched=True)))
    assert (judged.answer_quality, judged.source) == (label, EvaluationSource.LLM)
    assert judged.needs_retrieval is (label is AnswerQuality.NEEDS_DOCS)
    assert (judged.completeness < GOOD["completeness"]) is judged.needs_retrieval
    beside = asyncio.run(evaluator.evaluate(request(draft("asdf qwer"), KETTLE)))
    assert (beside.answer_quality, beside.source) == (AnswerQuality.NEEDS_DOCS, EvaluationSource.LLM)


@pytest.mark.parametrize("label", list(AnswerQuality))
def test_always_asks_the_model_about_answers_without_documents(label: AnswerQuality) -> None:
    judged = judge(request(draft(LOOSE)), {**GOOD, "answer_quality": label.value}, judging="always")
    assert judged.evaluation.answer_quality is label
    assert [c.status for c in judged.evaluation.claims] == [ClaimStatus.UNKNOWN]


# When it fails


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRejected("no"), BudgetSpent("spent")])
def test_out_of_reach_the_local_judgement_stands(error: Exception) -> None:
    assert judge(request(draft(LOOSE), KETTLE), error).evaluation.source is EvaluationSource.LOCAL


@pytest.mark.parametrize("reply", [ReplyUnusable("no object"), {}, {**GOOD, "grounding": 8}, "only text"])
def test_a_judge_that_answers_garbage_has_failed(reply: Scripted) -> None:
    with pytest.raises(JudgeFailed):
        judge(request(draft(LOOSE), KETTLE), reply)


# Whatever comes

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.floats()
    | st.sampled_from(["0.8", "8/10", "high", "adequate", "hallucination", "supported", "예", LOOSE, VERBATIM, ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["text", "status", "x"]), inner),
    max_leaves=8,
)
NAMES = [*GOOD, "grounding_score", "answerQuality", "근거성", "overall", "scores", "평가", "result"]
OBJECTS = st.dictionaries(st.sampled_from(NAMES), JUNK, max_size=12)
SHARES = st.floats(0, 1) | st.sampled_from([0, 1, "0.8", "8/10", "95%"])
NEARLY = st.fixed_dictionaries(
    dict.fromkeys(("grounding", "completeness", "accuracy"), SHARES),
    optional={
        "confidence": SHARES,
        "answer_quality": st.sampled_from([*AnswerQuality, "Adequate", "not adequate"]),
        "근거성": SHARES,
        "needs_retrieval": JUNK,
        "missing_info": JUNK,
        "claims": st.lists(
            st.fixed_dictionaries(
                {"text": st.sampled_from([LOOSE, VERBATIM, "x"]), "status": JUNK | st.just("supported")},
                optional={"passages": st.lists(st.integers(-1, 5)) | JUNK},
            )
        ),
    },
)


def read(data: Mapping[str, Any]) -> Judgement | None:
    try:
        return read_judgement(data)
    except JudgeFailed:
        return None


@given(NEARLY | NEARLY | OBJECTS | st.dictionaries(st.text(max_size=12), JUNK))
def test_no_object_gives_an_evaluation_better_than_it_says(data: dict[str, Any]) -> None:
    judgement = read(data)
    if judgement is None:
        return
    local = [Claim(LOOSE, ClaimStatus.UNKNOWN), Claim(VERBATIM, ClaimStatus.UNSUPPORTED)]
    evaluation = evaluation_of(judgement, ["p1"], local, frozenset({VERBATIM}))
    for name in ("grounding", "completeness", "accuracy"):
        if name in data and not isinstance(data[name], dict):
            assert getattr(evaluation, name) <= score(data[name])
    assert evaluation.confidence <= (score(data["confidence"]) if "confidence" in data else 0.5)
    if evaluation.answer_quality is AnswerQuality.ADEQUATE:
        assert evaluation.overall >= 0.5
        if "answer_quality" in data:
            assert str(data["answer_quality"]).lower() == "adequate"
    assert evaluation.needs_retrieval or evaluation.answer_quality is AnswerQuality.ADEQUATE
    stated = [item for item in data.get("claims", ()) if isinstance(item, dict)] if _is_list(data) else []
    assert evaluation.claims[1].status is not ClaimStatus.SUPPORTED
    if evaluation.claims[0].status is ClaimStatus.SUPPORTED:
        assert any(item.get("status") == "supported" for item in stated)


def _is_list(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("claims"), list)
