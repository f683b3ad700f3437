"""What can be seen of a question beside an answer: which of its parts and words the answer takes up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.answers import Draft, Sentence
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.evaluate.evidence import Source
from selfright.roles.matching import TermMatcher
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
        headings = {c.n: frozenset(analyzer.tokens(f"{c.title} {c.section}")) for c in draft.citations}
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
