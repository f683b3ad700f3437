"""What the service says of each step of a turn, in plain words: no names of nodes, labels or presets."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from selfright.entrypoints.ui.names import STOPPED, VERDICTS
from selfright.entrypoints.ui.words import Language

_SAID: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "question": "a question",
            "summary": "a summary is wanted",
            "chitchat": "a greeting or small talk",
            "unknown": "not clear",
            "fast path": "answered before searching",
            "nothing to say": "nothing to say was found",
            "adequate": "it holds up",
            "needs_docs": "it needs more documents",
            "hallucination": "nothing supports parts of it",
            "off_topic": "it answers something else",
        },
        "ko": {
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
            "there is only one collection": "컬렉션이 하나뿐임",
            "no collection is described": "설명이 있는 컬렉션이 없음",
            "a pass before did not find enough": "앞의 시도에서 충분히 찾지 못함",
            "named by the user": "사용자가 지정함",
        },
    }
)
_WHERE: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {"rewrite": "with another query", "retrieve": "searching again", "classify": "reading it anew"},
        "ko": {"rewrite": "검색어를 고쳐 다시", "retrieve": "다시 검색", "classify": "다시 분류"},
    }
)
_GOES_ON: Mapping[Language, tuple[str, str]] = MappingProxyType(
    {"en": ("Done: {}", "Once more, {}"), "ko": ("그만: {}", "계속: {}")}
)
# As it is said; in English, where that is to be plainer; in Korean.
_PATTERNS = tuple(
    (re.compile(pattern), {"en": english, "ko": korean})
    for pattern, english, korean in (
        (r"1 slots?", "1 fact", "사실 1개"),
        (r"(\d+) slots?", r"\1 facts", r"사실 \1개"),
        (r"(\d+) passages? from (.+)", r"\1 passages from \2", r"\2에서 문단 \1개"),
        (r"(\d+) passages?", r"found \1 passages", r"문단 \1개를 찾음"),
        (r"(\d+) strips?", r"kept \1 pieces", r"조각 \1개를 남김"),
        (r"(\d+)% removed", r"left out \1%", r"\1%를 덜어 냄"),
        (r"(\d+) sentences?", r"\1 sentences", r"문장 \1개"),
        (r"(\d+) repaired", r"found support for \1 sentences", r"문장 \1개의 근거를 찾음"),
        (r"nothing points clearly to some of them(.*)", r"\g<0>", r"어느 컬렉션인지 분명하지 않음\1"),
        (r"any of them may hold it(.*)", r"\g<0>", r"어느 컬렉션에나 있을 수 있음\1"),
        (r"(.+) brought too little", r"\g<0>", r"\1에서 너무 적게 나옴"),
        (r"the router failed \((\w+)\)", r"\g<0>", r"컬렉션을 고르지 못함 (\1)"),
    )
)
_SCORED = re.compile(r"(?P<score>\d\.\d\d) (?P<label>\w+) \((?P<source>\w+)\)")
_VERDICT = re.compile(r"(?P<verdict>\w+)(?P<share> \(\d\.\d\d\))?")
_JUDGES: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {"llm": "language model", "local": "local judge", "heuristic": "heuristic"},
        "ko": {"llm": "언어 모델", "local": "로컬 평가기", "heuristic": "휴리스틱 평가"},
    }
)


def in_words(node: str, said: str, language: Language) -> str:
    """One step's line. What is not known here stays as it came: the service may be newer than the page."""
    if not said:
        return said
    if node == "quality_check":
        return _decided(said, language)
    if node == "finalize":
        return STOPPED[language].get(said, said).rstrip(".")
    if scored := _SCORED.fullmatch(said):
        label, source = scored["label"], scored["source"]
        judge = _JUDGES[language].get(source, source)
        return f"{scored['score']} {_SAID[language].get(label, label)} ({judge})"
    return ", ".join(_part(node, part, language) for part in said.split(", "))


def _decided(said: str, language: Language) -> str:
    how, _, what = said.partition(": ")
    stops, goes_on = _GOES_ON[language]
    if how == "stop":
        return stops.format(STOPPED[language].get(what, what).rstrip("."))
    return goes_on.format(_WHERE[language].get(what, what)) if how == "again" else said


def _part(node: str, said: str, language: Language) -> str:
    verdict = _VERDICT.fullmatch(said) if node in ("grade", "refine_knowledge") else None
    if verdict and verdict["verdict"] in VERDICTS[language]:
        return VERDICTS[language][verdict["verdict"]].partition(" ")[2] + (verdict["share"] or "")
    for pattern, plain in _PATTERNS:
        if pattern.fullmatch(said):
            return pattern.sub(plain[language], said)
    return _SAID[language].get(said, said)
