"""How directly each piece of the evidence answers: a linear model over its signals, weights in ``weights.json``.

The weights are written by ``training/fit_selection.py``, which asks of them that, among all pieces of the evidence, the
one that holds the answer comes first. Scores are log-odds: comparable within one question, not between questions. Some
features of document layout no training set has: keys of tables, names in code, headings, bylines. Their weights are set
by hand, on the same scale.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from selfright.domain.ports import PairJudge
from selfright.domain.text import has_hangul
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.extractive_units import Piece
from selfright.roles.generate.signals import read_signals, signals, surroundings
from selfright.roles.grade.features import Asked
from selfright.roles.grade.networks import answer_spans
from selfright.roles.likeness import Likeness
from selfright.roles.questions import AnswerType

BY_HAND = {
    "key_code": 2.5,  # the row or entry has a code or a number as its key, and the question names it
    "code_novel": 1.0,  # a name in code is asked for, and here is one that is not in the question
    "code_block": -1.0,  # a block of code where no name in code is asked for
    "subject_defined": 2.0,  # a definition is asked for, and this defines all of what was asked
    "in_range": 2.0,  # a number of the question lies in a range that a row or entry begins with
    "unended": -1.5,  # prose without an end: a byline, a label, a heading that lost its mark
}

_CODE_ASKED = re.compile(
    r"\b(?:codes?|commands?|methods?|functions?|class(?:es)?|options?|settings?|keys?|propert(?:y|ies)|parameters?|flags?"
    r"|variables?|names?|annotations?|exceptions?|artifacts?|modules?|call|type|field)\b"
    r"|코드|명령|메서드|함수|클래스|옵션|설정|키|속성|매개변수|플래그|변수|이름|애너테이션|예외|좌표|모듈|호출|필드",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]+)`|\b([A-Z]{1,6}-?\d{1,6}|[a-z]+[A-Z]\w*|\w+(?:\.\w+)+\(?|\w+\(\))(?![\w.])")
_DIGIT = re.compile(r"\d")
_KEYED_ENTRY = re.compile(r"(?:\d{1,3}[.)] )?([^:：.]{1,40})[:：]\s")
_SAYS_WHAT = re.compile(
    r"^.{0,50}?(?:\b(?:is|are|was|were|means|refers to|stands for)\b"
    r"|[은는이란]\s.+(?:이다|입니다|말한다|말합니다|뜻한다|뜻합니다)\.)"
)
# Straight behind the word that is defined, an explanation in brackets apart.
_IS = re.compile(r"\s*(?:\([^()]{1,60}\)\s*)?(?:(?:is|are|was|were|means|refers to|stands for)\b|(?:은|는|란|이란)\s)")
_KOREAN_SAYS_WHAT = re.compile(r"(?:이다|입니다|이에요|예요|말한다|말합니다|뜻한다|뜻합니다|(?P<stem>[가-힣])다)\.?$")
_RANGE = re.compile(r"(?<![\d.,-])(\d{1,9}(?:\.\d{1,4})?)\s?[-–~∼]\s?(\d{1,9}(?:\.\d{1,4})?)(?![\d-]|\.\d)")
_PLAIN_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,4})?")
_NAME_OF_CELL = re.compile(r"^[^:;]{1,40}: ")
_ENDED = re.compile(r"[.!?…。:：;][\"'”’)\]»*_`]*$")
_LONGEST_KEY = 60
_LOOSELY = 0.25
_OPENING = 40


def feature_values(asked: Asked, piece: Piece) -> dict[str, float]:
    """The signals named in ``BY_HAND``, each in 0…1."""
    key = _key(piece)
    wants_code = _CODE_ASKED.search(asked.text) is not None
    return {
        "key_code": float(bool(_DIGIT.search(key)) and _stands_in(key, asked.text)),
        "code_novel": float(wants_code and _names_code(asked.text, piece)),
        "code_block": float(piece.kind == "code" and not wants_code and asked.kind is not AnswerType.MANNER),
        "subject_defined": _defines(asked, piece) if asked.kind is AnswerType.DEFINITION else 0.0,
        "in_range": float(piece.kind in ("row", "item") and _holds_number(asked, piece.text)),
        "unended": float(piece.kind == "sentence" and not _ENDED.search(piece.text)),
    }


def feature_score(asked: Asked, piece: Piece) -> float:
    """What the signals add to a piece's score."""
    found = feature_values(asked, piece)
    return sum(weight * found[name] for name, weight in BY_HAND.items())


def _holds_number(asked: Asked, text: str) -> bool:
    ranges = [(float(low), float(high)) for low, high in _RANGE.findall(text)]
    numbers = [float(q.value) for q in asked.quantities if _PLAIN_NUMBER.fullmatch(q.value)] if ranges else []
    return any(low <= number <= high for low, high in ranges for number in numbers)


def _key(piece: Piece) -> str:
    """The first cell of a row, or what stands before the colon of an entry; else empty."""
    if piece.kind == "row":
        return _NAME_OF_CELL.sub("", piece.text.split("; ")[0], count=1)
    entry = _KEYED_ENTRY.match(piece.text) if piece.kind == "item" else None
    return entry.group(1) if entry else ""


