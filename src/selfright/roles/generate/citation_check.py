"""Checks a model's answer against its evidence: what the evidence states, and which citations hold.

A citation stays only where the passage it names supports the sentence. A model may repeat whatever stands in a passage,
and what it only quotes, or says of something else, is no answer. So that a passage holds the words is not enough: they
must stand there as a statement, outside of quotation marks, in a sentence that could answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from selfright.domain.answers import Draft, Sentence
from selfright.domain.composing import cite
from selfright.domain.passages import Strip
from selfright.domain.text import language_of, sentences_of
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.answer_units import AnswerUnit, answer_units, outside_quotes
from selfright.roles.evaluate.claims import claim_facts
from selfright.roles.evaluate.scoring import SUPPORTED, claim_support, is_contradicted
from selfright.roles.generate.answer_parsing import ParsedSentence
from selfright.roles.generate.candidates import candidates
from selfright.roles.questions import AnswerType, answer_type
from selfright.roles.selection import UnitScorer
from selfright.roles.visible_text import Source, letters, sources
from selfright.roles.words import content_words

# The least support that keeps a citation. Lenient beside the judge's 0.5, for one sentence may rest on two passages,
# each of which has half of it.
LEAST_SUPPORT = 0.3
# Between two languages words cannot be compared, names and numbers can.
_MOST_NAMES_MISSING = 0.5
_MOST_QUOTED = 3
_WORTH_A_SENTENCE = 0.2


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int

    def join(self, other: "_Span") -> "_Span":
        return _Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(slots=True)
class _Bookkeeping:
    """Numbers given so far, in order of appearance, and how much of each strip is quoted."""

    spans: dict[int, _Span]
    dropped: int = 0

    def number(self, strip_number: int) -> int:
        return list(self.spans).index(strip_number) + 1


class CitationChecker:
    """Turns what a model wrote into a draft whose citations hold."""

    def __init__(self, analyzer: TextAnalyzer, least_support: float = LEAST_SUPPORT) -> None:
        self._analyzer = analyzer
        self._least = least_support

    def draft(self, parsed: Sequence[ParsedSentence], strips: Sequence[Strip]) -> Draft:
        """The draft: citations numbered from 1 as they appear, unsupported ones dropped and counted.

        A citation quotes, exactly, the sentences of its strip that support what cites it.
        """
        book = _Bookkeeping({})
        named = {n for said in parsed for n in said.numbers if 1 <= n <= len(strips)}
        read = {n: _source(strips[n - 1]) for n in named}
        sentences = [Sentence(said.text, self._supported_marks(said, read, book)) for said in parsed]
        spans = ((book.number(n), strips[n - 1].passage, span) for n, span in book.spans.items())
        citations = tuple(cite(number, passage, span.start, span.end) for number, passage, span in spans)
        return Draft(_text(parsed, sentences), tuple(sentences), citations, dropped_citations=book.dropped)

    def numbered(self, parsed: Sequence[ParsedSentence], strips: Sequence[Strip]) -> Sequence[ParsedSentence]:
        """The sentences, with numbers of the strips that clearly support them where the model, as small ones do, cited
        nothing at all."""
        if any(said.numbers for said in parsed):
            return parsed
        every = [_source(strip) for strip in strips]
        return [replace(said, numbers=self._nearest(said.text, every)) for said in parsed]

    def _nearest(self, sentence: str, found: Sequence[Source]) -> tuple[int, ...]:
        """The number of the source that says the sentence or clearly supports it by its words; none where none does."""
        facts = claim_facts(sentence, found, self._analyzer)
        if facts.verbatim:
            named = (n for n, source in enumerate(found, start=1) if source.passage.id in facts.passage_ids)
            return tuple(n for n in named if claim_facts(sentence, (found[n - 1],), self._analyzer).verbatim)[:1]
        supported = facts.nearest and not is_contradicted(facts) and claim_support(facts) >= SUPPORTED
        return (facts.nearest[0][0] + 1,) if supported else ()

    def _supported_marks(self, said: ParsedSentence, read: dict[int, Source], book: _Bookkeeping) -> tuple[int, ...]:
        kept: list[int] = []
        for n in said.numbers:
            source = read.get(n)
            if source is None or not self.supports(source, said.text):
                book.dropped += 1
                continue
            span = self._span(source, said.text)
            book.spans[n] = book.spans[n].join(span) if n in book.spans else span
            kept.append(book.number(n))
        return tuple(kept)

    def supports(self, source: Source, sentence: str) -> bool:
        """Whether the passage supports the sentence, by its words, names, numbers and negations."""
        facts = claim_facts(sentence, (source,), self._analyzer)
        if facts.verbatim:
            return True
        if is_contradicted(facts):
            return False
        if language_of(sentence) != source.passage.language:
            return facts.specific and not facts.numbers_missing and facts.names_missing <= _MOST_NAMES_MISSING
        return claim_support(facts) >= self._least

    def _span(self, source: Source, sentence: str) -> _Span:
        """Where in the document the passage supports the sentence: its best sentence, and neighbours that add to it."""
        passage = source.passage
        spans = [_Span(start, end) for start, end in sentences_of(passage.text)]
        terms = self._analyzer.key_terms(sentence)
        found = [self._weights(terms, passage.text[span.start : span.end]) for span in spans]
        if not any(found):
            return _Span(passage.start, passage.end)
        best = max(range(len(spans)), key=lambda i: sum(found[i].values()))
        known = self._weights(terms, passage.context)
        first, last = _grown(found, best, known, _WORTH_A_SENTENCE * sum(term.weight for term in terms))
        return _Span(passage.start + spans[first].start, passage.start + spans[last].end)

    def _weights(self, terms: Sequence[Term], text: str) -> dict[str, float]:
        tokens = set(self._analyzer.tokens(text))
        return {term.token: term.weight for term in terms if term.token in tokens}


def _grown(found: Sequence[dict[str, float]], best: int, known: dict[str, float], worth: float) -> tuple[int, int]:
    """First and last of at most three sentences around the best; ``known`` are words that the heading says anyway."""
    first = last = best
    covered = known | found[best]
    for _ in range(_MOST_QUOTED - 1):
        sides = [i for i in (first - 1, last + 1) if 0 <= i < len(found)]
        gains = {i: sum(w for token, w in found[i].items() if token not in covered) for i in sides}
        side = max(sides, key=lambda i: gains[i], default=None)
        if side is None or gains[side] < worth:
            break
        covered |= found[side]
        first, last = min(first, side), max(last, side)
    return first, last


def _source(strip: Strip) -> Source:
    """The strip alone as evidence, not the passage around it."""
    alone = replace(strip.passage, text=strip.text, start=strip.start, end=strip.end)
    (source,) = sources((replace(strip, passage=alone),), ())
    return source


def _text(parsed: Sequence[ParsedSentence], sentences: Iterable[Sentence]) -> str:
    """The answer as the model laid it out, its citations in our form."""
    text = ""
    for said, sentence in zip(parsed, sentences, strict=True):
        marks = " ".join(f"[{n}]" for n in sentence.citations)
        text += (said.gap if text else "") + said.text
        text += ("\n\n" if said.block else " ") + marks if marks else ""
    return text


# How far (log-odds) behind the best sentence of the evidence one may be that an answer rests on.
_FAR = 2.0
_SECRET_LETTERS = 24


@dataclass(frozen=True, slots=True)
class GroundingCheck:
    """Reads what a model wrote beside its evidence."""

    scorer: UnitScorer

    def without_quotes_and_rules(
        self, question: str, parsed: Sequence[ParsedSentence], strips: Sequence[Strip], rules: str
    ) -> list[ParsedSentence]:
        """The sentences without those that only stand in quotation marks there, and those of ``rules``, the prompt's;
        where others are left, without headings of the strips.

        None at all where each of the rest only says the question again, unless that is one of yes or no, or repeats
        sentences that are far from answering it.
        """
        secret, headings = letters(rules), {letters(strip.passage.heading) for strip in strips}
        kept = [said for said in parsed if not _repeats(secret, said.text) and not _only_quoted(said.text, strips)]
        kept = [said for said in kept if letters(said.text) not in headings] or kept
        return kept if not _only_repeats(question, kept) and self._bears(question, kept, strips) else []

    def _bears(self, question: str, parsed: Sequence[ParsedSentence], strips: Sequence[Strip]) -> bool:
        evidence = letters(" ".join(strip.text for strip in strips))
        if any(letters(said.text) not in evidence for said in parsed):
            return True
        found = candidates(question, answer_units(strips), self.scorer)
        best = max((candidate.score for candidate in found), default=0.0)
        near = [unit for one in found if one.score >= best - _FAR for unit in one.units]
        return any(_stands_in(near, said.text) for said in parsed)


def _only_repeats(question: str, parsed: Sequence[ParsedSentence]) -> bool:
    asked = content_words(question)
    return answer_type(question) is not AnswerType.YES_NO and all(content_words(said.text) == asked for said in parsed)


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


def _stands_in(units: Sequence[AnswerUnit], text: str) -> bool:
    """Whether a unit has the words, or the words have the unit."""
    said = letters(text)
    return any(said in whole or whole in said for whole in (letters(unit.text) for unit in units))
