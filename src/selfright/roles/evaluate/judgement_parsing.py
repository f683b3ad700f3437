"""What a model said of an answer, read strictly: nothing is guessed, and nothing comes out better than it went in.

Field names are those of SPEC section 7, also as ``…_score``, in camelCase and in Korean. ``overall`` is never read: it
follows from the three scores.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import AnswerQuality, ClaimStatus
from selfright.domain.tables import read_table
from selfright.domain.value_parsing import score, strings, truth
from selfright.roles.evaluate.scoring import Scores
from selfright.roles.visible_text import letters

T = TypeVar("T")


def _meanings(kind: str) -> dict[str, str]:
    """What each name of that kind means."""
    table = read_table(__package__, "judgement_parsing")[kind]
    return {name: meant for meant, names in table.items() for name in names.split()}


_FIELD, _CLAIM_FIELD = _meanings("fields"), _meanings("claim_fields")
_LABELS = {name: AnswerQuality(meant) for name, meant in _meanings("labels").items()}
_STATUSES = {name: ClaimStatus(meant) for name, meant in _meanings("statuses").items()}

# A judge that gives no label, but scores: below the first an answer is taken for an invention, and only with all of the
# second and a stated confidence for a good one.
_INVENTED, _GOOD = 0.3, 0.7
_DIGITS = re.compile(r"\s?\[?([0-9]{1,4})\]?\s?")
_MOST_CLAIMS = 60
_MOST_PASSAGES = 20
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class SaidClaim:
    """What the model said of one sentence; ``passages`` are numbers as it was shown them."""

    text: str
    status: ClaimStatus
    passages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the model said of an answer. ``quality`` and ``confidence`` are None where it did not say."""

    scores: Scores
    quality: AnswerQuality | None
    confidence: float | None
    missing: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    wants_retrieval: bool = False
    reason: str = ""
    claims: tuple[SaidClaim, ...] = ()

    @property
    def label(self) -> AnswerQuality:
        """The label given, or the worst that the scores allow; an adequate answer needs its judge's word for it."""
        if self.quality is not None:
            return self.quality
        if min(self.scores.grounding, self.scores.accuracy) < _INVENTED:
            return AnswerQuality.HALLUCINATION
        least = min(self.scores.grounding, self.scores.completeness, self.scores.accuracy)
        good = least >= _GOOD and self.confidence is not None
        return AnswerQuality.ADEQUATE if good else AnswerQuality.NEEDS_DOCS


def read_judgement(data: Mapping[str, Any]) -> Judgement:
    """Reads the object that a model gave; what it says beside the fields is passed over.

    Raises ``JudgeFailed`` when a score is missing, out of range or no number, when label or confidence are given and
    cannot be read, and when a field is given twice (under two names, or one level down) with different values.
    """
    said: dict[str, list[Any]] = {}
    for name, value in _fields(data):
        said.setdefault(name, []).append(value)
    return Judgement(
        scores=Scores(*(_required_score(said, name) for name in ("grounding", "completeness", "accuracy"))),
        quality=_read_consistent(said, "quality", _label),
        confidence=_read_consistent(said, "confidence", score),
        missing=_phrases(said, "missing"),
        suggestions=_phrases(said, "suggestions"),
        wants_retrieval=any(map(_wants, said.get("retrieval", ()))),
        reason=next((text for text in said.get("reason", ()) if isinstance(text, str)), "").strip()[:_LONGEST_REASON],
        claims=tuple(claim for value in said.get("claims", ()) for claim in _claims(value)),
    )


def _fields(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The known fields, those of objects one level down too (``{"scores": {…}}``)."""
    for key, value in data.items():
        field = _FIELD.get(letters(str(key)))
        if field is not None:
            yield field, value
        elif isinstance(value, Mapping):
            inner = ((_FIELD.get(letters(str(k))), v) for k, v in value.items())
            yield from ((name, v) for name, v in inner if name is not None)


def _required_score(said: Mapping[str, list[Any]], name: str) -> float:
    value = _read_consistent(said, name, score)
    if value is None:
        raise JudgeFailed(f"the judge gave no {name}: a score from 0 to 1 was expected; ask it again")
    return value


def _read_consistent(said: Mapping[str, list[Any]], name: str, read: Callable[[object], T]) -> T | None:
    try:
        values = [read(value) for value in said.get(name, ())]
    except ValueError as error:
        raise JudgeFailed(f"the judge's {name} cannot be used: {error}") from error
    if any(value != values[0] for value in values):
        raise JudgeFailed(f"the judge gave two values for {name}; ask it again")
    return values[0] if values else None


def _label(value: object) -> AnswerQuality:
    label = _LABELS.get(letters(value[:40])) if isinstance(value, str) else None
    if label is None:
        raise ValueError(f"expected one of {', '.join(AnswerQuality)}; ask the judge again")
    return label


def _phrases(said: Mapping[str, list[Any]], name: str) -> tuple[str, ...]:
    found: list[str] = []
    for value in said.get(name, ()):
        try:
            found += strings(value)
        except ValueError:
            continue  # advice that cannot be read helps nobody, and harms no judgement
    return tuple(dict.fromkeys(found))


def _wants(value: object) -> bool:
    try:
        return truth(value)
    except ValueError:
        return True  # the worse reading


def _claims(value: object) -> Iterator[SaidClaim]:
    for item in value[:_MOST_CLAIMS] if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            said = {_CLAIM_FIELD.get(letters(str(key)), ""): given for key, given in item.items()}
            if isinstance(said.get("text"), str):
                yield SaidClaim(said["text"], _status(said.get("status")), _numbers(said.get("passages")))


def _status(value: object) -> ClaimStatus:
    known = _STATUSES.get(letters(value[:40])) if isinstance(value, str) else None
    return known or ClaimStatus.UNKNOWN


def _numbers(value: object) -> tuple[int, ...]:
    items = value[:_MOST_PASSAGES] if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(number for item in items if (number := _number(item))))


def _number(item: object) -> int:
    """A passage's number, 0 for what is none."""
    if isinstance(item, str):
        digits = _DIGITS.fullmatch(item)
        return int(digits[1]) if digits else 0
    return item if isinstance(item, int) and not isinstance(item, bool) and item > 0 else 0
