"""Follow-up questions made to stand alone: what they leave out is taken from the user's earlier questions."""

import re
from collections.abc import Sequence

from selfright.domain.answers import Message
from selfright.domain.text import language_of
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.phrases import distinct, phrases
from selfright.roles.rewrite.prefixes import bounded

_MOST_TURNS = 6
_MOST_TOPIC_TERMS = 4

# Openings and whole messages that say something only as a reply to what was asked before.
_ELLIPSIS = re.compile(
    r"^\s*(?:(?:and|but|so|then|ok(?:ay)?|also)[\s,]+)?(?:what|how) about\b|^\s*(?:and|then|so)\b[\s,]"
    r"|^\s*(?:why|how so|how come|really|for example|such as|like what|when|where|which ones?|who)(?: not)?\s*\?*\s*$"
    r"|^\s*(?:please |can you |could you )?(?:tell me more|explain (?:more|further|that|it)|elaborate|go on|continue"
    r"|more details?|any(?:thing)? (?:else|more|others?))\b|^\s*what else\b|^\s*are there any others?\b"
    r"|^\s*(?:그럼|그러면|그렇다면|그리고|그런데|그래서|근데|또|또는|그 ?외에|그 ?밖에|다른 (?:것|건|거))(?![가-힣])"
    r"|^\s*(?:더|좀 더|조금 더|자세히|더 자세히|구체적으로|쉽게|다시)\s*(?:자세히\s*)?"
    r"(?:설명|알려|말해|얘기|이야기|풀어)"
    r"|^\s*(?:왜|어떻게|언제|어디서|누가|얼마나)(?:요|죠|인가요|그런가요|그래요?)?\s*\?*\s*$|^\s*예를 들[면어]",
    re.IGNORECASE,
)
_PERSONAL = r"(?:it|they|them|he|she|him)"
_POSSESSIVE = r"(?:its|their|his|her)"
_PRONOUN = re.compile(rf"\b(?P<personal>{_PERSONAL})\b(?!['’])|\b(?P<possessive>{_POSSESSIVE})\b", re.IGNORECASE)
_KOREAN_POINTING = re.compile(
    r"(?<![가-힣])(?:그것|이것|저것|그거|이거|그건|이건|그게|이게|그걸|이걸|거기|여기|그녀|그들|그분|걔|얘)(?:들)?"
    r"(?P<particle>은|는|이|가|을|를|의|도|만|에|에서|로|으로|와|과|에게|한테|까지|부터)?(?![가-힣])"
    r"|(?<![가-힣])(?:그|이|저|해당|위의?|앞의) (?=[가-힣]+)"
)
_NAMES = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]*(?:\s+(?:of\s+|the\s+|de\s+)?[A-Z0-9][\w-]*)*")
_DUMMY_IT = re.compile(
    r"\b(?:it (?:is|was|will be|would be|'s)|(?:is|was|be|makes?|find) it)\b.{1,30}\b(?:to|that|when|if)\b"
    r"|\b(?:does|did|will|would) it (?:take|cost|matter|hurt|feel|help)\b.{0,30}\b(?:to|that|when|if)\b",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"^\s*(?:(?:그럼|그러면|그렇다면|그리고|그런데|그래서|근데)[\s,]+|(?:and|but|so|then|ok(?:ay)?|also)[\s,]+)",
    re.IGNORECASE,
)


def completed(question: str, history: Sequence[Message], analyzer: TextAnalyzer) -> str:
    """``question`` with what it leaves out filled in from the last six questions; unchanged when it stands alone."""
    asked = [message.content for message in history if message.role == "user" and message.content.strip()]
    context = ""
    for earlier in asked[-_MOST_TURNS:]:
        context = _completed(earlier, context, analyzer)
    return _completed(question, context, analyzer)


def depends_on_history(question: str, analyzer: TextAnalyzer) -> bool:
    """Whether the question leaves out what it is about: an ellipsis, a word that points back, or no topic at all."""
    if _ELLIPSIS.search(question):
        return True
    terms = analyzer.key_terms(question)
    if not terms:
        return True
    return _points_back(question)


def _points_back(question: str) -> bool:
    if language_of(question) == "ko":
        return _KOREAN_POINTING.search(question) is not None
    pronoun = _PRONOUN.search(question)
    if pronoun is None or _DUMMY_IT.search(question):
        return False
    return not _has_antecedent(question, pronoun.start())


def _has_antecedent(question: str, position: int) -> bool:
    """Whether a name before the pronoun can be what it stands for ("How did Bell prove that he …")."""
    return re.search(r"(?<!^)\b[A-Z][a-z]+", question[:position]) is not None


def _completed(question: str, context: str, analyzer: TextAnalyzer) -> str:
    if not context or not depends_on_history(question, analyzer):
        return question
    own = {term.token for term in analyzer.key_terms(question)}
    topic = [term for term in distinct(analyzer.key_terms(context)) if term.token not in own]
    if not topic:
        return question
    return bounded(_joined(question, context, topic))


def _joined(question: str, context: str, topic: Sequence[Term]) -> str:
    words = " ".join(phrases(context, _weightiest(topic)))
    rest = _CONNECTIVE.sub("", question).strip()
    if language_of(question) == "ko":
        return _joined_korean(rest, words)
    subject = _subject(context, topic)
    pronoun = _PRONOUN.search(rest)
    if subject and pronoun and not _ELLIPSIS.search(rest):
        filled = f"{subject}'s" if pronoun["possessive"] else subject
        return f"{rest[: pronoun.start()]}{filled}{rest[pronoun.end() :]}"
    return f"{words}: {rest}"


def _joined_korean(rest: str, words: str) -> str:
    pointing = _KOREAN_POINTING.search(rest)
    if not pointing or _ELLIPSIS.search(rest):
        return f"{words} {rest}"
    gap = "" if pointing["particle"] else " "
    tail = rest[pointing.end() :].lstrip() if gap else rest[pointing.end() :]
    return f"{rest[: pointing.start()]}{words}{gap}{pointing['particle'] or ''}{tail}"


def _weightiest(topic: Sequence[Term]) -> list[Term]:
    return sorted(topic, key=lambda term: -term.weight)[:_MOST_TOPIC_TERMS]


def _subject(context: str, topic: Sequence[Term]) -> str:
    """What can stand for a pronoun: a name of the context, or its only topic; empty when that is not clear."""
    surfaces = {term.surface for term in topic}
    for name in (match.group() for match in _NAMES.finditer(context)):
        if any(surface in name for surface in surfaces):
            return name
    found = phrases(context, topic)
    return found[0] if len(found) == 1 else ""