def _stands_in(key: str, question: str) -> bool:
    if len(key) > _LONGEST_KEY:
        return False
    return re.search(rf"(?<![\w.-]){re.escape(key)}(?![A-Za-z0-9]|[.-]\w)", question, re.IGNORECASE) is not None


def _defines(asked: Asked, piece: Piece) -> float:
    """1 where the words asked about open the sentence and it says what they are; less where it tells a part of them.

    "FxStore is a library" defines FxStore; "The version of FxStore is 0.3.0" opens with it and does not.
    """
    opening = piece.text[:_OPENING].casefold()
    surfaces = [term.surface.casefold() for term in asked.matcher.terms]
    if piece.kind != "sentence" or not surfaces or not all(surface in opening for surface in surfaces):
        return 0.0
    end = max(opening.index(surface) + len(surface) for surface in surfaces)
    if _IS.match(piece.text, end) and (not has_hangul(piece.text) or _korean_copula(piece.text)):
        return 1.0
    return _LOOSELY if _SAYS_WHAT.search(piece.text) else 0.0


def _korean_copula(text: str) -> bool:
    """Whether a sentence ends in "is": after a vowel that is a bare 다, which verbs have after a consonant only."""
    found = _KOREAN_SAYS_WHAT.search(text)
    return found is not None and (not found["stem"] or (ord(found["stem"]) - ord("가")) % 28 == 0)


def _names_code(question: str, piece: Piece) -> bool:
    passage = piece.strip.passage
    raw = passage.text[piece.start - passage.start : piece.end - passage.start]
    known = question.casefold()
    return any((name.group(1) or name.group(2)).casefold() not in known for name in _CODE.finditer(raw))


Signals = Mapping[str, float]

_LOOKED_AROUND = 12  # embedding what stands around a piece takes about 10 ms


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights of the signals, by what is known beside the words: nothing (``lexical``), what the reader named
    ``reader`` says (``read``), how like the question the encoder named ``embedder`` finds a piece (``meant``), or
    ``both``.
    """

    reader: str
    embedder: str
    lexical: Signals
    read: Signals
    meant: Signals
    both: Signals

    def weights(self, *, was_read: bool, is_meant: bool) -> Signals:
        """Those for what is known."""
        if is_meant:
            return self.both if was_read else self.meant
        return self.read if was_read else self.lexical


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """A piece's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class PieceScorer:
    """Scores pieces. ``reader`` is asked where the answer stands in their passages, and ``likeness`` how near each is
    to the question, if the weights know them.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        reader: PairJudge | None = None,
        likeness: Likeness | None = None,
        model: SelectionModel | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._reader = reader if reader is not None and reader.name == self._model.reader else None
        self._likeness = likeness if likeness is not None and likeness.name == self._model.embedder else None

    @property
    def knows_meaning(self) -> bool:
        """Whether pieces are compared with the question by an encoder."""
        return self._likeness is not None

    def judge(self, questions: Sequence[Asked], pieces: Sequence[Piece]) -> list[list[ScoredPiece]]:
        """A list per question with one judgement per piece."""
        return [self._judged(asked, pieces) for asked in questions]

    def _judged(self, asked: Asked, pieces: Sequence[Piece]) -> list[ScoredPiece]:
        rows: list[Signals] = list(signals(asked, pieces, self._analyzer))
        passages = {piece.strip.passage.id: piece.strip.passage for piece in pieces}
        spans = answer_spans(asked, list(passages.values()), self._reader)
        if spans:
            rows = [{**row, **read} for row, read in zip(rows, read_signals(pieces, spans), strict=True)]
        like = self._likeness.cosines(asked.text, [piece.text for piece in pieces]) if self._likeness else None
        weights = self._model.weights(was_read=bool(spans), is_meant=bool(like))
        if like:
            rows = [{**row, "meaning": cosine, "around": 0.0} for row, cosine in zip(rows, like, strict=True)]
            rows = self._looked_around(asked, pieces, rows, weights)
        return [
            ScoredPiece(_score(weights, row) + feature_score(asked, piece), row["in_context"])
            for row, piece in zip(rows, pieces, strict=True)
        ]

    def _looked_around(
        self, asked: Asked, pieces: Sequence[Piece], rows: Sequence[Signals], weights: Signals
    ) -> list[Signals]:
        """The rows with what stands around the pieces that are ahead so far; the others get the least of those."""
        scores = [_score(weights, row) for row in rows]
        ahead = sorted(range(len(rows)), key=lambda at: -scores[at])[:_LOOKED_AROUND]
        texts = surroundings(pieces)
        near = self._likeness.cosines(asked.text, [texts[at] for at in ahead]) if self._likeness else None
        found = dict(zip(ahead, near or (), strict=False))
        least = min(found.values(), default=0.0)
        return [{**row, "around": found.get(at, least)} for at, row in enumerate(rows)]


def _score(weights: Signals, row: Signals) -> float:
    return sum(weight * row[name] for name, weight in weights.items())


@cache
def shipped_model() -> SelectionModel:
    """The model that ships with the package."""
    stored = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return SelectionModel(*(stored[field.name] for field in fields(SelectionModel)))
