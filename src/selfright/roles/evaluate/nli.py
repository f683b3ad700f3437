"""What networks make of a claim beside the evidence: the one that ships, and any that the user chose.

What the evidence says word for word is read by none of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.evaluate.claims import ClaimFacts, JudgedClaim
from selfright.roles.evaluate.scoring import UNSUPPORTED, words_support
from selfright.roles.reading import WINDOWS, read_pairs, space_out
from selfright.roles.scoring import Blend, log_odds
from selfright.roles.visible_text import Source

MOST_CLAIMS = 20
CHARACTERS = 1_500  # of a passage: with the claim about what networks take that read 512 word pieces
_LONG: Mapping[Language, int] = {"en": CHARACTERS, "ko": CHARACTERS}
SHIPPED_PASSAGES = 2  # that the network that ships reads of a claim, of each as much as of an answer
QUOTED = 0.95  # a claim with this share of the evidence's words is a quotation, like a table's row with its headers

# By ``training/claims_read.py``, mean of sixteen sets: AUC 0.657 by words, 0.776 by the network, 0.778 by both; of
# mtrag's faithful answers 55 % count as supported (42 % by words), of the others 11 %.
WORDS_AND_READER = Blend({"words": 0.5, "reader": 0.75}, 0.0)
OWN_AND_JUDGE = Blend({"own": 0.5, "judge": 0.5})

# Set by hand: networks call much a contradiction that is merely about something else.
_DENIED = 0.8


@dataclass(frozen=True, slots=True)
class ClaimNli:
    """Judges claims that the evidence does not say word for word, the first twenty of an answer.

    ``judge`` is one that the user chose. It reads a claim beside the three passages nearest to it, of each the
    sentences around the nearest one. ``reader`` is the network that ships: what it says counts beside the words,
    unless all claims of the answer are quotations.
    """

    judge: PairJudge | None = None
    reader: PairJudge | None = None

    def __call__(self, facts: Sequence[ClaimFacts], sources: Sequence[Source]) -> list[ClaimFacts]:
        """The facts with ``judged``; unchanged where nobody has a say."""
        quoted = all(fact.verbatim or fact.coverage >= QUOTED for fact in facts)
        if self.judge is None and (self.reader is None or quoted):
            return list(facts)
        open_ones = [i for i, fact in enumerate(facts) if not fact.verbatim]
        read = set(open_ones[:MOST_CLAIMS])
        return [
            fact if fact.verbatim else replace(fact, judged=self._judge(fact, sources, ask=i in read, quoted=quoted))
            for i, fact in enumerate(facts)
        ]

    def _own(self, fact: ClaimFacts, sources: Sequence[Source]) -> JudgedClaim:
        """By words and by the network that ships."""
        words = words_support(fact)
        found = self.read(self.reader, fact, sources, SHIPPED_PASSAGES, WINDOWS)
        if not found:
            return JudgedClaim(words)
        best, said = max(found, key=lambda pair: pair[1].score)
        support = WORDS_AND_READER({"words": log_odds(words), "reader": said.score})
        if words >= UNSUPPORTED:  # an honest rewording may look foreign to it: alone it takes nothing for invented
            support = max(support, UNSUPPORTED)
        return JudgedClaim(support, passage_id=best.passage.id if said.score >= 0 else "")

    def _judge(self, fact: ClaimFacts, sources: Sequence[Source], *, ask: bool, quoted: bool) -> JudgedClaim:
        own = self._own(fact, sources) if ask and not quoted else JudgedClaim(words_support(fact))
        found = self.read(self.judge, fact, sources) if ask else []
        if not found:
            return own
        best, said = max(found, key=lambda pair: pair[1].score)
        support = OWN_AND_JUDGE({"own": log_odds(own.support), "judge": said.score})
        near = set(fact.passage_ids)
        denied = said.score < 0 and any(one.denies >= _DENIED and source.passage.id in near for source, one in found)
        return JudgedClaim(support, denied, best.passage.id if said.score >= 0 else "")

    def read(
        self,
        judge: PairJudge | None,
        fact: ClaimFacts,
        sources: Sequence[Source],
        passages: int | None = None,
        characters: Mapping[Language, int] = _LONG,
    ) -> list[tuple[Source, PairReading]]:
        """The passages that a judge has read, with what it says of them; without those whose score is no number."""
        if judge is None or language_of(fact.text) not in judge.languages:
            return []
        nearest = fact.nearest[:passages]
        chosen = [(sources[n], place) for n, place in nearest if sources[n].passage.language in judge.languages]
        judged = read_pairs(
            judge, fact.text, [stretch(source, place, characters[source.passage.language]) for source, place in chosen]
        )
        if judged is None:
            return []
        return [(source, one) for (source, _), one in zip(chosen, judged, strict=True) if one.is_number]


def stretch(source: Source, place: int, most: int = CHARACTERS) -> str:
    """The title of a source, and the sentences around the one at ``place`` that ``most`` characters have room for."""
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
    above = source.passage.above(text, section=False)
    return f"{above}\n{space_out(text)}" if above else space_out(text)
