"""The service's own names (nodes, verdicts, stop reasons, presets) and what it says of steps, in words for readers."""

from collections.abc import Mapping
from types import MappingProxyType

from selfright.entrypoints.client import NodeOutcome, Routing
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
_FOUND = _both(
    {
        "correct": "found it",
        "ambiguous": "found part of it",
        "incorrect": "did not find it",
        "unknown": "could not be judged",
    },
    {"correct": "찾음", "ambiguous": "일부만 찾음", "incorrect": "찾지 못함", "unknown": "판정 실패"},
)
_SIGNS = {"correct": "✓", "ambiguous": "◐", "incorrect": "✗", "unknown": "?"}
VERDICTS: Mapping[Language, Words] = MappingProxyType(
    {language: {name: f"{_SIGNS[name]} {said}" for name, said in words.items()} for language, words in _FOUND.items()}
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


_CLAUSES = _both(
    {
        "slot": "{slots} fact",
        "slots": "{slots} facts",
        "query_class": "{query_class}",
        "fast_path": "answered before searching",
        "strips": "kept {strips} pieces",
        "verdict": "{verdict}{sufficiency}",
        "removed_share": "left out {removed_share:.0%}",
        "passages": "found {passages} passages",
        "passages_from": "{passages} passages from {sources}",
        "routing": "{routing}",
        "sentences": "{sentences} sentences",
        "refused": "nothing to say was found",
        "unjudged": "not judged",
        "overall": "{overall:.2f} {quality} ({judge})",
        "stop": "Done: {stop}",
        "again": "Once more, {again}",
        "ended": "{ended}",
        "repaired": "found support for {repaired} sentences",
    },
    {
        "slot": "사실 {slots}개",
        "slots": "사실 {slots}개",
        "query_class": "{query_class}",
        "fast_path": "문서 없이 먼저 답하기",
        "strips": "조각 {strips}개를 남김",
        "verdict": "{verdict}{sufficiency}",
        "removed_share": "{removed_share:.0%}를 덜어 냄",
        "passages": "문단 {passages}개를 찾음",
        "passages_from": "{sources}에서 문단 {passages}개",
        "routing": "{routing}",
        "sentences": "문장 {sentences}개",
        "refused": "할 말을 찾지 못함",
        "unjudged": "평가하지 않음",
        "overall": "{overall:.2f} {quality} ({judge})",
        "stop": "그만: {stop}",
        "again": "계속: {again}",
        "ended": "{ended}",
        "repaired": "문장 {repaired}개의 근거를 찾음",
    },
)
_CLASSES = _both(
    {
        "question": "a question",
        "summary": "a summary is wanted",
        "chitchat": "a greeting or small talk",
        "unknown": "not clear",
    },
    {"question": "질문", "summary": "요약 요청", "chitchat": "인사나 잡담", "unknown": "알 수 없음"},
)
_QUALITIES = _both(
    {
        "adequate": "it holds up",
        "needs_docs": "it needs more documents",
        "hallucination": "nothing supports parts of it",
        "off_topic": "it answers something else",
    },
    {
        "adequate": "충분함",
        "needs_docs": "자료가 더 필요함",
        "hallucination": "근거 없는 내용이 있음",
        "off_topic": "다른 것에 답함",
    },
)
_JUDGES = _both(
    {"llm": "language model", "local": "local judge", "heuristic": "heuristic"},
    {"llm": "언어 모델", "local": "로컬 평가기", "heuristic": "휴리스틱 평가"},
)
_WHERE = _both(
    {"rewrite": "with another query", "retrieve": "searching again", "classify": "reading it anew"},
    {"rewrite": "검색어를 고쳐 다시", "retrieve": "다시 검색", "classify": "다시 분류"},
)
_REASONS = _both(
    {
        "named_by_user": "named by the user",
        "searched_before": "a pass before did not find enough",
        "too_little": "{about} brought too little",
        "router_failed": "the router failed ({about})",
        "only_one": "there is only one collection",
        "undescribed": "no collection is described",
        "unclear": "nothing points clearly to some of them{about}",
        "any_may": "any of them may hold it{about}",
    },
    {
        "named_by_user": "사용자가 지정함",
        "searched_before": "앞의 시도에서 충분히 찾지 못함",
        "too_little": "{about}에서 너무 적게 나옴",
        "router_failed": "컬렉션을 고르지 못함 ({about})",
        "only_one": "컬렉션이 하나뿐임",
        "undescribed": "설명이 있는 컬렉션이 없음",
        "unclear": "어느 컬렉션인지 분명하지 않음{about}",
        "any_may": "어느 컬렉션에나 있을 수 있음{about}",
    },
)
_CODES = {
    "query_class": _CLASSES,
    "verdict": _FOUND,
    "quality": _QUALITIES,
    "judge": _JUDGES,
    "stop": STOPPED,
    "again": _WHERE,
    "ended": STOPPED,
}
_MOST_SOURCES = 5
_MORE: Mapping[Language, str] = MappingProxyType({"en": " and {} more", "ko": " 외 {}개"})


def in_words(outcome: NodeOutcome | None, said: str, language: Language) -> str:
    """One step's line; ``said``, as it came, where the facts are not known: the service may be older, or newer."""
    if outcome is None:
        return said
    held = {name: value for name, value in outcome if value is not None and value is not False}
    facts = held | {name: told(_CODES[name], language, held[name]).rstrip(".") for name in _CODES if name in held}
    facts["sufficiency"] = "" if outcome.sufficiency is None else f" ({outcome.sufficiency:.2f})"
    facts["sources"] = outcome.provider or _sources(outcome.routing, language)
    facts["routing"] = _reason(outcome.routing, language)
    forms = {"passages": "passages_from"} if facts["sources"] else {}
    forms |= {"slots": "slot"} if outcome.slots == 1 else {}
    clauses = _CLAUSES[language]
    names = (forms.get(name, name) for name in held)
    return ", ".join(clauses[name].format(**facts) for name in names if name in clauses) or said


def _sources(routing: Routing | None, language: Language) -> str:
    if routing is None:
        return ""
    more = len(routing.collections) - _MOST_SOURCES
    return ", ".join(routing.collections[:_MOST_SOURCES]) + (_MORE[language].format(more) if more > 0 else "")


def _reason(routing: Routing | None, language: Language) -> str:
    """Why these collections; a router of the service's own says it in words, which may hold braces."""
    if routing is None:
        return ""
    template = _REASONS[language].get(routing.reason)
    return template.format(about=routing.about) if template else routing.reason
