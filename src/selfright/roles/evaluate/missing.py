"""What an answer lacks, in words that can be searched for: words of the question, and points of the evidence."""

import re
from collections.abc import Iterator, Sequence

from selfright.domain.answers import Draft
from selfright.domain.markup import plain
from selfright.domain.text import has_hangul
from selfright.roles.analysis import Term, TextAnalyzer, distinct, phrases
from selfright.roles.evaluate.evidence import Source
from selfright.roles.evaluate.parts import PartFacts
from selfright.roles.matching import TermMatcher

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
    heading = set(matcher.places(source.passage.heading))
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
