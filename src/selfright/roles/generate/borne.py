"""What of a model's answer the evidence states: what it only quotes, or says of something else, is no answer.

A model may repeat whatever stands in a passage. That a passage holds the words is not enough: they must stand there as
a statement, outside of quotation marks, in a sentence that could answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.passages import Strip
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.evidence import letters
from selfright.roles.extractive_units import Piece, pieces_of
from selfright.roles.generate.answer_parsing import ParsedSentence
from selfright.roles.generate.candidates import candidates
from selfright.roles.generate.scores import PieceScorer
from selfright.roles.statements import outside_quotes

# How far (log-odds) behind the best sentence of the evidence one may be that an answer rests on.
_FAR = 4.0
_SECRET_LETTERS = 24


@dataclass(frozen=True, slots=True)
class BorneOut:
    """Reads what a model wrote beside its evidence."""

    analyzer: TextAnalyzer
    scorer: PieceScorer

    def stated(
        self, question: str, parsed: Sequence[ParsedSentence], strips: Sequence[Strip], rules: str
    ) -> list[ParsedSentence]:
        """The sentences without those that only stand in quotation marks there, and those of ``rules``, the prompt's.

        None at all where each of the rest repeats sentences that are far from answering the question.
        """
        secret = letters(rules)
        kept = [said for said in parsed if not _repeats(secret, said.text) and not _only_quoted(said.text, strips)]
        return kept if self._bears(question, kept, strips) else []

    def _bears(self, question: str, parsed: Sequence[ParsedSentence], strips: Sequence[Strip]) -> bool:
        found = candidates(question, pieces_of(strips), self.analyzer, self.scorer)
        best = max((candidate.score for candidate in found), default=0.0)
        near = [piece for one in found if one.score >= best - _FAR for piece in one.pieces]
        evidence = letters(" ".join(strip.text for strip in strips))
        return any(_is_reworded(evidence, said.text) or _stands_in(near, said.text) for said in parsed)


def _repeats(secret: str, text: str) -> bool:
    said = letters(text)
    return len(said) >= _SECRET_LETTERS and said in secret


def _only_quoted(text: str, strips: Sequence[Strip]) -> bool:
    """Whether the strips have these very words, and only between quotation marks."""
    said = letters(text)
    if not said or outside_quotes(text) != text:
        return False
    if not any(said in letters(strip.text) for strip in strips):
        return False
    return not any(said in letters(outside_quotes(strip.text)) for strip in strips)


def _is_reworded(evidence: str, text: str) -> bool:
    return letters(text) not in evidence


def _stands_in(pieces: Sequence[Piece], text: str) -> bool:
    """Whether a piece has the words, or the words have the piece."""
    said = letters(text)
    return any(said in whole or whole in said for whole in (letters(piece.text) for piece in pieces))
