"""The service's own names (nodes, verdicts, stop reasons, presets) and what it says of steps, in words for readers."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from selfright.entrypoints.ui.words import Language, Words


def _both(english: Words, korean: Words) -> Mapping[Language, Words]:
    return MappingProxyType({"en": english, "ko": korean})


STOPPED = _both(
    {
        "adequate": "The answer holds up.",
        "basic": "This preset makes one pass.",
        "fast_path": "No documents were needed.",
        "max_iterations": "The limit of passes was reached.",
        "duplicate_documents": "The search brought the same documents again.",
        "stagnated": "Another pass hardly made it better.",
        "declined": "Another pass made it worse; the best one is shown.",
        "budget": "The budget of this turn was used up.",
        "deadline": "The time of this turn was used up.",
        "abstained": "Nothing that was found supports an answer.",
        "degraded": "The judge failed, so nobody has verified the answer.",
        "error": "An error ended the turn early.",
    },
    {
        "adequate": "답이 근거와 맞습니다.",
        "basic": "한 번만 검색하는 프리셋입니다.",
        "fast_path": "문서가 필요 없었습니다.",
        "max_iterations": "반복 한도에 이르렀습니다.",
        "duplicate_documents": "같은 문서가 다시 검색되었습니다.",
        "stagnated": "다시 해도 거의 나아지지 않았습니다.",
        "declined": "다시 하니 나빠져서 가장 좋은 답을 보입니다.",
        "budget": "이번 질문의 예산을 다 썼습니다.",
        "deadline": "이번 질문의 시간을 다 썼습니다.",
        "abstained": "찾은 자료가 답을 뒷받침하지 않습니다.",
        "degraded": "평가에 실패하여 검증되지 않은 답입니다.",
        "error": "오류로 일찍 끝났습니다.",
    },
)
VERDICTS = _both(
    {
        "correct": "✓ found it",
        "ambiguous": "◐ found part of it",
        "incorrect": "✗ did not find it",
        "unknown": "? could not be judged",
    },
    {"correct": "✓ 찾음", "ambiguous": "◐ 일부만 찾음", "incorrect": "✗ 찾지 못함", "unknown": "? 판정 실패"},
)
WITHDRAWN = _both(
    {
        "needs_docs": "it needs documents",
        "hallucination": "it says what nothing supports",
        "off_topic": "it answers something else",
        "adequate": "another one may be better",
    },
    {
        "needs_docs": "문서를 찾아봐야 합니다",
        "hallucination": "근거 없는 내용이 있습니다",
        "off_topic": "다른 것에 답했습니다",
        "adequate": "더 나은 답을 찾습니다",
    },
)
NODES = _both(
    {
        "contextualize": "Read the question in its context",
        "extract_slots": "Look for facts about you",
        "store_memory": "Remember them",
        "classify": "Tell what kind of message it is",
        "retrieve": "Search the index",
        "grade": "Judge what was found",
        "refine_knowledge": "Keep what matters",
        "web_search": "Search the web",
        "assemble_context": "Put the evidence together",
        "generate": "Write a draft",
        "evaluate": "Judge the draft",
        "quality_check": "Decide whether to go on",
        "rewrite": "Rewrite the query",
        "repair_claims": "Look for support of single claims",
        "finalize": "Give the best answer",
    },
    {
        "contextualize": "질문의 맥락 읽기",
        "extract_slots": "나에 대한 사실 찾기",
        "store_memory": "기억하기",
        "classify": "어떤 질문인지 판단",
        "retrieve": "색인 검색",
        "grade": "찾은 자료 판정",
        "refine_knowledge": "필요한 부분만 남기기",
        "web_search": "웹 검색",
        "assemble_context": "근거 모으기",
        "generate": "초안 쓰기",
        "evaluate": "초안 평가",
        "quality_check": "계속할지 결정",
        "rewrite": "검색어 고쳐 쓰기",
        "repair_claims": "문장별 근거 찾기",
        "finalize": "가장 좋은 답 내기",
    },
)
PRESETS = _both(
    {
        "llm": "the model alone, no documents",
        "basic": "search, answer, stop",
        "crag": "grade the search, refine, ask the web",
        "self_refine": "judge the answer, rewrite the query",
        "self_correcting": "answer fast, correct by label",
        "full": "all of it",
    },
    {
        "llm": "문서 없이 모델만",
        "basic": "검색하고 답하기",
        "crag": "검색 판정, 정제, 웹 검색",
        "self_refine": "답을 평가하고 검색어 고치기",
        "self_correcting": "먼저 답하고 평가에 따라 고치기",
        "full": "모든 기능",
    },
)


def told(names: Mapping[Language, Words], language: Language, name: str) -> str:
    """What a name means, or the name itself where the page does not know it."""
    return names[language].get(name, name)


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
