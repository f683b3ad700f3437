"""An answer as a person reads it: the text, its sources, and a short account of how it came about."""

from collections.abc import Mapping
from types import MappingProxyType
from unicodedata import east_asian_width

from selfright.domain.answers import Answer, Iteration
from selfright.domain.judgements import StopReason, Verdict
from selfright.domain.node_words import Wording, said
from selfright.domain.passages import Language

Words = Mapping[str, str]

_COLUMN = 10

_WORDS: Mapping[Language, Words] = MappingProxyType(
    {
        "en": {
            "sources": "Sources",
            "account": "How this came about",
            "verdict": "verdict",
            "pass": "pass",
            "quality": "quality",
            "unjudged": "not judged",
            "stopped": "stopped",
            "removed": "removed",
            "refined": ", {share:.0%} of the text left out",
            "steps in all": "in all",
            "note": "note",
            "cost": "cost",
            "web": "web",
            "rescued": "the index could not answer; the answer rests on the web",
            "added": "the answer rests on the web, too",
            "unused": "asked, but nothing of it was used",
            "nothing found": "asked, and nothing was found",
            "spent": "{seconds:.2f} s, {calls} model calls, {web} web pages read",
        },
        "ko": {
            "sources": "출처",
            "account": "답이 나온 과정",
            "verdict": "검색 판정",
            "pass": "시도",
            "quality": "품질",
            "unjudged": "평가 안 함",
            "stopped": "종료",
            "removed": "삭제",
            "refined": ", 찾은 글의 {share:.0%} 덜어냄",
            "steps in all": "모두",
            "note": "참고",
            "cost": "비용",
            "web": "웹",
            "rescued": "색인으로는 답할 수 없어 웹을 근거로 답함",
            "added": "웹도 근거로 삼음",
            "unused": "찾아보았으나 쓰지 않음",
            "nothing found": "찾아보았으나 결과가 없음",
            "spent": "{seconds:.2f}초, 모델 호출 {calls}회, 웹 페이지 {web}쪽",
        },
    }
)

_STOPPED: Mapping[Language, Mapping[StopReason, str]] = MappingProxyType(
    {
        "en": {
            StopReason.ADEQUATE: "the answer holds up",
            StopReason.BASIC: "this preset makes one pass",
            StopReason.FAST_PATH: "no documents were needed",
            StopReason.MAX_ITERATIONS: "the limit of passes was reached",
            StopReason.DUPLICATE_DOCUMENTS: "the search brought the same documents again",
            StopReason.STAGNATED: "another pass hardly made it better",
            StopReason.DECLINED: "another pass made it worse; the best one is shown",
            StopReason.BUDGET: "the budget of this turn was used up",
            StopReason.DEADLINE: "the time of this turn was used up",
            StopReason.ABSTAINED: "nothing that was found supports an answer",
            StopReason.DEGRADED: "the judge failed, so nobody has verified the answer",
            StopReason.ERROR: "an error ended the turn early",
        },
        "ko": {
            StopReason.ADEQUATE: "답이 근거와 맞음",
            StopReason.BASIC: "한 번만 검색하는 설정",
            StopReason.FAST_PATH: "문서가 필요 없었음",
            StopReason.MAX_ITERATIONS: "반복 한도에 이름",
            StopReason.DUPLICATE_DOCUMENTS: "같은 문서가 다시 검색됨",
            StopReason.STAGNATED: "다시 해도 거의 나아지지 않음",
            StopReason.DECLINED: "다시 하니 나빠져 가장 좋은 답을 보임",
            StopReason.BUDGET: "이번 질문의 예산을 다 씀",
            StopReason.DEADLINE: "이번 질문의 시간을 다 씀",
            StopReason.ABSTAINED: "찾은 자료가 답을 뒷받침하지 않음",
            StopReason.DEGRADED: "평가에 실패하여 검증되지 않은 답",
            StopReason.ERROR: "오류로 일찍 끝남",
        },
    }
)

