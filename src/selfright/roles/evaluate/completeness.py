"""How complete an answer is: which parts and words of the question it takes up, what it lacks, whether it answers.

What it lacks is told in words that can be searched for: words of the question, and points of the evidence. Whether it
answers, where it is in the documents' own words, tells the network that reads a question beside passages: it reads the
answer in a passage's place. Of other answers it says nothing: what only repeats the question looks to it like an
answer, and a bare name does not. Of right and wrong answers to four sets it knows more (mean AUC 0.76) than shared
words do (0.66 on five).
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.answers import Citation, Draft, Sentence
from selfright.domain.markup import plain
from selfright.domain.passages import Passage
from selfright.domain.ports import PairJudge
from selfright.domain.text import has_hangul, language_of
from selfright.roles.analysis import Term, TermMatcher, TextAnalyzer, distinct, phrases
from selfright.roles.evidence import Source, heading_above
from selfright.roles.grade.networks import read_pairs
from selfright.roles.questions import answer_type, answer_type_match, question_parts

_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]+|\b[A-Za-z]*\d[\w.-]*")


@dataclass(frozen=True, slots=True)
class PartFacts:
    """One part of a question beside the answer; shares lie in 0…1 and are weighted by idf.

    ``titled``: share of the part's words in the answer or in title and section of what it cites; ``direct``: as
    ``titled``, but within what the answer takes from one passage; ``names_missing``: share of its names and numbers
    that neither the answer nor the cited passages have; ``offered``: how well the answer holds the type asked for;
    ``terms``: the part's words; ``missing``: those that are in neither answer nor headings.
    """

    text: str
    weight: float
    titled: float
    direct: float
    names_missing: float
    offered: float
    terms: tuple[Term, ...] = ()
    missing: tuple[Term, ...] = ()


def part_facts(question: str, draft: Draft, sources: Sequence[Source], analyzer: TextAnalyzer) -> list[PartFacts]:
    """The facts of each part of the question, at least one."""
    whole = analyzer.key_terms(question)
    reach = _Reach.of(draft, sources, analyzer)
    return [_facts(part, analyzer.key_terms(part) or whole, reach, analyzer) for part in question_parts(question)]


@dataclass(frozen=True, slots=True)
class _Reach:
    """The words of an answer: ``units`` hold what it takes from one passage, with that passage's heading."""

    text: str
    said: frozenset[str]
    units: tuple[frozenset[str], ...]
    passages: tuple[str, ...]

    @classmethod
    def of(cls, draft: Draft, sources: Sequence[Source], analyzer: TextAnalyzer) -> "_Reach":
        sentences = draft.sentences or (Sentence(draft.text),)
        passages = {source.passage.id: source.passage for source in sources}
        headings = {c.n: frozenset(analyzer.tokens(_headings(c, passages))) for c in draft.citations}
        units = dict(headings)
        loose: list[frozenset[str]] = []
        for sentence in sentences:
            tokens = frozenset(analyzer.tokens(sentence.text))
            for n in sentence.citations:
                units[n] = units.get(n, frozenset()) | tokens
            if not sentence.citations:
                loose.append(tokens)
        cited = {citation.passage_id for citation in draft.citations}
        return cls(
            "\n".join(sentence.text for sentence in sentences),
            frozenset(token for sentence in sentences for token in analyzer.tokens(sentence.text)),
            (*units.values(), *loose),
            tuple(source.passage.text for source in sources if source.passage.id in cited),
        )


def _headings(citation: Citation, passages: Mapping[str, Passage]) -> str:
    """What the cited text stands under: title, section, and the last heading inside its passage."""
    passage = passages.get(citation.passage_id)
    inside = heading_above(passage, citation.start) if passage else ""
    return f"{citation.title} {citation.section} {inside}"


