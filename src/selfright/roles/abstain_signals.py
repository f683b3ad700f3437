"""What a turn knows offline of its own answer, as numbers: what abstention is decided by.

Nothing here decides; the weights in ``abstain.json`` do. Every signal is about 0…1, log-odds about -6…6.
"""

import math
from dataclasses import dataclass

from selfright.domain.answers import Citation, Draft
from selfright.domain.judgements import Evaluation, Grading
from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.answer_spans import answer_spans
from selfright.roles.grade.features import Asked

SIGNALS = (
    "sufficiency",  # log-odds, as the grader judged the retrieved set
    "best",  # log-odds of the most probable passage
    "lead",  # how far its probability is ahead of the next one's
    "cited",  # log-odds of the most probable passage that the answer cites
    "completeness",  # log-odds, as the evaluator judged the answer
    "missing",  # idf of the rarest term of the question that is not near what is cited, over that of its rarest
    "cosine",  # the best cosine of question and passage
    "answer",  # log-odds by the reader that what is cited holds the answer; only where it has read what is cited
)
READ = ("answer",)
COSINES = tuple(name for name in SIGNALS if name not in READ)
LEXICAL = tuple(name for name in COSINES if name != "cosine")
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

    @property
    def has_cosines(self) -> bool:
        """Whether question and passages were compared by meaning; of an English encoder's view of Korean, nothing."""
        return language_of(self.question) == "en" and any(hit.cosine is not None for hit in self.hits)


def signals(grounds: Grounds, analyzer: TextAnalyzer, reader: PairJudge | None = None) -> dict[str, float]:
    """One value by each name in ``SIGNALS``; a signal that nothing is known of is as bad as it can be.

    ``answer`` is there only when ``reader`` has read what is cited.
    """
    cosines = [hit.cosine for hit in grounds.hits if hit.cosine is not None]
    asked = Asked.of(grounds.question, analyzer)
    return {
        **_judged(grounds),
        "missing": _rarest_missing(grounds, asked),
        "cosine": max(cosines, default=0.0),
        **_answered(grounds, asked, reader),
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
    weights = asked.matcher.weights
    found = asked.matcher.places(_evidence(grounds))
    left = max((weight for i, weight in enumerate(weights) if i not in found), default=0.0)
    return left / max(weights) if left else 0.0


def _answered(grounds: Grounds, asked: Asked, reader: PairJudge | None) -> dict[str, float]:
    """How probable it is by the reader that one of the cited stretches holds the answer."""
    cited = _cited(grounds)
    spans = answer_spans(asked, list({passage.id: passage for _, passage in cited}.values()), reader)
    chances = [
        spans[p.id].chance * spans[p.id].within(c.start - p.start, c.end - p.start) for c, p in cited if p.id in spans
    ]
    return {"answer": _log_odds(max(chances))} if chances else {}


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
