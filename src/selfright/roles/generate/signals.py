"""What the choice of sentences looks at: cheap signals of each piece of the evidence, in a fixed order."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from selfright.roles.analysis import Places, TextAnalyzer
from selfright.roles.extractive_units import Piece
from selfright.roles.grade.features import Asked
from selfright.roles.grade.networks import AnswerSpans
from selfright.roles.quantities import Quantity, quantities
from selfright.roles.questions import AnswerType, answer_type_match

SIGNALS = (
    "coverage",  # idf share of the question's terms in the piece
    "in_context",  # … in the piece, its lead-in, its headings and the piece before it
    "relative_context",
    "heading",  # … in title and section
    "passage",  # … in the whole passage with its heading
    "relative_passage",
    "title_named",  # the share of the title's own words that the question has
    "adjacent",  # share of neighbouring term pairs of the question that are near each other here too
    "numbers_missing",  # share of the question's quantities missing here and in the heading
    "rank",  # the strip's score over the best strip's
    "type_novel",  # a thing of the type that is asked for, not in the question already
    "unit",  # a quantity in the unit asked for
    "beside",  # a number that is not in the question stands next to one of its words
    "long",
    "asks",  # it is a question itself
    "answer",  # the chance that the passage's answer stands in it, by a reader; 0 when it was not asked
    "answer_chance",  # … times the reader's chance that the passage answers
    "relative_chance",  # … over the best piece's
    "passage_chance",  # the reader's log-odds, over ten, that the passage answers
    "unread",  # most of it was not shown to the reader
    "meaning",  # the cosine of question and piece
    "around",  # … of question and the piece with what stands before and after it
)
READ = ("answer", "answer_chance", "relative_chance", "passage_chance", "unread")
MEANT = ("meaning", "around")
LEXICAL = tuple(name for name in SIGNALS if name not in (*READ, *MEANT))

_LONG = 300
_NEAR, _BESIDE = 3, 20
_MOST_NUMBERS = 4
_UNREAD, _LEAST = -0.4, 1e-4
_PIECES = "item"  # a count of things, whose unit may be left out
_UNTYPED = (AnswerType.OTHER, AnswerType.YES_NO)
_COUNTED = (AnswerType.NUMBER, AnswerType.TIME, AnswerType.VERSION)
_UNIT = re.compile(
    r"\bhow many ([A-Za-z]+)|(?<![가-힣])몇\s?(?![가-힣]*째)([가-힣]+|[A-Za-zµμ%/]+)|\b(percent)age\b|(비율|퍼센트)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]\W*$")


@dataclass(frozen=True, slots=True)
class _Read:
    """A piece read against a question: which terms stand in it, in its heading, in and around it, in its passage."""

    piece: Piece
    own: Places
    heading: frozenset[int]
    around: frozenset[int]
    passage: frozenset[int]


def _read(asked: Asked, pieces: Sequence[Piece]) -> list[_Read]:
    """The pieces as read against a question; each text is looked through once."""
    places = cache(asked.matcher.places)

    def one(piece: Piece) -> _Read:
        passage = piece.strip.passage
        heading, own = frozenset(places(passage.context)), places(piece.text)
        around = heading.union(own, places(_introduced_by(piece)))
        return _Read(piece, own, heading, around, heading.union(places(passage.text)))

    return [one(piece) for piece in pieces]


def _introduced_by(piece: Piece) -> str:
    """What stands before the piece and leads to it; may be empty."""
    return piece.lead or (piece.before.text if piece.before else piece.under)


def signals(asked: Asked, pieces: Sequence[Piece], analyzer: TextAnalyzer) -> list[dict[str, float]]:
    """One dictionary by ``LEXICAL`` for each piece."""
    share = asked.matcher.share
    reads = _read(asked, pieces)
    contexts = [share(set(r.around)) for r in reads]
    passages = [share(set(r.passage)) for r in reads]
    best_context, best_passage = max(contexts, default=0.0) or 1.0, max(passages, default=0.0) or 1.0
    best_strip = max((piece.strip.score for piece in pieces), default=0.0) or 1.0
    return [
        {
            "coverage": share(r.own),
            "in_context": context,
            "relative_context": context / best_context,
            "heading": share(set(r.heading)),
            "passage": passage,
            "relative_passage": passage / best_passage,
            "title_named": _named_share(r.piece.strip.passage.title, asked, analyzer),
            "adjacent": _adjacent(asked, r.own),
            "rank": r.piece.strip.score / best_strip,
            **_form(asked, r.piece),
        }
        for r, context, passage in zip(reads, contexts, passages, strict=True)
    ]


def _named_share(heading: str, asked: Asked, analyzer: TextAnalyzer) -> float:
    """The idf-weighted share of the heading's words that the question has."""
    if not asked.matcher.places(heading):
        return 0.0  # said without reading a Korean heading with a morphological analyser, which takes a second to load
    terms = analyzer.key_terms(heading)
    wanted = {term.token for term in asked.matcher.terms}
    total = sum(term.weight for term in terms)
    return sum(term.weight for term in terms if term.token in wanted) / total if total else 0.0