_VERDICTS: Mapping[Language, Mapping[Verdict, str]] = MappingProxyType(
    {
        "en": {
            Verdict.CORRECT: "correct (enough was found)",
            Verdict.AMBIGUOUS: "ambiguous (part of it was found)",
            Verdict.INCORRECT: "incorrect (too little was found)",
            Verdict.UNKNOWN: "unknown (the judge failed)",
        },
        "ko": {
            Verdict.CORRECT: "충분함",
            Verdict.AMBIGUOUS: "일부만 충분함",
            Verdict.INCORRECT: "부족함",
            Verdict.UNKNOWN: "판정 실패",
        },
    }
)
_STEP_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "contextualize": "맥락 읽기",
        "extract_slots": "사실 찾기",
        "store_memory": "기억하기",
        "classify": "질문 분류",
        "retrieve": "색인 검색",
        "grade": "검색 판정",
        "refine_knowledge": "근거 추리기",
        "web_search": "웹 검색",
        "assemble_context": "근거 모으기",
        "generate": "초안 쓰기",
        "evaluate": "초안 평가",
        "quality_check": "계속할지 결정",
        "rewrite": "검색어 고치기",
        "repair_claims": "문장별 근거 찾기",
        "finalize": "답 내기",
    }
)
_KOREAN = Wording(
    MappingProxyType(
        {
            "slots": "{slots} 사실",
            "query_class": "{query_class}",
            "fast_path": "빠른 경로",
            "strips": "{strips} 조각",
            "verdict": "{verdict}{sufficiency}",
            "removed_share": "{removed_share:.0%} 덜어냄",
            "passages": "{passages} 구절",
            "passages_from": "{passages} 구절 출처: {sources}",
            "sentences": "{sentences} 문장",
            "refused": "할 말 없음",
            "unjudged": "평가 안 함",
            "overall": "{overall:.2f} {quality} ({judge})",
            "stop": "종료: {stop}",
            "again": "다시: {again}",
            "ended": "{ended}",
            "repaired": "{repaired} 보완함",
        }
    ),
    MappingProxyType(
        {
            **_STEP_NAMES,
            **{verdict.value: name for verdict, name in _VERDICTS["ko"].items()},
            **{reason.value: why for reason, why in _STOPPED["ko"].items()},
            "adequate": "충분한 답",
            "needs_docs": "문서가 더 필요함",
            "hallucination": "근거 없는 내용이 있음",
            "off_topic": "다른 것에 답함",
            "question": "질문",
            "summary": "요약",
            "chitchat": "잡담",
            "unknown": "알 수 없음",
            "local": "로컬 평가",
            "llm": "모델 평가",
            "heuristic": "휴리스틱 평가",
        }
    ),
)


def account(answer: Answer) -> str:
    """The answer, its sources and its account, in the language of the question."""
    words = _WORDS[answer.language]
    parts = [answer.answer]
    if answer.citations:
        parts.append("\n".join([f"{words['sources']}:", *_sources(answer)]))
    parts.append("\n".join([f"{words['account']}:", *_lines(answer, words)]))
    return "\n\n".join(parts)


def steps(answer: Answer) -> str:
    """The nodes of the turn in their order: milliseconds, name, and what each decided, in the question's language."""
    korean = answer.language == "ko"
    rows = []
    for step in answer.trace:
        name = _STEP_NAMES.get(step.node, step.node) if korean else step.node
        decided = said(step.outcome, _KOREAN) if korean else step.said
        rows.append(f"  {step.seconds * 1000:8.1f} ms  {_padded(name, 18)} {decided}".rstrip())
    return "\n".join([*rows, f"  {answer.cost.seconds * 1000:8.1f} ms  {_WORDS[answer.language]['steps in all']}"])


def _sources(answer: Answer) -> list[str]:
    rows = []
    for citation in answer.citations:
        title = f"{citation.title} > {citation.section}" if citation.section else citation.title
        place = citation.url or citation.document_id
        rows.append(f"  [{citation.n}] {title} ({place}, {citation.start}-{citation.end})")
    return rows


def _lines(answer: Answer, words: Words) -> list[str]:
    rows = [(words["verdict"], _VERDICTS[answer.language][answer.verdict])] if answer.verdict else []
    rows += [
        (f"{words['pass']} {n}", _pass(iteration, answer.language))
        for n, iteration in enumerate(answer.iterations, start=1)
    ]
    why = _STOPPED[answer.language][answer.stop_reason]
    rows.append((words["stopped"], why if answer.language == "ko" else f"{answer.stop_reason.value} ({why})"))
    rows += [(words["removed"], claim) for claim in answer.removed_claims]
    rows += [(words["note"], note) for note in answer.notes]
    rows += [(words["web"], words[answer.web.effect])] if answer.web else []
    cost = answer.cost
    spent = words["spent"].format(seconds=cost.seconds, calls=cost.llm_calls, web=cost.web_requests)
    rows.append((words["cost"], spent))
    return [f"  {_padded(name + ':')} {text}" for name, text in rows]


def _padded(text: str, column: int = _COLUMN) -> str:
    """Filled up to the width of the column on a terminal, where Hangul takes two cells a syllable."""
    cells = sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
    return text + " " * max(0, column - cells)


def _pass(iteration: Iteration, language: Language) -> str:
    words = _WORDS[language]
    judged = words["unjudged"] if iteration.overall is None else f"{words['quality']} {iteration.overall:.2f}"
    gain = f" ({iteration.improvement:+.2f})" if iteration.improvement is not None else ""
    verdict = iteration.verdict
    found = f", {verdict.value if language == 'en' else _VERDICTS[language][verdict]}" if verdict else ""
    refined = words["refined"].format(share=iteration.removed_share) if iteration.removed_share is not None else ""
    return f"{judged}{gain}{found}{refined}  «{iteration.query}»"
