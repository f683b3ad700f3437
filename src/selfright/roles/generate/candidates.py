"""What could be said in answer to a question, each with what it covers and how much it matters."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.domain.text import has_hangul
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.extractive_units import Piece
from selfright.roles.generate.scores import PieceScorer, ScoredPiece
from selfright.roles.grade.features import Asked
from selfright.roles.questions import AnswerType, question_parts

_LISTED = (AnswerType.LIST, AnswerType.MANNER)
# How far (log-odds) an entry may be behind the best of its list to be said with it.
_LIST_MARGIN, _ENTRY_MARGIN = 3.0, 0.7
_MOST_ITEMS = 8
_MOST_GROUP_CHARACTERS = 900

_WORD = re.compile(r"[^\W_]+")
_ASKS = re.compile(r"[?？][\"”'’)\]»*_\s]*$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence, or several entries of one list or table.

    ``score`` (log-odds) says how directly it answers the question, ``by_part`` how directly it answers each of its
    parts; ``coverage`` (0…1) is the idf share of the question's words in and around it.
    """

    pieces: tuple[Piece, ...]
    score: float
    by_part: tuple[float, ...]
    coverage: float
    words: frozenset[str]

    @property
    def length(self) -> int:
        """Words as a reader counts them."""
        return sum(len(piece.text.split()) for piece in self.pieces)


def candidates(question: str, pieces: Sequence[Piece], analyzer: TextAnalyzer, scorer: PieceScorer) -> list[Candidate]:
    """A candidate for each sentence, and for each list or table the entries of it that answer, in reading order."""
    said = [piece for piece in pieces if _is_evidence(piece)]
    asked = Asked.of(question, analyzer, translated=True)
    parts = question_parts(question)
    of_parts = [Asked.of(part, analyzer, translated=True) for part in parts] if len(parts) > 1 else []
    whole, *each_part = scorer.judge([asked, *of_parts], said)
    scored = [
        Candidate((piece,), judged.score, _by_part(judged, of_piece), judged.coverage, _words((piece,)))
        for piece, judged, *of_piece in zip(said, whole, *each_part, strict=True)
    ]
    return [candidate for group in _groups(scored) for candidate in _entries(group, asked)]


def _by_part(judged: ScoredPiece, of_parts: Sequence[ScoredPiece]) -> tuple[float, ...]:
    """A part seldom names what the whole question is about, so the score of the whole counts for half."""
    return tuple((judged.score + part.score) / 2 for part in of_parts) or (judged.score,)


def _words(pieces: Iterable[Piece]) -> frozenset[str]:
    """The words of the pieces, Korean ones cut to their first two syllables, where most particles are gone."""
    words = (word for piece in pieces for word in _WORD.findall(piece.text.casefold()))
    return frozenset(word[:2] if has_hangul(word) else word for word in words)


def _groups(scored: Iterable[Candidate]) -> list[list[Candidate]]:
    """The entries of one list or table together, each sentence alone."""
    groups: list[list[Candidate]] = []
    last: Piece | None = None
    for candidate in scored:
        piece = candidate.pieces[0]
        if last and piece.group >= 0 and _place(piece) == _place(last):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
        last = piece
    return groups


def _place(piece: Piece) -> tuple[str, int]:
    return piece.strip.passage.document_id, piece.group


def _entries(group: list[Candidate], asked: Asked) -> list[Candidate]:
    """The entries of a list that answer together: those not far behind the best, or all where a list is asked for."""
    if len(group) == 1:
        return group
    best = max(entry.score for entry in group)
    margin = _LIST_MARGIN if asked.kind in _LISTED else _ENTRY_MARGIN
    near = sorted((entry for entry in group if entry.score >= best - margin), key=lambda entry: -entry.score)
    chosen: list[Candidate] = []
    for entry in near[:_MOST_ITEMS]:
        length = sum(len(other.pieces[0].text) for other in chosen) + len(entry.pieces[0].text)
        if not chosen or length <= _MOST_GROUP_CHARACTERS:
            chosen.append(entry)
    chosen.sort(key=group.index)
    # One citation covers one strip; what spills into the next strip is a candidate of its own.
    by_strip: dict[int, list[Candidate]] = {}
    for entry in chosen:
        by_strip.setdefault(id(entry.pieces[0].strip), []).append(entry)
    return [_together(entries) for entries in by_strip.values()]


def _together(entries: Sequence[Candidate]) -> Candidate:
    pieces = tuple(piece for entry in entries for piece in entry.pieces)
    by_part = tuple(map(max, zip(*(entry.by_part for entry in entries), strict=True)))
    score, coverage = max(e.score for e in entries), max(e.coverage for e in entries)
    return Candidate(pieces, score, by_part, coverage, _words(pieces))


def _is_evidence(piece: Piece) -> bool:
    """Whether the piece tells something: it is no question itself."""
    return not (piece.kind == "sentence" and _ASKS.search(piece.text))
