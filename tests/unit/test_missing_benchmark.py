"""The benchmark of what answers miss: how a case is scored, and what its data promise."""

import re
from collections import Counter

import pytest

from benchmarks.missing import KINDS, LANGUAGES, is_kept, lacking, language, read, score, table
from selfright.domain.answers import Answer
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource
from selfright.domain.text import has_hangul
from tests.support.traces import answer as answer_with

QUESTION = "What is a pass, and may I give it away?"
HALF = {"id": "half-en-01", "kind": "half", "question": QUESTION, "missing": "give", "says": [r"\$5"]}
ATTRIBUTE = {"id": "attribute-en-01", "kind": "attribute", "question": QUESTION}
WHOLE = {"id": "whole-en-01", "kind": "whole", "question": QUESTION, "says": ["five dollars", "nobody"]}


def answer(text: str, quality: str | None = "adequate", *missing: str, **fields: object) -> Answer:
    judged = quality and Evaluation(
        0.9, 0.9, 0.9, AnswerQuality(quality), 0.9, EvaluationSource.LOCAL, missing_info=missing
    )
    return answer_with(**{"answer": text, "question": QUESTION, "evaluation": judged or None, "notes": (), **fields})


@pytest.mark.parametrize(
    ("case", "given", "status", "says", "named", "right"),
    [
        (HALF, answer("It is $5.", "needs_docs", "may I give it away"), "needs_docs", True, True, True),
        (HALF, answer("It is $5.", "adequate", "may I give it away"), "adequate", True, True, False),
        (HALF, answer("It is $5.", "needs_docs", QUESTION), "needs_docs", True, False, False),
        (HALF, answer("It is $5.", "needs_docs", "what a pass is"), "needs_docs", True, False, False),
        (HALF, answer("$5.", "off_topic", notes=("not covered: giving away",)), "other", True, False, False),
        (HALF, answer("No $5. Missing: give away.", None, abstained=True), "refused", False, True, True),
        (ATTRIBUTE, answer("A pass is $5."), "adequate", True, False, False),
        (ATTRIBUTE, answer("A pass is $5.", "needs_docs"), "needs_docs", True, False, True),
        (ATTRIBUTE, answer("A pass is $5.", "hallucination"), "other", True, False, False),
        (ATTRIBUTE, answer("Not found.", abstained=True), "refused", False, False, True),
        (WHOLE, answer("Five dollars; nobody else."), "adequate", True, False, True),
        (WHOLE, answer("Five dollars."), "adequate", False, False, False),
        (WHOLE, answer("Five dollars; nobody else.", "needs_docs"), "needs_docs", True, False, False),
        (WHOLE, answer("Five dollars; nobody else.", abstained=True), "refused", False, False, False),
    ],
)
def test_a_case_is_scored(
    case: dict[str, object], given: Answer, status: str, says: bool, named: bool, right: bool
) -> None:
    outcome = score(case, given)
    assert (outcome.status, outcome.says, outcome.named, outcome.right) == (status, says, named, right)


def test_what_is_missing_is_read_from_the_judge_and_the_remarks_but_not_from_the_sources() -> None:
    text = "문서에서 답의 근거를 찾지 못했습니다. 찾지 못한 내용: 양도. 가장 가까운 자료: 반납 안내."
    found = lacking(answer(text, "needs_docs", "price", uncovered=("colour",), notes=("다루지 못한 내용: 크기",)))
    assert found == ["price", "colour", "양도", "크기"]


def test_the_table_has_a_line_for_each_kind_and_language() -> None:
    scored = [(HALF, score(HALF, answer("It is $5.", "needs_docs", "give away"))), (WHOLE, score(WHOLE, answer("")))]
    head, *lines = (line.split() for line in table(scored))
    rows = {(line[0], line[1]): dict(zip(head[2:], line[2:], strict=True)) for line in lines}
    assert set(rows) == {(kind, name) for kind in KINDS for name in (*LANGUAGES, "both")}
    assert rows["half", "both"] == rows["half", "en"]
    assert [rows["half", "en"][column] for column in ("n", "right", "adequate", "named")] == ["1", "1", "0", "1"]
    assert rows["attribute", "en"]["says"] == "–"
    assert [rows["whole", "en"][column] for column in ("n", "right", "adequate")] == ["1", "0", "1"]


def test_the_data_keep_their_promises() -> None:
    cases, documents = read("cases"), {row["id"]: row["text"] for row in read("documents")}
    assert len({case["id"] for case in cases}) == len(cases)
    counts = Counter((case["kind"], language(case), is_kept(case)) for case in cases)
    assert counts == {(kind, name, kept): 15 for kind in KINDS for name in LANGUAGES for kept in (False, True)}
    assert sum(len(case.get("says", ())) == 2 for case in cases if case["kind"] == "whole") == 20
    assert all(80 <= len(text.split()) <= 250 for text in documents.values())
    for case in cases:
        text = documents[case["document"]]
        assert has_hangul(case["question"]) == (language(case) == "ko")
        assert all(re.search(pattern, text, re.IGNORECASE) for pattern in case.get("says", ())), case["id"]
        assert ("missing" in case) == (case["kind"] == "half")
    kept, tuned = ({case["document"] for case in cases if is_kept(case) is side} for side in (True, False))
    assert not kept & tuned
