"""No English is left on the Korean page: steps in words, and what Streamlit says by itself."""

import json
import re

import pytest

from selfright.entrypoints.ui.built_in import KOREAN, WITH_A_PART, script
from selfright.entrypoints.ui.names import in_words

LATIN = re.compile(r"[A-Za-z]{2,}")


@pytest.mark.parametrize(
    ("node", "said", "korean"),
    [
        ("extract_slots", "3 slots", "사실 3개"),
        ("classify", "question, fast path", "질문, 문서 없이 먼저 답하기"),
        ("retrieve", "8 passages, there is only one collection", "문단 8개를 찾음, 컬렉션이 하나뿐임"),
        (
            "retrieve",
            "0 passages, a pass before did not find enough",
            "문단 0개를 찾음, 앞의 시도에서 충분히 찾지 못함",
        ),
        ("grade", "incorrect (0.10)", "찾지 못함 (0.10)"),
        ("refine_knowledge", "2 strips, ambiguous", "조각 2개를 남김, 일부만 찾음"),
        ("generate", "nothing to say", "할 말을 찾지 못함"),
        ("generate", "3 sentences", "문장 3개"),
        ("evaluate", "0.41 needs_docs (local)", "0.41 자료가 더 필요함 (로컬 평가기)"),
        ("quality_check", "again: rewrite", "계속: 검색어를 고쳐 다시"),
        ("quality_check", "stop: stagnated", "그만: 다시 해도 거의 나아지지 않았습니다"),
        ("finalize", "adequate", "답이 근거와 맞습니다"),
        ("repair_claims", "1 repaired", "문장 1개의 근거를 찾음"),
    ],
)
def test_steps_are_told_in_the_readers_language(node: str, said: str, korean: str) -> None:
    assert in_words(node, said, "ko") == korean
    assert "_" not in in_words(node, said, "en")


@pytest.mark.parametrize(
    ("node", "said", "plain"),
    [
        ("extract_slots", "0 slots", "0 facts"),
        ("classify", "question, fast path", "a question, answered before searching"),
        ("retrieve", "12 passages, there is only one collection", "found 12 passages, there is only one collection"),
        ("refine_knowledge", "2 strips, ambiguous", "kept 2 pieces, found part of it"),
        ("evaluate", "0.41 needs_docs (local)", "0.41 it needs more documents (local judge)"),
        ("quality_check", "again: rewrite", "Once more, with another query"),
        ("quality_check", "stop: stagnated", "Done: Another pass hardly made it better"),
    ],
)
def test_steps_are_told_in_plain_english(node: str, said: str, plain: str) -> None:
    assert in_words(node, said, "en") == plain


def test_what_is_not_known_stays_as_it_came() -> None:
    assert in_words("new_node", "7 wonders, all told", "ko") == "7 wonders, all told"
    assert in_words("retrieve", "2 passages from drugs, by slots", "ko") == "drugs에서 문단 2개, by slots"
    assert in_words("retrieve", "", "ko") == ""


def test_streamlits_words_go_both_ways() -> None:
    words = {
        language: json.loads(script(language).split("Object.assign(at, ")[1].split(");\n")[0])
        for language in ("ko", "en")
    }
    assert words["ko"]["whole"]["Upload"] == "파일 고르기"
    assert words["en"]["whole"]["본문으로 건너뛰기"] == "Skip to main content"
    assert words["ko"]["around"][0] == ["", " per file", "파일마다 ", "까지"]
    assert words["en"]["around"][0] == ["파일마다 ", "까지", "", " per file"]
    assert not [
        said
        for said in (*KOREAN.values(), *WITH_A_PART.values())
        if LATIN.search(said.replace("Enter", "").replace("Ctrl", ""))
    ]
    assert not set(KOREAN) & set(KOREAN.values())  # else it would exchange them for ever


def test_the_script_cannot_be_left() -> None:
    assert script("ko").count("</script>") == script("ko").count("<script>") == 1
