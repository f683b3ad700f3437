"""The words of the report in one language: its sentences, and what metrics mean and verdicts and outcomes are called.

Names of systems and metrics stand where they need no particle.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from selfright.domain.passages import Language
from selfright.evals.report.labels import LABELS
from selfright.evals.report.markup import cut

SENTENCES: Mapping[str, tuple[str, str]] = {
    # Answers: the lead
    "asked": (
        "{questions} questions of {name} were asked of {systems} systems.",
        "{name}의 질문 {questions}개를 시스템 {systems}개로 측정했습니다.",
    ),
    "asked_one": (
        "{questions} questions of {name} were asked of one system, {system}. With nothing to compare it to, "
        "nothing is said of what helped.",
        "{name}의 질문 {questions}개를 시스템 하나({system})로 측정했습니다. 비교 대상이 없으므로 무엇이 도움이 "
        "되었는지는 말할 수 없습니다.",
    ),
    "moves": (
        "Of {n} questions, {other} rescued {rescued} that {base} got wrong, and broke {broken} that {base} got right.",
        "질문 {n}개 기준 {base} → {other}: 틀렸던 {rescued}개를 살리고, 맞았던 {broken}개를 망쳤습니다.",
    ),
    "moves_none": (
        "Of {n} questions, {other} rescued none and broke none of those that {base} was asked.",
        "질문 {n}개 기준 {base} → {other}: 살린 질문도 망친 질문도 없습니다.",
    ),
    "by_refusing": (
        "Rightly refused among those rescued: {rescued}; wrongly refused among those broken: {broken}; the others were "
        "answered.",
        "살린 것 중 {rescued}개는 답할 수 없는 질문을 올바르게 거절한 것이고, 망친 것 중 {broken}개는 답할 수 "
        "있는데 거절한 것입니다. 나머지는 답변한 것입니다.",
    ),
    "refused_right": (
        "Rightly refused among those rescued: {rescued}; the others were answered.",
        "살린 것 중 {rescued}개는 답할 수 없는 질문을 올바르게 거절한 것이고, 나머지는 답변한 것입니다.",
    ),
    "refused_wrong": (
        "Wrongly refused among those broken: {broken}; the others were answered wrongly.",
        "망친 것 중 {broken}개는 답할 수 있는데 거절한 것이고, 나머지는 틀리게 답한 것입니다.",
    ),
    # What a difference amounts to. {subject} is "Right answers", {d} a signed figure with its unit.
    "better": (
        "{subject}: {d} (95 % interval {low} to {high}), an improvement beyond chance.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 개선입니다.",
    ),
    "worse": (
        "{subject}: {d} (95 % interval {low} to {high}), a loss beyond chance.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 하락입니다.",
    ),
    "different": (
        "{subject}: {d} (95 % interval {low} to {high}), a change beyond chance, good or bad as it may be.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 변화이지만 좋고 나쁨은 정해져 있지 않습니다.",
    ),
    "hint": (
        "{subject}: {d} (95 % interval {low} to {high}). The interval leaves out zero, but the test does not "
        "(p = {p}, corrected for the study's comparisons): a hint, no result.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 구간은 0을 벗어나지만 검정은 그렇지 않습니다"
        "(비교 수 보정 후 p = {p}). 결론이 아니라 단서입니다.",
    ),
    "chance": (
        "{subject}: {d} (95 % interval {low} to {high}), which is within chance. With {n} questions, a difference "
        "under about {half} cannot be seen.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연의 범위 안입니다. 질문 {n}개로는 약 {half} 미만의 차이를 볼 "
        "수 없습니다.",
    ),
    "same": ("{subject}: the same on all {n} questions.", "{subject}: 질문 {n}개 모두에서 같습니다."),
    "few": (
        "{subject}: {d}, but {n} questions are too few to conclude anything.",
        "{subject}: {d}. 질문 {n}개는 결론을 내리기에 너무 적습니다.",
    ),
    "points": ("{d} points", "{d}%p"),
    "judge_disagrees": (
        "The judge liked these answers better, but they were not right more often: do not take the judge's score "
        "for a gain.",
        "심판의 점수는 올랐지만 정답이 늘지는 않았습니다. 점수 상승을 개선으로 보지 마십시오.",
    ),
    "fewer_answers": (
        "{other} answered {after} of the questions and {base} {before}; of what they answered, {risk_after} and "
        "{risk_before} was wrong.",
        "답변한 비율 {other} {after}, {base} {before}. 그중 틀린 비율 {other} {risk_after}, {base} {risk_before}.",
    ),
    "verdict_better": ("It helped.", "도움이 되었습니다."),
    "verdict_worse": ("It made answers worse.", "오히려 나빠졌습니다."),
    "verdict_different": ("It changed something.", "변화가 있었습니다."),
    "verdict_hint": ("A hint, no result.", "단서일 뿐 결론은 아닙니다."),
    "verdict_chance": ("No difference that can be told.", "우연과 구별되는 차이가 없습니다."),
    "verdict_same": ("It changed nothing.", "바뀐 것이 없습니다."),
    "verdict_few": ("Too few questions to tell.", "질문이 너무 적어 알 수 없습니다."),
    "verdict_mixed": ("It depends on what it is held against.", "무엇과 비교하느냐에 따라 다릅니다."),
    "retrieval_better": ("{last} ranks better than all others.", "{last}: 모든 시스템보다 낫습니다."),
    "retrieval_worse": ("{last} ranks worse than all others.", "{last}: 모든 시스템보다 못합니다."),
    "verdict_none": ("Nothing to compare.", "비교할 것이 없습니다."),
    "subject_right": ("Right answers", "정답률"),
    "subject_quality": ("Judged quality", "심판 점수"),
    "against": ("{other} against {base}", "{base} → {other}"),
    # Cost
    "calls": (
        "{other}: {after} model calls a question ({base}: {before}), {time} a turn ({base}: {time_before}).",
        "{other}: 질문당 모델 호출 {after}회({base}: {before}회), 질문당 {time}({base}: {time_before}).",
    ),
    "no_calls": (
        "{other}: no model was called, and a turn took {time} ({base}: {time_before}).",
        "{other}: 모델 호출 없이 질문당 {time}({base}: {time_before}).",
    ),
    "price": (
        "That is {price} more model calls for each question gained.",
        "질문 하나를 더 맞히는 데 모델 호출이 {price}회 더 들었습니다.",
    ),
    "price_seconds": (
        "That is {price} of computing for each question gained.",
        "질문 하나를 더 맞히는 데 계산 시간이 {price} 더 들었습니다.",
    ),
    # Retrieval
    "retrieval_lead": (
        "{questions} queries of {name}. Highest in {metric}: {best} with {mean} (95 % interval {interval}).",
        "{name}의 질의 {questions}개. {metric} 최고: {best}, {mean} (95% 구간 {interval}).",
    ),
    "wins": (
        "Of {n} queries, {other} ranks {wins} better, {losses} worse and {ties} alike than {base}.",
        "질의 {n}개 중 {base} 대비 {other}: 나음 {wins}, 못함 {losses}, 같음 {ties}.",
    ),
    # What to mind
    "mind_right": (
        "An answer counts as right when a gold answer stands in it, or 60 % of the words of a long one; an "
        "unanswerable question is right when refused. Such rules miss right answers in other words.",
        "정답이 답변에 그대로 들어 있거나 긴 정답의 단어 60%가 들어 있으면 맞은 것으로 칩니다. 답할 수 없는 질문은 "
        "거절해야 맞습니다. 표현이 다른 옳은 답은 놓칠 수 있습니다.",
    ),
    "mind_judge_local": (
        "Quality and grounding are scores of the offline judge, not of people.",
        "품질과 근거 점수는 사람이 아니라 오프라인 심판의 점수입니다.",
    ),
    "mind_judge_model": (
        "Quality and grounding are scores of a language model, not of people.",
        "품질과 근거 점수는 사람이 아니라 언어 모델의 점수입니다.",
    ),
    "mind_no_gold": (
        "No gold answers: nothing here says what is right, only what the judge thought.",
        "정답이 없는 자료입니다. 무엇이 맞는지는 알 수 없고 심판의 판단만 있습니다.",
    ),
    "mind_unknown": (
        "Questions without a gold answer: {unknown}; they count neither as right nor as wrong.",
        "정답이 없는 질문 {unknown}개는 맞음에도 틀림에도 넣지 않았습니다.",
    ),
    "mind_sample": (
        "{questions} of {of} questions of the set were asked.",
        "전체 질문 {of}개 중 {questions}개를 측정했습니다.",
    ),
    "mind_failed": (
        "{system}: questions that failed: {failed}; no figure counts them.",
        "{system}: 질문 {failed}개가 실패해 수치에 들어가지 않았습니다.",
    ),
    "mind_missing": (
        "{system}: questions not asked, because the budget was spent: {missing}.",
        "{system}: 예산이 다해 질문 {missing}개를 묻지 못했습니다.",
    ),
    "mind_degraded": (
        "{system}: turns in which a model failed and the offline roles took over: {degraded}.",
        "{system}: 모델이 실패해 오프라인 역할이 대신한 질문이 {degraded}개입니다.",
    ),
    "mind_many": (
        "{count} comparisons were made; p is corrected for that (Holm), intervals are not.",
        "비교가 {count}번입니다. p는 이를 보정했지만(Holm) 구간은 보정하지 않았습니다.",
    ),
    "mind_seconds": (
        "Times are wall time, and depend on the machine and on what else it did.",
        "시간은 실제 경과 시간이라 기계와 그때의 부하에 따라 달라집니다.",
    ),
    "mind_redacted": ("The texts of questions and answers were left out.", "질문과 답변의 텍스트는 뺐습니다."),
}

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