def _facts(part: str, terms: Sequence[Term], reach: _Reach, analyzer: TextAnalyzer) -> PartFacts:
    titled = reach.said.union(*reach.units)
    total = sum(term.weight for term in terms)

    def share(tokens: frozenset[str]) -> float:
        return sum(term.weight for term in terms if term.token in tokens) / total if total else 1.0

    starts = {match.start() for match in _NAME.finditer(part)}
    names = [term for term in terms if term.start in starts]
    return PartFacts(
        text=part,
        weight=total,
        titled=share(titled),
        direct=max(map(share, reach.units)),
        names_missing=_share_absent(names, titled, reach.passages, analyzer),
        offered=answer_type_match(answer_type(part), part, reach.text),
        terms=tuple(terms),
        missing=tuple(term for term in terms if term.token not in titled),
    )


def _share_absent(
    names: Sequence[Term], titled: frozenset[str], passages: Sequence[str], analyzer: TextAnalyzer
) -> float:
    """The share of the names that stand neither among the words ``titled`` nor in the passages."""
    unseen = TermMatcher(analyzer, [name for name in names if name.token not in titled])
    found = {at for text in passages for at in unseen.places(text)} if unseen.terms else set()
    return (len(unseen.terms) - len(found)) / len(names) if names else 0.0


MOST_POINTS = 6
_MOST_WORDS = 4
_LONGEST = 60
_LONGEST_READ = 600
_SHORTEST = 3
_NOVEL = 0.6
_RELEVANT = 0.3
_COMMA = re.compile(r"[,;，、]\s+(?![^()]*\))")
_HEAD = re.compile(r"^([^:：.]{1,40})[:：]\s+")
# Less than this share of a part's words, and nothing of it is answered.
_TOUCHED = 0.4
_LONGEST_PART = 80
_GAP = re.compile(r"[^,;:?!.()，。]{0,14}")
_KOREAN_ENDING = re.compile(r"[가-힣]+")
_PARTICLE = re.compile(
    r"(?:은|는|이|가|을|를|의|에|에서|에는|에게|한테|께|로|으로|와|과|랑|도|만|까지|부터|처럼|보다|이나|나|마다)+"
)
_TAIL = re.compile(r"[\s.!?。]+$")


def missing_words(parts: Sequence[PartFacts]) -> list[str]:
    """What of the question the answer leaves open, as the question writes it: a whole part, or the words left out."""
    several = len(parts) > 1
    return list(dict.fromkeys(item for part in parts for item in _open(part, several)))


def missing_names(parts: Sequence[PartFacts]) -> list[str]:
    """The names and codes in Latin letters that are left open of a Korean question: an answer in English would write
    them alike. Of other words in another language nobody can tell."""
    found = (term.surface for part in parts if has_hangul(part.text) for term in part.missing if term.token.isascii())
    return list(dict.fromkeys(found))


def _open(part: PartFacts, several: bool) -> list[str]:
    if several and part.titled < _TOUCHED and len(part.text) <= _LONGEST_PART:
        return [_TAIL.sub("", part.text)]
    return _stretches(part)


def _stretches(part: PartFacts) -> list[str]:
    """Missing words together with the light words between them, until a word that is taken up or a comma comes."""
    missing = {term.token for term in part.missing}
    runs: list[tuple[int, int]] = []
    joins = False
    for term in distinct(part.terms):
        start, end = term.start, term.start + len(term.surface)
        if term.token in missing:
            if joins and _GAP.fullmatch(part.text, runs[-1][1], start):
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
        joins = term.token in missing
    words = (part.text[start : _word_end(part.text, end)] for start, end in runs)
    return [word for word in words if len(word) > 1]


def _word_end(text: str, end: int) -> int:
    """``end`` moved past the ending of a Korean word, unless that is only a particle."""
    ending = _KOREAN_ENDING.match(text, end)
    return end if ending is None or _PARTICLE.fullmatch(ending.group()) else ending.end()


