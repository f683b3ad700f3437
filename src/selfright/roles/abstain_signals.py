"""What a turn knows offline of its own answer, as numbers: what abstention is decided by.

Nothing here decides; the weights in ``abstain.json`` do. Every signal is about 0…1, log-odds about -6…6.
"""

import math
from dataclasses import dataclass

from selfright.domain.answers import Citation, Draft
from selfright.domain.judgements import Evaluation, Grading
from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked

SIGNALS = (
    "sufficiency",  # log-odds, as the grader judged the retrieved set
    "best",  # log-odds of the most probable passage
    "lead",  # how far its probability is ahead of the next one's
    "cited",  # log-odds of the most probable passage that the answer cites
    "completeness",  # log-odds, as the evaluator judged the answer
    "missing",  # idf of the rarest term of the question that is not near what is cited, over that of its rarest
)
_EDGE = 1e-3
_AROUND = 200  # characters before and after what is cited


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer rests on: the draft, its judgement, and the pass of the loop that it came from."""

    question: str
    draft: Draft
    evaluation: Evaluation
    grading: Grading | None
    hits: tuple[Hit, ...]
    strips: tuple[Strip, ...]


def signals(grounds: Grounds, analyzer: TextAnalyzer) -> dict[str, float]:
    """One value by each name in ``SIGNALS``; a signal that nothing is known of is as bad as it can be."""
    asked = Asked.of(grounds.question, analyzer)
    return {
        **_judged(grounds),
        "missing": _rarest_missing(grounds, asked),
    }


def _judged(grounds: Grounds) -> dict[str, float]:
    grading = grounds.grading
    cited = {citation.passage_id for citation in grounds.draft.citations}
    known = {g.passage_id: g.probability for g in grading.grades if g.probability is not None} if grading else {}
    first, second, *_ = (*sorted(known.values(), reverse=True), 0.0, 0.0)
    return {
        "sufficiency": _log_odds(grading.sufficiency if grading and grading.sufficiency is not None else 0.0),
        "best": _log_odds(first),
        "lead": first - second,
        "cited": _log_odds(max((p for name, p in known.items() if name in cited), default=0.0)),
        "completeness": _log_odds(grounds.evaluation.completeness),
    }


def _rarest_missing(grounds: Grounds, asked: Asked) -> float:
    """0…1; 0 when all terms are there, or the question has none. A rare word that is not near is often the catch."""
    weights, evidence = asked.matcher.weights, _evidence(grounds)
    found = asked.matcher.places(evidence)
    # Words of another language are not there whatever the evidence says; names that both write alike are.
    across = asked.korean != (language_of(evidence) == "ko")
    looked_for = [
        i for i, term in enumerate(asked.matcher.terms) if not across or (asked.korean and term.token.isascii())
    ]
    left = max((weights[i] for i in looked_for if i not in found), default=0.0)
    return left / max(weights) if left else 0.0


def _cited(grounds: Grounds) -> list[tuple[Citation, Passage]]:
    passages = {strip.passage.id: strip.passage for strip in grounds.strips}
    return [(c, passages[c.passage_id]) for c in grounds.draft.citations if c.passage_id in passages]


def _evidence(grounds: Grounds) -> str:
    """What the answer cites, 200 characters around it, and the headings it stands under."""
    return " ".join(
        f"{p.heading} {p.text[max(0, c.start - p.start - _AROUND) : c.end - p.start + _AROUND]}"
        for c, p in _cited(grounds)
    )


def _log_odds(p: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, p))
    return math.log(inside / (1 - inside))
