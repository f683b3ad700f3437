"""Queries without a language model: what was missing, who asks, and what the best hits talk about [S3]."""

import asyncio
import re
from collections.abc import Iterator, Sequence

from selfright.domain.answers import Message, RewriteRequest
from selfright.domain.passages import Language
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.phrases import distinct, phrases
from selfright.roles.rewrite.feedback import feedback_terms
from selfright.roles.rewrite.followup import completed
from selfright.roles.rewrite.prefixes import bounded, strip_prefix

_LONGEST_QUESTION = 220
_LONGEST_ITEM = 80
_LONGEST_PROFILE = 100
_MOST_ITEMS = 6
_KNOWN = 0.8
_MOST_WEB_TERMS = 3
_ITEMS = re.compile(r"\s*[,;·]\s+")

# Few words besides the content: every word of a query is also searched for.
_ESPECIALLY: dict[Language, str] = {"ko": "{question} 특히 {items}", "en": "{question} Especially: {items}"}
_PROFILED = "{question} ({profile})"


class OfflineRewriter:
    """Rewrites queries from the judge's feedback, the profile and the hits (port ``Rewriter``)."""

    def __init__(self, analyzer: TextAnalyzer) -> None:
        self._analyzer = analyzer

    async def rewrite(self, request: RewriteRequest) -> str:
        """The question with the profile, what was missing, or feedback terms; at most 400 characters, never empty.

        It differs from the queries already tried as long as there is anything to vary.
        """
        return await asyncio.to_thread(self._rewrite, request)

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        """The topic (the rarest word) and at most three more key terms, missing ones first, joined by blanks."""
        terms = distinct(self._analyzer.key_terms(question))
        if not terms:
            return bounded(strip_prefix(question))
        topic = max(terms, key=lambda term: term.weight)
        lacking = [p for item in missing_info for p in phrases(item, self._analyzer.key_terms(item))[:1]]
        rest = sorted((term for term in terms if term is not topic), key=lambda term: -term.weight)
        new = [item for item in lacking if self._analyzer.coverage(item, question) < _KNOWN][:_MOST_WEB_TERMS]
        own = [topic, *rest[: _MOST_WEB_TERMS - len(new)]]
        surfaces = [term.surface for term in sorted(own, key=lambda term: term.start)]
        return bounded(" ".join(dict.fromkeys((*surfaces, *new))))

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        """A follow-up with what it leaves out filled in; unchanged when it stands alone. ``summary`` is not needed."""
        del summary
        return await asyncio.to_thread(completed, question, history, self._analyzer)

    def _rewrite(self, request: RewriteRequest) -> str:
        tried = {query.strip() for query in (*request.tried, request.query)}
        last = request.question
        for candidate in self._candidates(request):
            last = bounded(candidate).strip() or last
            if last not in tried:
                return last
        return last

    def _candidates(self, request: RewriteRequest) -> Iterator[str]:
        """Queries from the best to the barest; only as many are made as are looked at."""
        question = bounded(strip_prefix(request.question) or request.query, _LONGEST_QUESTION)
        profiled = self._with_profile(question, request)
        items = self._new_items(question, request.missing_info)
        if items:
            yield _with_items(profiled, items, request.language)
            yield _with_items(question, items[: len(items) // 2 or 1], request.language)
        feedback = feedback_terms(request.question, request.hits, self._analyzer, known=" ".join(items))
        if feedback:
            yield f"{profiled} {' '.join(feedback)}"
            yield f"{question} {' '.join(feedback[:2])}"
        yield profiled
        terms = distinct(self._analyzer.key_terms(question))
        yield " ".join(phrases(question, terms))
        yield " ".join(term.surface for term in sorted(terms, key=lambda term: -term.weight)[:_MOST_WEB_TERMS])
        yield question

    def _with_profile(self, question: str, request: RewriteRequest) -> str:
        """The question with what is known of the user and not in it already."""
        facts = [fact.strip() for fact in _ITEMS.split(request.profile_summary) if fact.strip()]
        new = [fact for fact in facts if self._analyzer.coverage(fact, question) < _KNOWN]
        if not new:
            return question
        return _PROFILED.format(question=question, profile=bounded(", ".join(new), _LONGEST_PROFILE))

    def _new_items(self, question: str, missing_info: Sequence[str]) -> list[str]:
        """Missing items that say more than the question does."""
        items = [bounded(item.strip(), _LONGEST_ITEM) for item in missing_info if item.strip()]
        fresh = [i for i in items if i not in question and self._analyzer.coverage(i, question) < _KNOWN]
        return list(dict.fromkeys(fresh))[:_MOST_ITEMS]


def _with_items(question: str, items: Sequence[str], language: Language) -> str:
    return _ESPECIALLY[language].format(question=question, items=", ".join(items))
