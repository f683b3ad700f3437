"""A node's outcome in a line: English for traces and the API, Korean for the command line."""

import pytest

from selfright.cli.render_answer import steps
from selfright.domain.answers import Answer, Cost, Step
from selfright.domain.judgements import AnswerQuality, EvaluationSource, QueryClass, StopReason, Verdict
from selfright.domain.node_outcomes import NOTHING, NodeOutcome
from selfright.domain.routing import RoutingDecision, RoutingReason
from selfright.domain.wordings import format_outcome

NAMED = RoutingDecision(("drugs",), RoutingReason.NAMED_BY_USER)


@pytest.mark.parametrize(
    ("outcome", "english", "korean"),
    [
        (NOTHING, "", ""),
        (NodeOutcome(slots=0), "0 slots", "사실 0개"),
        (NodeOutcome(query_class=QueryClass.QUESTION, fast_path=True), "question, fast path", "질문, 빠른 경로"),
        (NodeOutcome(passages=8), "8 passages", "문단 8개"),
        (NodeOutcome(passages=8, provider="static"), "8 passages from static", "static에서 문단 8개"),
        # Why a router chose is told in English alone.
        (NodeOutcome(passages=2, routing=NAMED), "2 passages from drugs, named by the user", "drugs에서 문단 2개"),
        (
            NodeOutcome(passages=2, routing=RoutingDecision.everywhere(RoutingReason.TOO_LITTLE, "{drugs}")),
            "2 passages, {drugs} brought too little",
            "문단 2개",
        ),
        (
            NodeOutcome(passages=2, routing=RoutingDecision.everywhere("any, {truly}")),
            "2 passages, any, {truly}",
            "문단 2개",
        ),
        (NodeOutcome(verdict=Verdict.INCORRECT, sufficiency=0.1), "incorrect (0.10)", "부족함 (0.10)"),
        (NodeOutcome(verdict=Verdict.UNKNOWN), "unknown", "알 수 없음"),
        (
            NodeOutcome(strips=2, verdict=Verdict.AMBIGUOUS, removed_share=0.0),
            "2 strips, ambiguous, 0% removed",
            "조각 2개, 일부만 찾음, 0% 제외",
        ),
        (NodeOutcome(sentences=3), "3 sentences", "문장 3개"),
        (NodeOutcome(refused=True), "nothing to say", "답할 내용 없음"),
        (NodeOutcome(unjudged=True), "not judged", "평가 안 함"),
        (
            NodeOutcome(overall=0.41, quality=AnswerQuality.NEEDS_DOCS, judge=EvaluationSource.LOCAL),
            "0.41 needs_docs (local)",
            "0.41 문서가 더 필요함 (로컬 평가)",
        ),
        (NodeOutcome(again="rewrite"), "again: rewrite", "다시: 검색어 고치기"),
        (NodeOutcome(stop=StopReason.BUDGET), "stop: budget", "종료: 이번 질문의 예산을 다 씀"),
        (NodeOutcome(ended=StopReason.ADEQUATE), "adequate", "충분한 답"),
        (NodeOutcome(repaired=1), "1 repaired", "문장 1개 보완"),
    ],
)
def test_what_a_node_decided_in_words(outcome: NodeOutcome, english: str, korean: str) -> None:
    assert format_outcome(outcome) == Step("x", 0.0, outcome).said == english
    answer = Answer(
        "?", "!", False, "ko", (), None, None, StopReason.ADEQUATE, "full", False, (), (), (), Cost(), "t",
        (Step("node", 0.0, outcome),),
    )  # fmt: skip
    assert steps(answer).splitlines()[0].partition("node")[2].strip() == korean