def missing_points(question: str, draft: Draft, sources: Sequence[Source], analyzer: TextAnalyzer) -> list[str]:
    """What the evidence says on the question and the answer does not, at most six short phrases."""
    terms = analyzer.key_terms(question)
    matcher = TermMatcher(analyzer, terms)
    said = set(analyzer.tokens(draft.text))
    points: dict[str, None] = {}
    for source in sources:
        for sentence in _bearing(source, matcher):
            fresh = (phrase for phrase in _phrases(sentence, terms, analyzer) if _novel(phrase, said, analyzer))
            points.update(dict.fromkeys(fresh))
        if len(points) >= MOST_POINTS:
            break
    return list(points)[:MOST_POINTS]


def _bearing(source: Source, matcher: TermMatcher) -> Iterator[str]:
    """The sentences that name something of the question, where they and their neighbours name a fair share of it."""
    sentences = [text for text in source.sentences if not text.startswith(("#", "|", "`", "~~~"))]
    heading = set(matcher.places(source.passage.context))
    found = [set(matcher.places(text)) for text in sentences]
    for at, sentence in enumerate(sentences):
        around = heading.union(*found[max(0, at - 1) : at + 2])
        if found[at] and matcher.share(around) >= _RELEVANT:
            yield sentence


def _phrases(sentence: str, terms: Sequence[Term], analyzer: TextAnalyzer) -> Iterator[str]:
    """The sentence cut at its commas; a head that only repeats the question ("Side effects of X:") is left out."""
    text = _TAIL.sub("", plain(sentence[:_LONGEST_READ]))
    head = _HEAD.match(text)
    if head and analyzer.terms_coverage(terms, head.group(1)) > 0:
        text = text[head.end() :]
    keeps_head = head is not None and text.startswith(head.group())
    clauses = [text] if keeps_head and len(text) <= _LONGEST else _COMMA.split(text)
    for clause in clauses:
        short = clause if len(clause) <= _LONGEST else _gist(clause, analyzer)
        if len(short) >= _SHORTEST:
            yield short


def _gist(clause: str, analyzer: TextAnalyzer) -> str:
    """The weightiest words of a long clause, neighbours together."""
    best = sorted(analyzer.key_terms(clause), key=lambda term: -term.weight)[:_MOST_WORDS]
    return " ".join(phrases(clause, best))


def _novel(phrase: str, said: set[str], analyzer: TextAnalyzer) -> bool:
    terms = analyzer.key_terms(phrase)
    total = sum(term.weight for term in terms)
    new = sum(term.weight for term in terms if term.token not in said)
    return total > 0 and new / total >= _NOVEL


class AnswerReader:
    """``reader`` is used if the weights (``weights.json``, by ``training/fit_answering.py``) were fitted on it."""

    def __init__(self, reader: PairJudge | None = None) -> None:
        stored = weights()
        self._reader = reader if reader is not None and reader.name == stored["reader"] else None
        self._weight, self._intercept = float(stored["weight"]), float(stored["intercept"])

    def chance(self, parts: Sequence[str], draft: Draft) -> float | None:
        """How far (0…1) the draft answers: the mean, over the parts of a question that can be answered, of how probable
        it is that it answers them; None when nobody read it."""
        scores = [self.score(part, draft) for part in parts]
        chances = [1 / (1 + math.exp(-(self._weight * s + self._intercept))) for s in scores if s is not None]
        return sum(chances) / len(chances) if chances and len(chances) == len(parts) else None

    def score(self, question: str, draft: Draft) -> float | None:
        """What the reader makes of the draft, as log-odds."""
        if self._reader is None or language_of(question) not in self._reader.languages:
            return None
        read = read_pairs(self._reader, question, [shown(draft)])
        return read[0].score if read and math.isfinite(read[0].score) else None


def shown(draft: Draft) -> str:
    """The draft's sentences under the titles and sections that they are cited from."""
    headings = (" > ".join(filter(None, (citation.title, citation.section))) for citation in draft.citations)
    said = [sentence.text for sentence in draft.sentences] or [draft.text]
    return "\n".join([*filter(None, dict.fromkeys(headings)), *said])


@cache
def weights() -> Mapping[str, Any]:
    """The weights that ship with the package."""
    stored: Mapping[str, Any] = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return stored
