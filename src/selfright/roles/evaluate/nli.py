"""What calibration, and a judge that the user chose, make of a claim: any network that tells whether a text follows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selfright.domain.judgements import PairReading
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.calibration.stored import UNCALIBRATED_CLAIMS, ClaimCalibration
from selfright.roles.evaluate.claims import ClaimFacts, JudgedClaim
from selfright.roles.evaluate.evidence import Source
from selfright.roles.evaluate.scoring import words_support
from selfright.roles.pairs import read_pairs
from selfright.roles.scoring import log_odds

MOST_CLAIMS = 20
CHARACTERS = 1_500  # of a passage: with the claim about what networks take that read 512 word pieces

# Set by hand: networks call much a contradiction that is merely about something else.
_DENIED = 0.8


@dataclass(frozen=True, slots=True)
class ClaimNli:
    """Judges claims that the evidence does not say word for word, the first twenty of an answer.

    ``judge`` reads a claim beside the three passages nearest to it, of each the sentences around the nearest one.
    """

    judge: PairJudge | None = None
    calibration: ClaimCalibration | None = None

    def __call__(self, facts: Sequence[ClaimFacts], sources: Sequence[Source]) -> list[ClaimFacts]:
        """The facts with ``judged``; unchanged where neither calibration nor judge has a say."""
        if self.judge is None and self.calibration is None:
            return list(facts)
        open_ones = [i for i, fact in enumerate(facts) if not fact.verbatim]
        read = set(open_ones[:MOST_CLAIMS])
        return [
            fact if fact.verbatim else replace(fact, judged=self._judged(fact, sources, ask=i in read))
            for i, fact in enumerate(facts)
        ]

    def opinions(self, fact: ClaimFacts, sources: Sequence[Source]) -> dict[str, float]:
        """What was seen and what the judge says of a claim, as log-odds; the judge's only where it was asked."""
        found = self._read(fact, sources)
        judge = {"judge": max(one.score for _, one in found)} if found else {}
        return {"words": log_odds(words_support(fact)), **judge}

    def _judged(self, fact: ClaimFacts, sources: Sequence[Source], *, ask: bool) -> JudgedClaim | None:
        found = self._read(fact, sources) if ask else []
        own = words_support(fact)
        if not found:
            return JudgedClaim(self.calibration.claims(own)) if self.calibration else None
        best, said = max(found, key=lambda pair: pair[1].score)
        blend = (self.calibration.judge if self.calibration else None) or UNCALIBRATED_CLAIMS
        together = blend({"words": log_odds(own), "judge": said.score})
        support = self.calibration.claims(together) if self.calibration else together
        near = set(fact.passage_ids)
        denied = said.score < 0 and any(one.denies >= _DENIED and source.passage.id in near for source, one in found)
        return JudgedClaim(support, denied, best.passage.id if said.score >= 0 else "")

    def _read(self, fact: ClaimFacts, sources: Sequence[Source]) -> list[tuple[Source, PairReading]]:
        """The passages that the judge has read, with what it says of them; without those whose score is no number."""
        judge = self.judge
        if judge is None or language_of(fact.text) not in judge.languages:
            return []
        chosen = [(sources[n], place) for n, place in fact.nearest if sources[n].passage.language in judge.languages]
        judged = read_pairs(judge, fact.text, [stretch(source, place) for source, place in chosen])
        if judged is None:
            return []
        return [(source, one) for (source, _), one in zip(chosen, judged, strict=True) if one.is_number]


def stretch(source: Source, place: int, most: int = CHARACTERS) -> str:
    """The heading of a source, and the sentences around the one at ``place`` that ``most`` characters have room for."""
    sentences = source.sentences or ("",)
    first = last = min(place, len(sentences) - 1)
    length = len(sentences[first])
    while True:
        before = len(sentences[first - 1]) if first > 0 else most
        after = len(sentences[last + 1]) if last + 1 < len(sentences) else most
        if length + min(before, after) + 1 > most:
            break
        # The sentence that follows says more often what is meant.
        if length + after + 1 <= most:
            last, length = last + 1, length + after + 1
        if first > 0 and length + before + 1 <= most:
            first, length = first - 1, length + before + 1
    text = " ".join(sentences[first : last + 1])[:most]
    return f"{source.passage.heading}\n{text}" if source.passage.heading else text
