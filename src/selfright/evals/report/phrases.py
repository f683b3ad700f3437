"""The words of the report in one language: its sentences, and what metrics mean and verdicts and outcomes are called.

Names of systems and metrics stand where they need no particle.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from selfright.domain.passages import Language
from selfright.evals.report.labels import LABELS
from selfright.evals.report.markup import cut
from selfright.evals.report.sentences import SENTENCES

MEANINGS: Mapping[str, tuple[str, str]] = {
    "right": (
        "a gold answer stands in the answer; unanswerable: refused",
        "정답이 답변에 있음. 답할 수 없는 질문은 거절함",
    ),
    "answered": ("did not refuse", "거절하지 않음"),
    "containment": ("a gold answer stands in the answer", "정답이 답변에 들어 있음"),
    "f1": ("overlap of words with the nearest gold answer", "가장 가까운 정답과 겹치는 단어"),
    "exact_match": ("the answer is a gold answer", "답변이 정답과 같음"),
    "quality": (
        "0.4 grounding + 0.4 completeness + 0.2 accuracy, by the study's judge",
        "근거 0.4 + 완전성 0.4 + 정확성 0.2, 공통 심판",
    ),
    "grounding": (
        "how far the answer rests on its passages, by the study's judge",
        "답변이 단락에 근거한 정도, 공통 심판",
    ),
    "own_quality": ("the same by the loop's own judge", "자체 심판의 점수"),
    "second_pass_quality": ("own score after the second pass", "두 번째 반복 뒤 자체 점수"),
    "retrieval_precision": (
        "share of the last pass's documents that is relevant",
        "마지막 검색 문서 중 관련 문서 비율",
    ),
    "retrieval_recall": ("share of the relevant documents in the last pass", "관련 문서 중 마지막 검색이 찾은 비율"),
    "second_pass_precision": ("the same of the second pass", "두 번째 검색의 정밀도"),
    "second_pass_recall": ("the same of the second pass", "두 번째 검색의 재현율"),
    "targeted_retrieval_rate": (
        "share of missing items that the next retrieval holds",
        "빠진 정보 중 다음 검색이 담은 비율",
    ),
    "targeted_retrieval_new": ("the same, without what was there before", "그중 이전에 없던 것만"),
    "citation_precision": ("share of the cited documents that is relevant", "인용 문서 중 관련 문서 비율"),
    "iterations": ("passes of the loop", "반복 횟수"),
    "llm_calls": ("model calls, the study's judge left out", "모델 호출 수(공통 심판 제외)"),
    "tokens": ("tokens in and out", "입출력 토큰"),
    "seconds": ("wall time of the turn", "질문당 실제 시간"),
    "infinite_loop_rate": ("made more passes than allowed", "허용보다 많이 반복한 비율"),
    "cut_short": ("wanted to go on when a limit stopped it", "한도 때문에 멈춘 비율"),
    "retrieval_avoided": ("answered without a search", "검색 없이 답한 비율"),
}

WORDS: Mapping[str, tuple[str, str]] = {
    "correct": ("correct", "정확"),
    "ambiguous": ("ambiguous", "모호"),
    "incorrect": ("incorrect", "부정확"),
    "unknown": ("unknown", "알 수 없음"),
    "none": ("not graded", "채점 안 함"),
    "right": ("right", "맞음"),
    "wrong": ("wrong", "틀림"),
    "rightly refused": ("rightly refused", "올바른 거절"),
    "wrongly refused": ("wrongly refused", "잘못된 거절"),
    "refused": ("refused", "거절"),
    "answered": ("answered", "답변함"),
    "adequate": ("adequate", "충분"),
    "basic": ("no loop", "반복 없음"),
    "fast_path": ("fast path", "빠른 경로"),
    "max_iterations": ("most passes", "최대 반복"),
    "duplicate_documents": ("same documents", "같은 문서"),
    "stagnated": ("stagnated", "정체"),
    "declined": ("declined", "하락"),
    "budget": ("budget", "예산"),
    "deadline": ("deadline", "시간 제한"),
    "abstained": ("abstained", "답변 유보"),
    "degraded": ("degraded", "기능 저하"),
    "error": ("error", "오류"),
    "not judged": ("not judged", "평가 안 함"),
    "needs_docs": ("needs documents", "문서 필요"),
    "hallucination": ("hallucination", "환각"),
    "off_topic": ("off topic", "주제 이탈"),
}

LANGUAGES: tuple[Language, ...] = ("en", "ko")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the report says, in one language."""

    language: Language

    def __call__(self, name: str, /, **values: object) -> str:
        """A sentence or a label with its values; an unknown name is a ``KeyError``."""
        found = SENTENCES[name] if name in SENTENCES else LABELS[name]
        return found[self._place].replace(" %", "\N{NO-BREAK SPACE}%").format(**values)

    def meaning(self, metric: str) -> str:
        """What a metric is, in a few words; nothing for one that is not of this package."""
        found = MEANINGS.get(metric)
        return found[self._place] if found else ""

    def word(self, name: str) -> str:
        """A verdict, stop reason or outcome; the name itself, shortened, where it is not known."""
        found = WORDS.get(name)
        return found[self._place] if found else cut(name, _LONGEST)

    @property
    def _place(self) -> int:
        return LANGUAGES.index(self.language)
