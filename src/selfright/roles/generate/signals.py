"""What the choice of sentences looks at: cheap signals of each piece of the evidence, in a fixed order."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.roles.analysis import TextAnalyzer
from selfright.roles.generate.pieces import Piece
from selfright.roles.generate.shapes import named_share
from selfright.roles.grade.features import Asked
from selfright.roles.matching import Places
from selfright.roles.offers import offers
from selfright.roles.quantities import Quantity, quantities
from selfright.roles.questions import AnswerType, matches_type

SIGNALS = (
    "coverage",  # idf share of the question's terms in the piece
    "relative",  # … over the best piece's
    "in_context",  # … in the piece, its lead-in, its heading and the piece before it
    "relative_context",
    "before",  # … in the piece before it
    "after",  # … in the piece after it
    "heading",  # … in title and section
    "passage",  # … in the whole passage with its heading
    "relative_passage",
    "title_named",  # the share of the title's own words that the question has
    "adjacent",  # share of neighbouring term pairs of the question that are near each other here too
    "names_missing",  # share of the question's names, codes and numbers missing here and around
    "numbers_missing",  # share of the question's quantities missing here and in the heading
    "rank",  # the strip's score over the best strip's
    "best_here",  # no piece of its passage has more of the question's terms
    "after_best",  # it directly follows the one that has most
    "type_asked",  # the wording asks for a visible type of answer
    "type_novel",  # … and this shows one that is not in the question already
    "unit",  # a quantity in the unit asked for
    "unit_lacking",  # a unit is asked for, and no quantity has it
    "beside",  # a number that is not in the question stands next to one of its words
    "defines",  # a definition is asked for, and this opens with the word in question and says what it is
    "first",  # the passage's first piece
    "short",
    "long",
    "asks",  # it is a question itself
    "cosine",  # with the question; 0 when there is none
    "relative_cosine",
)
LEXICAL = tuple(name for name in SIGNALS if "cosine" not in name)

_SHORT, _LONG = 40, 300
_NEAR, _BESIDE = 3, 20
_MOST_NUMBERS = 4
_OPENING = 40
_PIECES = "item"  # a count of things, whose unit may be left out
_UNTYPED = (AnswerType.OTHER, AnswerType.YES_NO)
_COUNTED = (AnswerType.NUMBER, AnswerType.TIME, AnswerType.VERSION)
_UNIT = re.compile(
    r"\bhow many ([A-Za-z]+)|(?<![가-힣])몇\s?(?![가-힣]*째)([가-힣]+|[A-Za-zµμ%/]+)|\b(percent)age\b|(비율|퍼센트)", re.I
)
_ASKS = re.compile(r"[?？]\W*$")


@dataclass(frozen=True, slots=True)
class Read:
    """A piece read against a question: which terms stand in it and around it."""

    piece: Piece
    own: Places
    before: Places
    after: Places
    heading: Places
    passage: Places

    @property
    def around(self) -> set[int]:
        """The terms in the piece, its heading and what leads to it."""
        return self.own.keys() | self.before.keys() | self.heading.keys()


def signals(asked: Asked, pieces: Sequence[Piece], analyzer: TextAnalyzer) -> list[dict[str, float]]:
    """One dictionary by ``SIGNALS`` for each piece; cosines are 0, ``with_cosines`` adds them."""
    reads = _read(asked, pieces)
    share = asked.matcher.share
    shares = [share(read.own) for read in reads]
    contexts = [share(read.around) for read in reads]
    passages = [share(read.passage.keys() | read.heading.keys()) for read in reads]
    tops: dict[str, float] = {}
    for read, own in zip(reads, shares, strict=True):
        name = read.piece.strip.passage.id
        tops[name] = max(tops.get(name, 0.0), own)
    best_strip = max((piece.strip.score for piece in pieces), default=0.0) or 1.0
    rows = []
    for at, (read, own) in enumerate(zip(reads, shares, strict=True)):
        passage = read.piece.strip.passage
        follows = at > 0 and reads[at - 1].piece.strip.passage is passage
        rows.append(
            {
                "coverage": own,
                "relative": own / (max(shares) or 1.0),
                "in_context": contexts[at],
                "relative_context": contexts[at] / (max(contexts) or 1.0),
                "before": share(read.before),
                "after": share(read.after),
                "heading": share(read.heading),
                "passage": passages[at],
                "relative_passage": passages[at] / (max(passages) or 1.0),
                "title_named": named_share(passage.title, asked, analyzer),
                "adjacent": _adjacent(asked, read.own),
                "names_missing": len(asked.names - read.around) / len(asked.names) if asked.names else 0.0,
                "rank": read.piece.strip.score / best_strip,
                "best_here": float(0 < own >= tops[passage.id]),
                "after_best": float(follows and 0 < shares[at - 1] >= tops[passage.id]),
                "first": float(not follows),
                **_form(asked, read.piece),
            }
        )
    return rows


def with_cosines(rows: Sequence[dict[str, float]], cosines: Sequence[float]) -> list[dict[str, float]]:
    """The rows with the cosines of question and piece."""
    best = max(cosines, default=0.0)
    return [{**row, "cosine": c, "relative_cosine": c - best} for row, c in zip(rows, cosines, strict=True)]


def _read(asked: Asked, pieces: Sequence[Piece]) -> list[Read]:
    places = asked.matcher.places
    known: dict[str, Places] = {"": {}}

    def found(text: str) -> Places:
        if text not in known:
            known[text] = places(text)
        return known[text]

    reads = []
    for at, piece in enumerate(pieces):
        passage = piece.strip.passage
        previous = piece.lead or (piece.before.text if piece.before else "")
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        after = following.text if following and following.strip.passage is passage else ""
        reads.append(
            Read(piece, found(piece.text), found(previous), found(after), found(passage.heading), found(passage.text))
        )
    return reads


def _adjacent(asked: Asked, own: Places) -> float:
    pairs = [(i, i + 1) for i in range(len(asked.matcher.terms) - 1)]
    near = sum(any(abs(a - b) <= _NEAR for a in own.get(i, ()) for b in own.get(j, ())) for i, j in pairs)
    return near / len(pairs) if pairs else 0.0


def _form(asked: Asked, piece: Piece) -> dict[str, float]:
    text = piece.text
    found = quantities(f"{piece.strip.passage.heading}\n{piece.lead}") if asked.quantities else ()
    here = quantities(text)
    missing = [q for q in asked.quantities if not any(q.agrees(other) for other in (*here, *found))]
    novel = [q for q in here if not any(q.agrees(known) for known in asked.quantities)]
    unit = asked_unit(asked.text)
    has_unit = float(bool(unit) and any(q.unit == unit or (unit == _PIECES and not q.unit) for q in novel))
    typed = asked.kind not in _UNTYPED
    return {
        "numbers_missing": len(missing) / len(asked.quantities) if asked.quantities else 0.0,
        "type_asked": float(typed),
        "type_novel": offers(asked.kind, asked.text, text) if typed else 0.0,
        "unit": has_unit,
        "unit_lacking": float(bool(unit)) - has_unit,
        "beside": _beside(asked, text, novel) if asked.kind in _COUNTED else 0.0,
        "defines": _defines(asked, text) if asked.kind is AnswerType.DEFINITION else 0.0,
        "short": max(0.0, 1 - len(text) / _SHORT),
        "long": min(2.0, len(text) / _LONG),
        "asks": float(_ASKS.search(text) is not None),
        "cosine": 0.0,
        "relative_cosine": 0.0,
    }


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


def _defines(asked: Asked, text: str) -> float:
    opening = text[:_OPENING].casefold()
    opens = any(term.surface.casefold() in opening for term in asked.matcher.terms)
    return matches_type(AnswerType.DEFINITION, text) if opens else 0.0
