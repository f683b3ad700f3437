"""When it is better to say that the question cannot be answered, and how that is said."""

from collections.abc import Sequence

from selfright.domain.answers import Attempt, Draft, Sentence
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation
from selfright.domain.passages import Hit, Language
from selfright.roles.evaluate.support import support

NEAREST = 3
MISSING = 4

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "no": "I could not find an answer that the documents support.",
        "missing": "Missing: {items}.",
        "nearest": "Nearest sources: {items}.",
        "nothing": "Nothing related was found.",
    },
    "ko": {
        "no": "자료가 뒷받침하는 답을 찾지 못했습니다.",
        "missing": "찾지 못한 내용: {items}.",
        "nearest": "가장 가까운 자료: {items}.",
        "nothing": "관련된 자료가 없습니다.",
    },
}


class SupportAbstainer:
    """Abstains when the support of the best answer lies under a threshold (0…1), or when nothing was said at all."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    def should_abstain(self, draft: Draft, evaluation: Evaluation | None, flags: Flags) -> bool:
        """True for a refused draft; else, when judged, for one whose support is too low."""
        if draft.refused:
            return True
        if evaluation is None or not flags.abstention_enabled:
            return False
        return support(evaluation) < self._threshold

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        """What is missing and the nearest sources, in the question's language."""
        del question
        words = _WORDS[language]
        missing = best.evaluation.missing_info[:MISSING] if best.evaluation else ()
        nearest = _nearest(best, hits)
        parts = [words["no"]]
        if missing:
            parts.append(words["missing"].format(items=", ".join(missing)))
        parts.append(words["nearest"].format(items=", ".join(nearest)) if nearest else words["nothing"])
        sentences = tuple(Sentence(part) for part in parts)
        return Draft(" ".join(parts), sentences, refused=True)


def _nearest(best: Attempt, hits: Sequence[Hit]) -> list[str]:
    passages = [strip.passage for strip in best.strips] + [hit.passage for hit in hits]
    named = (f"{p.heading} ({p.url or p.document_id})" if p.heading else p.url or p.document_id for p in passages)
    return list(dict.fromkeys(named))[:NEAREST]
