"""What can be seen of a question beside an answer: which of its parts and words the answer takes up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.answers import Draft
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.evaluate.evidence import Source
from selfright.roles.evaluate.offers import offers
from selfright.roles.questions import AnswerType, answer_type, question_parts

_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]+|\b[A-Za-z]*\d[\w.-]*")


@dataclass(frozen=True, slots=True)
class PartFacts:
    """One part of a question beside the answer; shares lie in 0…1 and are weighted by idf.

    ``said``: share of the part's words in the answer itself; ``titled``: … or in title and section of what it cites;
    ``around``: … or in the passages it cites. ``names_missing``: share of its names and numbers that are in neither
    answer nor cited passages. ``rarest_missing``: whether its rarest word is in neither answer nor heading.
    ``offered``: how well the answer holds the type asked for. ``missing``: words in neither answer nor heading.
    """

    text: str
    kind: AnswerType
    weight: float
    said: float
    titled: float
    around: float
    names_missing: float
    rarest_missing: bool
    offered: float
    missing: tuple[Term, ...] = ()


def part_facts(question: str, draft: Draft, sources: Sequence[Source], analyzer: TextAnalyzer) -> list[PartFacts]:
    """The facts of each part of the question, at least one."""
    whole = analyzer.key_terms(question)
    cited = {citation.passage_id for citation in draft.citations}
    passages = [source.passage for source in sources if source.passage.id in cited]
    said = "\n".join(sentence.text for sentence in draft.sentences) or draft.text
    in_answer = set(analyzer.tokens(said))
    headings = {t for p in passages for t in analyzer.tokens(p.heading)} | {
        t for c in draft.citations for t in analyzer.tokens(f"{c.title} {c.section}")
    }
    around = {t for p in passages for t in analyzer.tokens(p.text)}
    return [
        _facts(part, analyzer.key_terms(part) or whole, said, (in_answer, in_answer | headings, in_answer | headings | around))
        for part in question_parts(question)
    ]


def _facts(part: str, terms: Sequence[Term], said: str, reach: tuple[set[str], set[str], set[str]]) -> PartFacts:
    in_answer, with_headings, anywhere = reach
    total = sum(term.weight for term in terms)

    def share(tokens: set[str]) -> float:
        return sum(term.weight for term in terms if term.token in tokens) / total if total else 0.0

    starts = {match.start() for match in _NAME.finditer(part)}
    names = [term.token for term in terms if term.start in starts]
    rarest = max(terms, key=lambda term: term.weight, default=None)
    kind = answer_type(part)
    return PartFacts(
        text=part,
        kind=kind,
        weight=total,
        said=share(in_answer),
        titled=share(with_headings),
        around=share(anywhere),
        names_missing=sum(name not in anywhere for name in names) / len(names) if names else 0.0,
        rarest_missing=rarest is not None and rarest.token not in with_headings,
        offered=offers(kind, part, said),
        missing=tuple(term for term in terms if term.token not in with_headings),
    )
