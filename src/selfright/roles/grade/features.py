"""What the offline grader looks at: cheap signals of one question and one passage, in a fixed order.

Nothing here decides; the weights beside it do. Every signal is a number in about 0…1 so that weights can be read.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selfright.domain.passages import Passage
from selfright.domain.text import has_hangul, language_of, sentences_of
from selfright.roles.analysis import Places, TermMatcher, TextAnalyzer
from selfright.roles.evidence import visible
from selfright.roles.quantities import Quantity, quantities
from selfright.roles.questions import AnswerType, answer_type, matches_type
from selfright.roles.words import negated

FEATURES = (
    "coverage",  # idf share of the question's terms in heading and text
    "sentence_coverage",  # … in the best sentence
    "window_coverage",  # … in the best three sentences in a row
    "context_coverage",  # … in the best sentence together with the heading
    "saturation",  # BM25-like: repeats count a little, long texts count less
    "rare_pair",  # idf share of the two rarest terms
    "adjacent",  # share of neighbouring term pairs that are near each other in the text too
    "names_missing",  # share of the question's names, codes and numbers that are missing
    "numbers_missing",  # share of the question's quantities that are missing
    "type_asked",  # whether the wording asks for a visible type of answer
    "type_novel",  # … and the best sentences show one that is not in the question already
    "negation_differs",  # question and best sentence disagree in negation
    "no_terms",  # the question has no key terms
    "korean",
    "cross_language",  # no sentence is in the question's language
    "cosine",  # of question and passage; 0 when there is none
    "sentence_cosine",  # of the question and the nearest sentence
    "reader",  # the chance that the passage answers, by a reader alone; 0 when it was not asked
    "reader_logit",  # the same as log-odds over ten
    "behind_saturation",  # how far behind the best passage of the set; 0 for the best
    "behind_sentence_coverage",
    "behind_cosine",
    "behind_sentence_cosine",
    "behind_reader",
    "alone",  # the only passage of its set
)
COSINES = ("cosine", "sentence_cosine", "behind_cosine", "behind_sentence_cosine")
READER = ("reader", "reader_logit", "behind_reader")
# More of these never counts against a passage, more of those never for it.
FOR = (
    "coverage",
    "sentence_coverage",
    "window_coverage",
    "context_coverage",
    "saturation",
    "rare_pair",
    "adjacent",
    "type_novel",
    "cosine",
    "sentence_cosine",
    "reader",
    "reader_logit",
)
AGAINST = (
    "names_missing",
    "numbers_missing",
    "negation_differs",
    "behind_saturation",
    "behind_sentence_coverage",
    "behind_cosine",
    "behind_sentence_cosine",
    "behind_reader",
)
COMPARED = ("saturation", "sentence_coverage", "cosine", "sentence_cosine", "reader")
_MOST_LOGIT = 10.0

_WINDOW = 3
_SATURATION = 1.2
_TYPICAL_LENGTH = 900
_NEAR = 3
_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]*|\b\w*\d\w*\b")
_LONGEST = 12_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question read once for all its passages."""

    text: str
    matcher: TermMatcher
    kind: AnswerType
    quantities: tuple[Quantity, ...]
    names: frozenset[int]
    negated: bool
    korean: bool

    @classmethod
    def of(cls, question: str, analyzer: TextAnalyzer, *, translated: bool = False) -> "Asked":
        """Reads key terms, answer type, quantities, names and negation; ``translated``: see ``TermMatcher``."""
        terms = analyzer.key_terms(question)
        named = {match.start() for match in _NAME.finditer(question)}
        names = frozenset(i for i, term in enumerate(terms) if term.start in named or any(map(str.isdigit, term.token)))
        return cls(
            question,
            TermMatcher(analyzer, terms, translated=translated),
            answer_type(question),
            quantities(question),
            names,
            negated(question),
            has_hangul(question) and language_of(question) == "ko",
        )


@dataclass(frozen=True, slots=True)
class Read:
    """A passage read against a question: its sentences as (start, end) and the terms found in each and the heading."""

    text: str
    spans: tuple[tuple[int, int], ...]
    places: tuple[Places, ...]
    heading: Places

    @classmethod
    def of(cls, asked: Asked, passage: Passage) -> "Read":
        """Reads at most the first 12,000 characters, as readers see them."""
        text = visible(passage)[:_LONGEST]
        spans = sentences_of(text) or ((0, len(text)),)
        places = tuple(_once(text, spans, [asked.matcher.places(text[start:end]) for start, end in spans]))
        return cls(text, spans, places, asked.matcher.places(passage.context) if passage.context else {})

    def window(self, first: int) -> set[int]:
        """The terms found in ``_WINDOW`` sentences from sentence ``first`` on."""
        return set().union(*self.places[first : first + _WINDOW])

    def best_sentences(self, asked: Asked, most: int) -> list[int]:
        """The numbers of the sentences with the most of the question's terms, best first."""
        shares = [asked.matcher.share(places) for places in self.places]
        return sorted(range(len(shares)), key=lambda i: (-shares[i], i))[:most]


def _once(text: str, spans: Sequence[tuple[int, int]], places: Sequence[Places]) -> Iterator[Places]:
    """The places, none for a sentence that stood there before: saying a thing twice adds nothing."""
    said: set[str] = set()
    for (start, end), found in zip(spans, places, strict=True):
        sentence = " ".join(text[start:end].split()).casefold()
        yield {} if found and sentence in said else found
        said.add(sentence)


