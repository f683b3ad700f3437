"""What a judgement says of an answer in words: why it is as it is, and what to do about it."""

from collections.abc import Sequence

from selfright.domain.passages import Language

_REASONS: dict[Language, dict[str, str]] = {
    "en": {
        "smalltalk": "Small talk needs no evidence.",
        "refused": "No answer was given, because the evidence contains none.",
        "no_evidence": "Nothing was retrieved to check the answer against.",
        "contradiction": "The answer contradicts the evidence: {what}",
        "unsupported": "The evidence does not support: {what}",
        "incomplete": "The answer leaves open: {what}",
        "off_topic": "The answer does not address the question.",
        "unheeded": "The answer ignores what the profile says: {what}",
        "adequate": "Each sentence is supported by the evidence, and the question is answered.",
    },
    "ko": {
        "smalltalk": "일상적인 대화라 근거가 필요하지 않습니다.",
        "refused": "찾은 자료에 답이 없어 답하지 않았습니다.",
        "no_evidence": "답변을 대조할 검색 결과가 없습니다.",
        "contradiction": "답변이 근거와 어긋납니다: {what}",
        "unsupported": "근거가 없는 내용이 있습니다: {what}",
        "incomplete": "답변에 다음 내용이 빠져 있습니다: {what}",
        "off_topic": "답변이 질문과 다른 내용입니다.",
        "unheeded": "프로필에 있는 다음 내용을 답변이 다루지 않습니다: {what}",
        "adequate": "모든 문장에 근거가 있고 질문에 답합니다.",
    },
}
_SUGGESTIONS: dict[Language, dict[str, str]] = {
    "en": {
        "address": "Address what was asked: {what}",
        "correct": "Correct what contradicts the evidence: {what}",
        "support": "Find evidence for, or leave out: {what}",
        "heed": "Say what applies to this user: {what}",
    },
    "ko": {
        "address": "다루지 않은 질문 내용 보완: {what}",
        "correct": "근거와 다른 내용 바로잡기: {what}",
        "support": "근거를 찾거나 삭제: {what}",
        "heed": "이 사용자에게 해당하는 내용 반영: {what}",
    },
}
_LONGEST = 160


def reason(language: Language, kind: str, what: Sequence[str] = ()) -> str:
    """One sentence on why the judgement is as it is; ``kind`` is a label or a finding."""
    text = _REASONS[language].get(kind, _REASONS[language]["incomplete"])
    return text.format(what=_join_items(what))


def suggestion(language: Language, kind: str, what: Sequence[str]) -> str:
    """One thing to do about the answer: ``address``, ``correct``, ``support`` or ``heed``."""
    return _SUGGESTIONS[language][kind].format(what=_join_items(what))


def _join_items(what: Sequence[str]) -> str:
    text = ", ".join(what)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
