"""What the service says of each step of a turn, in words for readers of Korean."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from selfright.entrypoints.ui.names import STOPPED, VERDICTS
from selfright.entrypoints.ui.words import Language

_KOREAN: Mapping[str, str] = MappingProxyType(
    {
        "question": "질문",
        "summary": "요약 요청",
        "chitchat": "인사나 잡담",
        "unknown": "알 수 없음",
        "fast path": "문서 없이 먼저 답하기",
        "not judged": "평가하지 않음",
        "nothing to say": "할 말을 찾지 못함",
        "adequate": "충분함",
        "needs_docs": "자료가 더 필요함",
        "hallucination": "근거 없는 내용이 있음",
        "off_topic": "다른 것에 답함",
        "there is only one collection": "모음이 하나뿐임",
        "no collection is described": "설명이 있는 모음이 없음",
        "a pass before did not find enough": "앞의 시도에서 충분히 찾지 못함",
        "named by the user": "사용자가 지정함",
    }
)
_WHERE: Mapping[str, str] = MappingProxyType(
    {"rewrite": "검색어를 고쳐 다시", "retrieve": "다시 검색", "classify": "다시 분류"}
)
_PATTERNS = tuple(
    (re.compile(pattern), korean)
    for pattern, korean in (
        (r"(\d+) slots?", r"사실 \1개"),
        (r"(\d+) passages? from (.+)", r"\2에서 문단 \1개"),
        (r"(\d+) passages?", r"문단 \1개"),
        (r"(\d+) strips?", r"조각 \1개"),
        (r"(\d+) sentences?", r"문장 \1개"),
        (r"(\d+) repaired", r"문장 \1개의 근거를 찾음"),
        (r"nothing points clearly to some of them(.*)", r"어느 모음인지 분명하지 않음\1"),
        (r"any of them may hold it(.*)", r"어느 모음에나 있을 수 있음\1"),
        (r"(.+) brought too little", r"\1에서 너무 적게 나옴"),
        (r"the router failed \((\w+)\)", r"모음을 고르지 못함 (\1)"),
    )
)
_SCORED = re.compile(r"(?P<score>\d\.\d\d) (?P<label>\w+) \((?P<source>\w+)\)")
_VERDICT = re.compile(r"(?P<verdict>\w+)(?P<share> \(\d\.\d\d\))?")
_JUDGES: Mapping[str, str] = MappingProxyType(
    {"llm": "언어 모델", "local": "로컬 평가기", "heuristic": "임시 어림 평가"}
)


def in_words(node: str, said: str, language: Language) -> str:
    """One step's line. What is not known here stays as it came: the service may be newer than the page."""
    if language != "ko" or not said:
        return said
    if node == "quality_check":
        return _decided(said)
    if node == "finalize":
        return STOPPED["ko"].get(said, said).rstrip(".")
    if scored := _SCORED.fullmatch(said):
        label, source = scored["label"], scored["source"]
        return f"{scored['score']} {_KOREAN.get(label, label)} ({_JUDGES.get(source, source)})"
    return ", ".join(_part(node, part) for part in said.split(", "))


def _decided(said: str) -> str:
    how, _, what = said.partition(": ")
    if how == "stop":
        return f"그만: {STOPPED['ko'].get(what, what).rstrip('.')}"
    return f"계속: {_WHERE.get(what, what)}" if how == "again" else said


def _part(node: str, said: str) -> str:
    verdict = _VERDICT.fullmatch(said) if node in ("grade", "refine_knowledge") else None
    if verdict and verdict["verdict"] in VERDICTS["ko"]:
        return VERDICTS["ko"][verdict["verdict"]].partition(" ")[2] + (verdict["share"] or "")
    for pattern, korean in _PATTERNS:
        if pattern.fullmatch(said):
            return pattern.sub(korean, said)
    return _KOREAN.get(said, said)