def features(
    asked: Asked,
    reads: Sequence[Read],
    cosines: Sequence[float | None] = (),
    scores: Sequence[float | None] = (),
    nearest: Sequence[float] | None = None,
) -> list[dict[str, float]]:
    """One dictionary by ``FEATURES`` for each passage of a set.

    ``cosines`` (-1…1) are of question and passage, ``scores`` (log-odds) a reader's; None for a passage without.
    ``nearest`` are the cosines of question and the passage's nearest sentence.
    """
    cosines, scores = cosines or [None] * len(reads), scores or [None] * len(reads)
    nearest = nearest or [0.0] * len(reads)
    rows = [
        {**_alone(asked, read), "cosine": cosine or 0.0, "sentence_cosine": near, **read_signals(score)}
        for read, cosine, near, score in zip(reads, cosines, nearest, scores, strict=True)
    ]
    return compared(rows)


def with_scores(rows: Sequence[Mapping[str, float]], scores: Sequence[float | None]) -> list[dict[str, float]]:
    """The rows of one set with a reader's scores (log-odds; None: not read) in place of those they had."""
    return compared([{**row, **read_signals(score)} for row, score in zip(rows, scores, strict=True)])


def compared(rows: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The rows of one set with what only the set can tell: how far each passage is behind the best."""
    best = {name: max(row[name] for row in rows) for name in COMPARED}
    alone = float(len(rows) == 1)
    return [{**row, **{f"behind_{name}": best[name] - row[name] for name in COMPARED}, "alone": alone} for row in rows]


def read_signals(score: float | None) -> dict[str, float]:
    """What a reader's log-odds say by themselves; None when it was not asked."""
    if score is None:
        return {"reader": 0.0, "reader_logit": 0.0}
    bounded = max(-_MOST_LOGIT, min(_MOST_LOGIT, score)) if math.isfinite(score) else math.nan
    return {"reader": 1 / (1 + math.exp(-bounded)), "reader_logit": bounded / _MOST_LOGIT}


def _alone(asked: Asked, read: Read) -> dict[str, float]:
    return {
        **_coverages(asked, read),
        **_rarity(asked, read),
        **_answer_signals(asked, read),
        "no_terms": float(not asked.matcher.terms),
        "korean": float(asked.korean),
        "cross_language": float(_is_foreign(asked, read)),
    }


def _is_foreign(asked: Asked, read: Read) -> bool:
    """Whether no sentence is in the question's language: one in another language does not make a passage foreign."""
    return all(asked.korean != (language_of(read.text[start:end]) == "ko") for start, end in read.spans)


def _coverages(asked: Asked, read: Read) -> dict[str, float]:
    share = asked.matcher.share
    anywhere = set(read.heading).union(*read.places)
    norm = _SATURATION * (0.4 + 0.6 * len(read.text) / _TYPICAL_LENGTH)
    counts = {i: sum(len(places.get(i, ())) for places in read.places) + (i in read.heading) for i in anywhere}
    gained = sum(asked.matcher.weights[i] * n / (n + norm) for i, n in counts.items())
    return {
        "coverage": share(anywhere),
        "sentence_coverage": max(share(places) for places in read.places),
        "window_coverage": max(share(read.window(i)) for i in range(len(read.places))),
        "context_coverage": max(share(places.keys() | read.heading.keys()) for places in read.places),
        "saturation": gained / asked.matcher.total if asked.matcher.total else 0.0,
    }


def _rarity(asked: Asked, read: Read) -> dict[str, float]:
    weights = asked.matcher.weights
    anywhere = set(read.heading).union(*read.places)
    rarest = sorted(range(len(weights)), key=lambda i: -weights[i])[:2]
    pair = sum(weights[i] for i in rarest)
    return {
        "rare_pair": sum(weights[i] for i in rarest if i in anywhere) / pair if pair else 0.0,
        "adjacent": _adjacent(asked, read),
        "names_missing": _missing_share(asked.names, anywhere),
    }


def _missing_share(wanted: frozenset[int], found: set[int]) -> float:
    return len(wanted - found) / len(wanted) if wanted else 0.0


def _adjacent(asked: Asked, read: Read) -> float:
    pairs = [(i, i + 1) for i in range(len(asked.matcher.terms) - 1)]
    near = sum(any(_are_near(places, i, j) for places in read.places) for i, j in pairs)
    return near / len(pairs) if pairs else 0.0


def _are_near(places: Places, i: int, j: int) -> bool:
    return any(abs(a - b) <= _NEAR for a in places.get(i, ()) for b in places.get(j, ()))


def _answer_signals(asked: Asked, read: Read) -> dict[str, float]:
    sentence = read.best_sentences(asked, 1)[0]
    start = read.spans[max(0, sentence - 1)][0]
    end = read.spans[min(len(read.spans) - 1, sentence + 1)][1]
    window = read.text[start:end]
    found = quantities(window)
    novel = tuple(q for q in found if not any(q.agrees(known) for known in asked.quantities))
    is_asked = asked.kind not in (AnswerType.OTHER, AnswerType.YES_NO)
    unmatched = [q for q in asked.quantities if not any(q.agrees(other) for other in _all_quantities(asked, read))]
    best = read.text[slice(*read.spans[sentence])]
    return {
        "numbers_missing": len(unmatched) / len(asked.quantities) if asked.quantities else 0.0,
        "type_asked": float(is_asked),
        "type_novel": matches_type(asked.kind, window, novel) if is_asked else 0.0,
        "negation_differs": float(asked.negated != negated(best)),
    }


def _all_quantities(asked: Asked, read: Read) -> Sequence[Quantity]:
    return quantities(read.text) if asked.quantities else ()
