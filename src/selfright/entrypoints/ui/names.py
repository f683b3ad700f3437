"""The service's own names (nodes, verdicts, stop reasons, presets) in words for readers."""

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
