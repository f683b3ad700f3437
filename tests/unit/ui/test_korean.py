"""No English is left on the Korean page: steps in words, and what Streamlit says by itself."""

import json
import re
from dataclasses import fields
from typing import Any

import pytest
from pydantic import TypeAdapter

from selfright.schemas import NodeOutcome, RoutingDecision, format_outcome
from selfright.ui.words import KOREAN, OUTCOMES, WITH_A_PART, Language, script

LATIN = re.compile(r"[A-Za-z]{2,}")


ONE = {"reason": "only_one"}


def outcome(**facts: Any) -> NodeOutcome:
    """An outcome as it is received; what this version does not know is passed over."""
    known = {each.name for each in fields(NodeOutcome)}
    if "routing" in facts:
        facts["routing"] = TypeAdapter(RoutingDecision).validate_python({"collections": [], **facts["routing"]})
    return NodeOutcome(**{name: value for name, value in facts.items() if name in known})


def in_words(found: NodeOutcome, language: Language) -> str:
    return format_outcome(found, OUTCOMES[language])


@pytest.mark.parametrize(
    ("facts", "korean"),
    [
        ({"slots": 3}, "사실 3개"),
        ({"query_class": "question", "fast_path": True}, "질문, 검색하지 않고 먼저 답함"),
        ({"passages": 8, "routing": ONE}, "문단 8개를 찾음, 컬렉션이 하나뿐임"),
        (
            {"passages": 0, "routing": {"reason": "searched_before"}},
            "문단 0개를 찾음, 이전 시도에서 충분히 찾지 못함",
        ),
        (
            {"passages": 2, "routing": {"reason": "too_little", "about": "drugs"}},
            "문단 2개를 찾음, drugs에서 찾은 내용이 너무 적음",
        ),
        (
            {"passages": 2, "routing": {"reason": "any_may", "about": " (drugs 0.55)"}},
            "문단 2개를 찾음, 어느 컬렉션에나 있을 수 있음 (drugs 0.55)",
        ),
        ({"passages": 4, "provider": "static"}, "static에서 문단 4개"),
        ({"verdict": "incorrect", "sufficiency": 0.1}, "찾지 못함 (0.10)"),
        ({"strips": 2, "verdict": "ambiguous"}, "조각 2개를 남김, 일부만 찾음"),
        ({"refused": True}, "답할 내용을 찾지 못함"),
        ({"sentences": 3}, "문장 3개"),
        ({"unjudged": True}, "평가하지 않음"),
        ({"overall": 0.41, "quality": "needs_docs", "judge": "local"}, "0.41 자료가 더 필요함 (로컬 평가기)"),
        ({"again": "rewrite"}, "계속: 검색어를 고쳐 다시"),
        ({"stop": "stagnated"}, "종료: 다시 시도해도 거의 나아지지 않았습니다"),
        ({"ended": "adequate"}, "답이 근거와 맞습니다"),
        ({"repaired": 1}, "문장 1개의 근거를 찾음"),
    ],
)
def test_steps_are_told_in_the_readers_language(facts: dict[str, object], korean: str) -> None:
    assert in_words(outcome(**facts), "ko") == korean
    assert "_" not in in_words(outcome(**facts), "en")


@pytest.mark.parametrize(
    ("facts", "plain"),
    [
        ({"slots": 0}, "0 facts"),
        ({"slots": 1}, "1 fact"),
        ({"query_class": "question", "fast_path": True}, "a question, answered before searching"),
        ({"passages": 12, "routing": ONE}, "found 12 passages, there is only one collection"),
        ({"strips": 2, "verdict": "ambiguous", "removed_share": 0.3}, "kept 2 pieces, found part of it, left out 30%"),
        ({"overall": 0.41, "quality": "needs_docs", "judge": "local"}, "0.41 it needs more documents (local judge)"),
        ({"again": "rewrite"}, "Once more, with another query"),
        ({"stop": "stagnated"}, "Done: Another pass hardly made it better"),
    ],
)
def test_steps_are_told_in_plain_english(facts: dict[str, object], plain: str) -> None:
    assert in_words(outcome(**facts), "en") == plain


def test_what_is_not_known_stays_as_it_came() -> None:
    assert in_words(outcome(stop="bored"), "ko") == "종료: bored"
    by_slots = outcome(passages=2, routing={"collections": ["drugs", "news"], "reason": "by {slots}"})
    assert in_words(by_slots, "ko") == "drugs, news에서 문단 2개, by {slots}"
    assert in_words(outcome(), "ko") == ""


def test_of_many_collections_the_first_are_named() -> None:
    many = outcome(passages=2, routing={"collections": list("abcdefg"), "reason": "named_by_user"})
    assert in_words(many, "ko") == "a, b, c, d, e 외 2개에서 문단 2개, 사용자가 지정함"
    assert in_words(many, "en") == "2 passages from a, b, c, d, e and 2 more, named by the user"


def test_streamlits_words_go_both_ways() -> None:
    words = {
        language: json.loads(script(language).split("Object.assign(at, ")[1].split(");\n")[0])
        for language in ("ko", "en")
    }
    assert words["ko"]["whole"]["Upload"] == "파일 선택"
    assert words["en"]["whole"]["본문으로 건너뛰기"] == "Skip to main content"
    assert words["ko"]["around"][0] == ["", " per file", "파일당 최대 ", ""]
    assert words["en"]["around"][0] == ["파일당 최대 ", "", "", " per file"]
    assert not [
        said
        for said in (*KOREAN.values(), *WITH_A_PART.values())
        if LATIN.search(said.replace("Enter", "").replace("Ctrl", ""))
    ]
    assert not set(KOREAN) & set(KOREAN.values())  # else it would exchange them for ever


def test_the_script_cannot_be_left() -> None:
    assert script("ko").count("</script>") == script("ko").count("<script>") == 1
