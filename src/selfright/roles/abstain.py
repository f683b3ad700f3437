"""When it is better to say that the question cannot be answered, and how that is said.

What a turn knows offline of its own answer is put into signals, and a calibrated linear model decides by them. Its
weights are in ``abstain.json``, which ``training/fit_judges.py`` writes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.answers import Attempt, Draft, Sentence
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation, EvaluationSource, Grading, QueryClass, Verdict
from selfright.domain.passages import Hit, Language, Passage, is_of_the_web
from selfright.domain.text import language_of
from selfright.domain.wordings import wordings
from selfright.roles.evaluate.completeness import OPEN, is_of_others
from selfright.roles.evaluate.scoring import DEFAULT_THRESHOLD, support
from selfright.roles.scoring import Scorer, log_odds, read_scorer

SIGNALS = (
    "sufficiency",  # as the grader judged the retrieved set
    "cited",  # of the most probable passage that the answer cites
    "completeness",  # as the evaluator judged the answer
)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer rests on: the draft, its judgement, and the grading of what it was written from."""

    draft: Draft
    evaluation: Evaluation
    grading: Grading | None


def signals(grounds: Grounds) -> dict[str, float]:
    """One value (log-odds) by each name in ``SIGNALS``; what nothing is known of is as bad as it can be."""
    grading = grounds.grading
    cited = {citation.passage_id for citation in grounds.draft.citations}
    known = {g.passage_id: g.probability for g in grading.grades if g.probability is not None} if grading else {}
    return {
        "sufficiency": log_odds(grading.sufficiency if grading and grading.sufficiency is not None else 0.0),
        "cited": log_odds(max((p for name, p in known.items() if name in cited), default=0.0)),
        "completeness": log_odds(grounds.evaluation.completeness),
    }


@dataclass(frozen=True, slots=True)
class AbstentionModel:
    """``threshold`` is the least probability with which an answer is given; ``across`` the same for one in another
    language than the question, by the question's."""

    scorer: Scorer
    threshold: float
    across: Mapping[str, float] = field(default_factory=dict)

    def probability(self, grounds: Grounds) -> float:
        """That the answer is right (0…1); NaN for broken signals."""
        return self.scorer.probability(signals(grounds))

    def suffices(self, probability: float, question: str, answer: str) -> bool:
        """Whether an answer is given with that probability; never with NaN."""
        asked = language_of(question)
        foreign = language_of(answer) != asked
        return probability >= (self.across.get(asked, self.threshold) if foreign else self.threshold)


def read_model(stored: Mapping[str, Any]) -> AbstentionModel:
    """A model from its JSON form."""
    return AbstentionModel(read_scorer(stored["scorer"]), float(stored["threshold"]), stored.get("across", {}))


@cache
def load_model() -> AbstentionModel:
    """The model that ships with the package."""
    return read_model(json.loads(files("selfright.roles").joinpath("abstain.json").read_text(encoding="utf-8")))


# The least completeness of an answer that cites only what others brought. Of 125 right answers from passages of SQuAD
# 2.0 and KorQuAD 2 lie under it, and 2 of 6 wrong ones. So do most that only speak of answering.
_FROM_OTHERS = 0.25

NEAREST = 3
MISSING = 4


class SupportAbstainer:
    """Abstains when the support of the best answer lies under a threshold (0…1), or when nothing was said at all."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        """True for a refused draft; else, when judged, for one whose support is too low, or that answers no words.

        An answer in another language has to answer more probably than not: all kinds of subjects are found there.
        """
        if best.draft.refused:
            return True
        if best.evaluation is None or not flags.abstention_enabled:
            return False
        is_foreign = query_class in _ASKING and language_of(best.draft.text) != language_of(question)
        least = max(self._threshold, OPEN) if is_foreign else self._threshold
        return _asks_nothing(question, query_class) or support(best.evaluation) < least

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        """What is missing, unless a source that was found has it, and the nearest sources, as the question speaks."""
        del question
        words, passages = (
            wordings(__package__, "abstain")[language]["refusal"],
            [*(strip.passage for strip in best.strips), *(hit.passage for hit in hits)],
        )
        said = "\n".join(f"{passage.context}\n{passage.text}" for passage in passages).casefold()
        judged = best.evaluation
        missing = [item for item in judged.lacking if item.casefold() not in said][:MISSING] if judged else []
        nearest = _nearest(passages)
        parts = [words["no"]]
        if judged and missing:
            parts.append(words["missing"].format(items=judged.listed(missing)))
        parts.append(words["nearest"].format(items=", ".join(nearest)) if nearest else words["nothing"])
        sentences = tuple(Sentence(part) for part in parts)
        return Draft(" ".join(parts), sentences, refused=True)


class CalibratedAbstainer(SupportAbstainer):
    """Abstains when the answer is too likely to be wrong, by all that its pass of the loop knows of it.

    That was fitted on answers from retrieved passages that were graded and judged offline. Any other answer (a model's
    judgement, smalltalk, a summary, nothing graded) is decided on by its support.
    """

    def __init__(self, model: AbstentionModel | None = None) -> None:
        super().__init__(DEFAULT_THRESHOLD)
        self._model = model or load_model()

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        """True for a refused draft; else, when judged, for one too likely to be wrong, from passages that are
        incorrect, where no page of the web stands in for them, or that only others brought and hardly answers."""
        evaluation = best.evaluation
        if flags.abstention_enabled and query_class in _ASKING and _is_incorrect(best):
            return True
        strange = _asks_nothing(question, query_class)
        if best.draft.refused or evaluation is None or strange or not _is_familiar(best, evaluation, query_class):
            return super().should_abstain(question, query_class, best, flags)
        found = [*(strip.passage for strip in best.strips), *(hit.passage for hit in best.hits)]
        if flags.abstention_enabled and evaluation.completeness < _FROM_OTHERS and is_of_others(best.draft, found):
            return True
        probability = self._model.probability(Grounds(best.draft, evaluation, best.grading))
        return flags.abstention_enabled and not self._model.suffices(probability, question, best.draft.text)


_ASKING = (QueryClass.QUESTION, QueryClass.UNKNOWN)


def _is_incorrect(best: Attempt) -> bool:
    """Whether it was made from passages that are incorrect, and no page of the web stands in for them."""
    return best.verdict is Verdict.INCORRECT and not any(is_of_the_web(hit.passage.id) for hit in best.hits)


def _asks_nothing(question: str, query_class: QueryClass) -> bool:
    """Whether a message other than small talk has neither a letter nor a digit ("?", "👍"): no document answers it."""
    return query_class is not QueryClass.CHITCHAT and not any(map(str.isalnum, question))


def _is_familiar(best: Attempt, evaluation: Evaluation, query_class: QueryClass) -> bool:
    """Whether it is the kind of answer that the model was fitted on: a grader that failed says nothing against one."""
    asked = query_class in _ASKING
    graded = best.grading is not None and best.grading.sufficiency is not None
    return asked and bool(best.hits) and graded and evaluation.source is EvaluationSource.LOCAL


def _nearest(passages: Sequence[Passage]) -> list[str]:
    named = (f"{p.heading} ({p.url or p.document_id})" if p.heading else p.url or p.document_id for p in passages)
    return list(dict.fromkeys(named))[:NEAREST]