def _adjacent(asked: Asked, own: Places) -> float:
    pairs = [(i, i + 1) for i in range(len(asked.matcher.terms) - 1)]
    near = sum(any(abs(a - b) <= _NEAR for a in own.get(i, ()) for b in own.get(j, ())) for i, j in pairs)
    return near / len(pairs) if pairs else 0.0


def _form(asked: Asked, piece: Piece) -> dict[str, float]:
    text = piece.text
    found = quantities(f"{piece.strip.passage.context}\n{piece.lead}") if asked.quantities else ()
    here = quantities(text)
    missing = [q for q in asked.quantities if not any(q.agrees(other) for other in (*here, *found))]
    novel = [q for q in here if not any(q.agrees(known) for known in asked.quantities)]
    unit = asked_unit(asked.text)
    has_unit = float(bool(unit) and any(q.unit == unit or (unit == _PIECES and not q.unit) for q in novel))
    typed = asked.kind not in _UNTYPED
    return {
        "numbers_missing": len(missing) / len(asked.quantities) if asked.quantities else 0.0,
        "type_novel": answer_type_match(asked.kind, asked.text, text) if typed else 0.0,
        "unit": has_unit,
        "beside": _beside(asked, text, novel) if asked.kind in _COUNTED else 0.0,
        "long": min(2.0, len(text) / _LONG),
        "asks": float(_ASKS.search(text) is not None),
    }


def surroundings(pieces: Sequence[Piece]) -> list[str]:
    """Of each piece its text between what leads to it and the next piece of its passage."""
    texts = []
    for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
        is_next = after is not None and after.strip.passage.id == piece.strip.passage.id
        parts = (_introduced_by(piece), piece.text, after.text if after is not None and is_next else "")
        texts.append(" ".join(filter(None, parts)))
    return texts


def read_signals(pieces: Sequence[Piece], spans: Mapping[str, AnswerSpans]) -> list[dict[str, float]]:
    """One dictionary by ``READ`` for each piece; ``spans`` are what a reader makes of the passages, by their ids."""
    rows = [_read_piece(piece, spans.get(piece.strip.passage.id)) for piece in pieces]
    best = max((row["answer_chance"] for row in rows), default=0.0) or 1.0
    return [{**row, "relative_chance": row["answer_chance"] / best} for row in rows]


def _read_piece(piece: Piece, spans: AnswerSpans | None) -> dict[str, float]:
    if spans is None:
        return {"answer": 0.0, "answer_chance": 0.0, "passage_chance": _UNREAD, "unread": 1.0}
    start = piece.start - piece.strip.passage.start
    end = start + max(1, len(piece.text))
    inside = spans.within(start, end)
    odds = math.log(max(spans.chance, _LEAST) / max(1 - spans.chance, _LEAST))
    return {
        "answer": inside,
        "answer_chance": inside * spans.chance,
        "passage_chance": odds / 10,
        "unread": float(not spans.covers(start, end)),
    }


@lru_cache(maxsize=64)  # asked for each piece of a turn
def asked_unit(question: str) -> str:
    """The unit of the number that is asked for ("how many hours" → ``h``, "몇 mg" → ``mg``); empty when unknown."""
    match = _UNIT.search(question)
    word = next((group for group in match.groups() if group), "") if match else ""
    found = quantities(f"1 {'%' if word in ('비율', '퍼센트') else word}")
    return found[0].unit if found else ""


def _beside(asked: Asked, text: str, novel: Iterable[Quantity]) -> float:
    for quantity in list(novel)[:_MOST_NUMBERS]:
        if asked.matcher.places(text[max(0, quantity.start - _BESIDE) : quantity.end + _BESIDE]):
            return 1.0
    return 0.0
