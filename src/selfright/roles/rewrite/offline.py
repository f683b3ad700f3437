"""Queries, without a language model and by one [S3]: what was missing, and who asks.

The offline rewriter stands in whenever what comes of a model is no query.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from selfright.background import run_in_thread
from selfright.domain.answers import Focus, Message, RewriteRequest
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.passages import Hit, Language
from selfright.domain.text import has_hangul, language_of
from selfright.roles.analysis import Term, TextAnalyzer, distinct, phrases
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.questions import question_parts
from selfright.roles.rewrite.contextualize import meanings
from selfright.roles.rewrite.leaning import OWN_TOPIC, depends_on_history, only_names, without_connective
from selfright.roles.rewrite.query_text import bound_query, strip_prefix
from selfright.roles.rewrite.question_context import contextualize_question, focus
from selfright.roles.rewrite.subject import on_new_subject
from selfright.roles.rewrite.swap import swapped
from selfright.roles.similarity import SentenceSimilarity

_LONGEST_QUESTION = 220
_LONGEST_ITEM = 80
_LONGEST_PROFILE = 100
_MOST_ITEMS = 6
_KNOWN = 0.8
_KEPT = 0.5
_MOST_WEB_TERMS = 3
_ANSWERED = 0.2  # least mean of the chances of the chosen meaning and of the message alone; below it, they are noise
_LIKELY = 0.5  # a first meaning with this chance stays where the chosen one finds the same passage
# Least chances for a question that stands alone, with its own topic or brief; no outcome of the dialogues changes.
_SETTLED, _SETTLED_BRIEF = 0.4, 0.6
_AHEAD = 0.05  # the lead that another meaning than the first needs
_TOPIC_OF_PART: dict[Language, int] = {"en": 2, "ko": 3}  # key terms; Korean verbs are among them
_CONJUNCTION = re.compile(r"^(?:and|also|그리고|또한|또)\s+", re.I)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those)\b|(?:그것|이것|그거|이거|그게|이게)", re.I
)
# A capitalised word, but not for opening the sentence; a word with a capital or a digit inside; Latin amid Hangul.
_NAME = re.compile(
    r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]+|\b[A-Za-z]+(?:[A-Z]|-?\d)[\w.-]*|(?<=[가-힣]\s)[A-Za-z]{2,}|\b[A-Za-z]{2,}(?=[가-힣])"
)
_ONE_LETTER = re.compile(r"[A-Za-z]$")
_SYLLABLES = re.compile(r"[가-힣]+$")
_ITEMS = re.compile(r"\s*[,;·]\s+")

# Few words besides the content: every word of a query is also searched for.
_ESPECIALLY: dict[Language, str] = {"ko": "{question} 특히 {items}", "en": "{question} Especially: {items}"}
_PROFILED = "{question} ({profile})"


class OfflineRewriter:
    """Rewrites queries from the judge's feedback, the profile and the hits (port ``Rewriter``).

    ``grader`` tells which meaning of a follow-up the index answers, ``pack`` which names belong to its field, and
    ``likeness`` what of the question before a follow-up names another of.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        grader: OfflineGrader | None = None,
        pack: DomainPack = GENERAL,
        likeness: SentenceSimilarity | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._grader = grader
        self._pack = pack
        self._swap = partial(swapped, analyzer=analyzer, likeness=likeness) if likeness else None

    async def rewrite(self, request: RewriteRequest) -> str:
        """The question with the profile, what was missing, or its rarer words; at most 400 characters, never empty.

        It differs from the queries already tried as long as there is anything to vary.
        """
        return await asyncio.to_thread(self._rewrite, request)

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        """The topic (the rarest name, else the rarest word) and at most three more key terms, joined by blanks.

        Missing terms that the question does not have come first, then names, for what is common in the index can be
        what sets a page apart in the web.
        """
        terms = [term for term in distinct(self._analyzer.key_terms(question)) if not _ONE_LETTER.match(term.surface)]
        if not terms:
            return bound_query(strip_prefix(question) or question)
        starts = _name_starts(question)
        ranked = sorted(terms, key=lambda term: (term.start not in starts, -term.weight))
        lacking = [p for item in missing_info for p in phrases(item, self._analyzer.key_terms(item))[:1]]
        new = [item for item in lacking if self._analyzer.coverage(item, question) < _KNOWN][:_MOST_WEB_TERMS]
        own = sorted(ranked[: 1 + _MOST_WEB_TERMS - len(new)], key=lambda term: term.start)
        words = dict.fromkeys(_whole_word(question, term) for term in own)
        return bound_query(" ".join(dict.fromkeys((*words, *new))))

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        """A follow-up with what it leaves out filled in; unchanged when it stands alone. ``summary`` is not needed."""
        del summary
        return await asyncio.to_thread(contextualize_question, question, history, self._analyzer, self._swap)

    async def focus(self, message: str, follows: bool = False) -> Focus:
        """What of a message is asked, what is searched for, and what is told; see ``question_context.focus``."""
        return await run_in_thread(len(message), lambda: focus(message, self._pack, self._analyzer, follows))

    async def meanings(self, asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
        """Joined with the question before, by itself, and about the documents that the last answers cite."""
        joined = question
        if self._swap and asked != question and without_connective(asked) not in question:  # it may have been swapped
            joined = await asyncio.to_thread(contextualize_question, asked, history, self._analyzer)
        return tuple(dict.fromkeys((*([joined] if joined != question else []), *meanings(asked, question, history))))

    async def likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        """By the words of a new subject (``subject.on_new_subject``), else by the grade of the best hit."""
        return await asyncio.to_thread(self._likeliest, asked, found)

    async def settles(self, asked: str, question: str, hits: Sequence[Hit]) -> bool:
        """Whether ``asked`` stands alone, and one of the hits answers it."""
        return asked == question and await asyncio.to_thread(self._settles, asked, hits)

    def depends_on_history(self, question: str) -> bool:
        """Whether the question leaves out what it is about."""
        return depends_on_history(question, self._analyzer)

    def keeps(self, question: str, query: str) -> bool:
        """Whether ``query`` still has at least half of what ``question`` says, by the weight of its key terms."""
        terms = self._analyzer.key_terms(question)
        return not terms or self._analyzer.terms_coverage(terms, query) >= _KEPT

    def _settles(self, asked: str, hits: Sequence[Hit]) -> bool:
        if self.depends_on_history(asked):
            return False
        is_complete = len(distinct(self._analyzer.key_terms(asked))) >= OWN_TOPIC[language_of(asked)]
        return self._best_hit(asked, hits)[0] >= (_SETTLED if is_complete else _SETTLED_BRIEF)

    def _likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        first, *_ = found
        grades = {meaning: self._best_hit(meaning, hits) for meaning, hits in found.items()}
        best = max(grades, key=lambda meaning: grades[meaning][0] - (meaning != first) * _AHEAD)
        (chance, passage), (own, own_passage) = grades[best], grades[first]
        # A title alone makes much look answered: by itself the message must be about something, too.
        if chance * grades.get(asked, grades[first])[0] < _ANSWERED**2 or (own >= _LIKELY and passage == own_passage):
            best = first
        rest = without_connective(asked)
        joined = next((meaning for meaning in found if meaning != asked and rest in meaning), "")
        if best == joined and first != asked and only_names(asked, self._analyzer):
            hits = [hit for one in found.values() for hit in one]
            return on_new_subject(asked, joined, hits, self._analyzer) or joined
        return best

    def _best_hit(self, question: str, hits: Sequence[Hit]) -> tuple[float, str]:
        """The chance that the best hit answers, and its passage; 0 where nothing was found or there is no grader."""
        if self._grader is None:
            return 0.0, ""
        read = self._grader.read(question, hits)
        graded = [(chance, hit.passage.id) for chance, hit in zip(read.probabilities, read.hits, strict=True)]
        return max(graded, default=(0.0, ""))

    def _rewrite(self, request: RewriteRequest) -> str:
        tried = {query.strip() for query in (*request.tried, request.query)}
        last = request.question
        for candidate in self._candidates(request):
            last = bound_query(candidate).strip() or last
            if last not in tried:
                return last
        return last

    def _candidates(self, request: RewriteRequest) -> Iterator[str]:
        """Queries from the best to the barest; only as many are made as are looked at."""
        question = bound_query(strip_prefix(request.question) or request.query, _LONGEST_QUESTION)
        profiled = self._with_profile(question, request)
        items = self._new_items(question, request.missing_info)
        if items:
            yield _with_items(profiled, items, request.language)
            yield _with_items(question, items[: len(items) // 2 or 1], request.language)
        if not request.missing_info:
            yield profiled
        yield from self._other_words(question, request)
        yield profiled
        yield question

    def _other_words(self, question: str, request: RewriteRequest) -> Iterator[str]:
        """The question in fewer words: its open part, what it names, the rarest of that.

        Of what answers 143 questions over real documents, the first eight passages hold 122 for the question as it is
        asked, 119 for all that it names, and 95 for the rarer half, which loses the subject.
        """
        terms = distinct(self._analyzer.key_terms(question))
        if part := self._open_part(question, terms, request.missing_info):
            yield self._with_profile(part, request)
        yield self._with_profile(" ".join(phrases(question, terms)), request)
        yield " ".join(term.surface for term in _rarest(terms, min(_MOST_WEB_TERMS, len(terms) // 2)))

    def _open_part(self, question: str, terms: Sequence[Term], missing_info: Sequence[str]) -> str:
        """Of several questions in one, the one that is still open; empty if all are.

        It gets the topic of the whole unless it has one of its own: the other part's words would find the other part.
        """
        parts = question_parts(question)
        left = [part for part in parts if any(item in part or part in item for item in missing_info)]
        elsewhere = [term for term in terms if left and term.surface not in left[0]]
        if not elsewhere or len(left) == len(parts):
            return ""
        own = len(terms) - len(elsewhere)
        if own >= _TOPIC_OF_PART["ko" if has_hangul(left[0]) else "en"] and not _POINTS_BACK.search(left[0]):
            return _CONJUNCTION.sub("", left[0])
        return f"{max(elsewhere, key=lambda term: term.weight).surface} {left[0]}"

    def _with_profile(self, question: str, request: RewriteRequest) -> str:
        """The question with what is known of the user and not in it already."""
        facts = [fact.strip() for fact in _ITEMS.split(request.profile_summary) if fact.strip()]
        new = [fact for fact in facts if self._analyzer.coverage(fact, question) < _KNOWN]
        if not new:
            return question
        return _PROFILED.format(question=question, profile=bound_query(", ".join(new), _LONGEST_PROFILE))

    def _new_items(self, question: str, missing_info: Sequence[str]) -> list[str]:
        """Missing items that say more than the question does."""
        items = [bound_query(item.strip(), _LONGEST_ITEM) for item in missing_info if item.strip()]
        fresh = [i for i in items if i not in question and self._analyzer.coverage(i, question) < _KNOWN]
        return list(dict.fromkeys(fresh))[:_MOST_ITEMS]


def _whole_word(question: str, term: Term) -> str:
    """The term with the syllables before it in its word: analysers cut unknown Korean names (새|솔물류)."""
    before = _SYLLABLES.search(question, 0, term.start) if has_hangul(term.surface) else None
    return (before.group() if before else "") + term.surface


def _name_starts(question: str) -> set[int]:
    return {match.start() for match in _NAME.finditer(question)}


def _rarest(terms: Sequence[Term], most: int) -> list[Term]:
    """The rarest ``most`` terms, but at least two, in reading order."""
    rarest = sorted(terms, key=lambda term: -term.weight)[: max(2, most)]
    return sorted(rarest, key=lambda term: term.start)


def _with_items(question: str, items: Sequence[str], language: Language) -> str:
    return _ESPECIALLY[language].format(question=question, items=", ".join(items))
