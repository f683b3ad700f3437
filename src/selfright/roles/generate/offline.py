"""An answer without a language model: the sentences of the evidence that answer, in their own words, each cited.

Small talk gets short fixed replies.
"""

import asyncio
import math
import re
from collections.abc import Sequence

from selfright.domain.answers import Draft, GenerationRequest, Sentence
from selfright.domain.chat import OnText
from selfright.domain.codes import codes_in, is_named
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Language
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.answer_units import AnswerUnit, StatementType, statement_type
from selfright.roles.generate.candidates import Candidate, candidates, choose_answer, choose_summary
from selfright.roles.generate.layout import draft_of
from selfright.roles.generate.warnings import with_warnings
from selfright.roles.relevant_units import units_for
from selfright.roles.selection import UnitScorer
from selfright.roles.summarize import first_asked
from selfright.roles.talk import reply

_NOTHING: dict[Language, str] = {
    "en": "I found nothing in the documents that answers this question.",
    "ko": "문서에서 이 질문에 답할 만한 내용을 찾지 못했습니다.",
}


def nothing_found(language: Language) -> str:
    """The sentence that stands in for an answer when the evidence holds none."""
    return _NOTHING[language]


# Below both, nothing of the question is in the evidence and no judge believed in the strip either. Words of another
# language cannot be in it, so there a judge need only find it likelier than most.
_LEAST_COVERAGE = 0.15
_LEAST_STRIP_SCORE = 0.5
_LEAST_FOREIGN_SCORE = 0.1

# Of 37 questions of two field sets with candidates in both languages, 17 are answered in one of them only: from 0.1 to
# 0.5 the right one is taken for 16, by the candidates' scores alone for 12 at 0.5 and for 16 at best.
_FOREIGN_AHEAD = 0.3

_LEAST_WORTH = 1e-6

_LONGEST_PREDECESSOR = 220
# A sentence that opens like this speaks of what the sentence before it named.
_DANGLING = re.compile(
    r"(?:it|its|they|them|their|these|those|this|that|he|she|his|her|such|both|the (?:former|latter)|however|but|also"
    r"|therefore|thus|hence|instead|moreover|furthermore|in addition|as a result|consequently|otherwise)\b"
    r"|(?:이는|이것|이들|이를|이와|그는|그녀|그것|그들|그의|이러한|그러한|이런|그런|그러나|하지만|그래서|그러므로|따라서|또한|또|반면"
    r"|게다가|한편|즉|그 (?:결과|때문|밖|후)|이 (?:때문|경우|중|때))",
    re.IGNORECASE,
)


class OfflineGenerator:
    """Extracts the answer (port ``Generator``): what ``scorer`` finds most direct."""

    def __init__(self, analyzer: TextAnalyzer, scorer: UnitScorer | None = None) -> None:
        self._scorer = scorer or UnitScorer(analyzer)

    @property
    def needs_documents(self) -> bool:
        """Always: it can only repeat what documents say."""
        return True

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        """One to five sentences (a summary: up to eight), the most direct answer first, or a refusal."""
        draft = with_warnings(await self._draft(request), request)
        if on_text is not None:
            on_text(draft.text)
        return draft

    async def _draft(self, request: GenerationRequest) -> Draft:
        if request.query_class is QueryClass.CHITCHAT:
            said = [message.content.strip() for message in request.history if message.role == "user"]
            text = reply(request.question, request.language, [*first_asked(request.summary), *said])
            return Draft(text, (Sentence(text),))
        return await asyncio.to_thread(self._write, request)

    def _write(self, request: GenerationRequest) -> Draft:
        language = request.language
        units = units_for(request.question, request.strips)
        telling = [unit for unit in units if unit.kind == "item" or _states(request.question, unit)]
        found = candidates(request.question, telling or units, self._scorer, request.hits)
        found = _in_one_language(found, request.question, language)
        if request.query_class is QueryClass.SUMMARY and request.strips:
            chosen = choose_summary(found)
        else:
            chosen = _in_order(choose_answer(found))
        related = request.query_class is QueryClass.SUMMARY or self._scorer.knows_meaning or _relevant(found, language)
        if not chosen or not related:
            text = nothing_found(language)
            return Draft(text, (Sentence(text),), refused=True)
        return draft_of([group for candidate in chosen for group in _with_predecessor(candidate, chosen)])


def _states(question: str, unit: AnswerUnit) -> bool:
    return statement_type(question, unit.text, "row" if unit.kind == "row" else "sentence") < StatementType.SPEAKS_OF


def _in_one_language(found: list[Candidate], question: str, language: Language) -> list[Candidate]:
    """The candidates in the question's language; those in another where the best of them is clearly ahead.

    What does not answer is found alike in all languages, and would be told in a mixture of them. Where codes are all
    that is asked, a text in the question's language that names one is enough.
    """
    own = [candidate for candidate in found if candidate.units[0].strip.passage.language == language]
    foreign = [candidate for candidate in found if candidate.units[0].strip.passage.language != language]
    if not own or not foreign:
        return found
    codes = codes_in(question)
    if len(question.split()) == len(codes) and any(is_named(code, one.units[0].text) for code in codes for one in own):
        return own
    return foreign if _standing(foreign) - _standing(own) >= _FOREIGN_AHEAD else own


def _standing(found: Sequence[Candidate]) -> float:
    """How good the best candidate is, and the strip that it stands in, which knows the grade of its passage."""
    best = max(found, key=lambda candidate: candidate.score)
    return (best.score + math.log(max(best.units[0].strip.score, _LEAST_WORTH))) / 2


def _relevant(found: Sequence[Candidate], language: Language) -> bool:
    """Whether words say that anything of it speaks of the question; asked where meaning is not known."""
    coverage = max((candidate.coverage for candidate in found), default=0.0)
    strips = [unit.strip for candidate in found for unit in candidate.units]
    score = max((strip.score for strip in strips), default=0.0)
    foreign = max((strip.score for strip in strips if strip.passage.language != language), default=0.0)
    return coverage >= _LEAST_COVERAGE or score >= _LEAST_STRIP_SCORE or foreign >= _LEAST_FOREIGN_SCORE


def _in_order(chosen: list[Candidate]) -> list[Candidate]:
    """The most direct answer first, the rest as the documents have it: the best one's document, then the others."""
    if not chosen:
        return []
    best, *rest = chosen
    documents = [candidate.units[0].strip.passage.document_id for candidate in chosen]
    rest.sort(key=lambda c: (documents.index(c.units[0].strip.passage.document_id), c.units[0].start))
    return [best, *rest]


def _with_predecessor(candidate: Candidate, chosen: Sequence[Candidate]) -> list[tuple[AnswerUnit, ...]]:
    """The candidate, after the sentence that its opening word points back to, unless that one is said anyway."""
    first = candidate.units[0]
    before = first.before
    if before is None or not before.text or not _DANGLING.match(first.text):
        return [candidate.units]
    said = any(unit.start == before.start and unit.text == before.text for c in chosen for unit in c.units)
    return [candidate.units] if said or len(before.text) > _LONGEST_PREDECESSOR else [(before,), candidate.units]
