"""Whether a question leans on the conversation before it, and on what: an ellipsis, a word that points back, or too
little topic of its own.
"""

import re
from collections.abc import Sequence

from selfright.domain.passages import Language
from selfright.domain.text import language_of
from selfright.roles.analysis import Term, TextAnalyzer, distinct

OWN_TOPIC: dict[Language, int] = {"en": 2, "ko": 4}  # key terms of a complete question; Korean verbs are among them

# Openings and whole messages that say something only as a reply to what was asked before.
ELLIPSIS = re.compile(
    r"^\s*(?:(?:and|but|so|then|ok(?:ay)?|also)[\s,]+)?(?:what|how) about\b|^\s*(?:and|then|so)\b[\s,]"
    r"|^\s*(?:why|how so|how come|really|for example|such as|like what|when|where|which ones?|who)(?: not)?\s*\?*\s*$"
    r"|^\s*any(?:thing)? (?:else|more|others?)\b|^\s*what else\b|^\s*are there any others?\b"
    r"|^\s*(?:그럼|그러면|그렇다면|그리고|그런데|그래서|근데|또|또는|그 ?외에|그 ?밖에|다른 (?:것|건|거))(?![가-힣])"
    r"|^\s*(?:왜|어떻게|언제|어디서|누가|얼마나)(?:요|죠|인가요|그런가요|그래요?)?\s*\?*\s*$|^\s*예를 들[면어]",
    re.IGNORECASE,
)
# Whole questions that need more than one word of topic to be about something: "How can I apply?", "언제 먹나요?"
_THIN = re.compile(
    r"^\s*(?:(?:for|at|by|until|since|from|in|on|to|with)\s+)?(?:how|which|when|where|who|why|can|could|do|does|did|is|are|was|were|should|will|would|has|have|had)\b"
    r"|^\s*(?:언제|어떻게|왜|어디서|어디에|누가|얼마나|몇)(?![가-힣])|^\s*[가-힣]+[은는](?:요)?\s*\?*\s*$",
    re.IGNORECASE,
)
_TOPIC_ONLY = re.compile(r"[가-힣]+[은는](?:요)?\s*\?*\s*$")
_PERSON = r"(?:he|she|him)"
_POSSESSIVE = r"(?:its|their|his|her)"
_PRONOUN = re.compile(
    rf"\b(?P<personal>it|they|them|{_PERSON})\b(?!['’])|\b(?P<possessive>{_POSSESSIVE})\b", re.IGNORECASE
)
OF_A_PERSON = re.compile(rf"{_PERSON}|his|her", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(
    r"\b(?:this|these)\b(?!\s+(?:year|month|week|weekend|day|morning|afternoon|evening|time of)\b)"
    r"|\b(?:is|was|does|did|can|will|should) that\b|\bthat\W*$",
    re.IGNORECASE,
)
KOREAN_POINTING = re.compile(
    r"(?<![가-힣])(?:그것|이것|저것|그거|이거|그건|이건|그게|이게|그걸|이걸|거기|여기|그녀|그들|그분|걔|얘)(?:들)?"
    r"(?P<particle>은|는|이|가|을|를|의|도|만|에|에서|로|으로|와|과|에게|한테|까지|부터)?(?![가-힣])"
    r"|(?<![가-힣])(?:그|이|저|해당|위의?|앞의) (?=[가-힣]+)"
)
_DUMMY_IT = re.compile(
    r"\b(?:it (?:is|was|will be|would be|'s)|(?:is|was|be|makes?|find) it)\b.{1,30}\b(?:to|that|when|if)\b"
    r"|\b(?:does|did|will|would) it (?:take|cost|matter|hurt|feel|help)\b.{0,30}\b(?:to|that|when|if)\b"
    r"|\b(?:does|did|will|would) it (?:rain|snow|hail)\b"
    r"|\b(?:is|was) it (?:raining|snowing|hot|cold|dark|late|early)\b",
    re.IGNORECASE,
)
_NEW_CLAUSE = re.compile(
    r"[,;:?.!]|\b(?:and|but|or|if|when|while|after|before|because|since|so|that|what|how|why|where|who|which|until"
    r"|once|than)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:after|before|when|while|if|once|until|because|since|that)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_CONNECTIVE = re.compile(
    r"^\s*(?:(?:그럼|그러면|그렇다면|그리고|그런데|그래서|근데)[\s,]+|(?:and|but|so|then|ok(?:ay)?|also)[\s,]+)",
    re.IGNORECASE,
)


def depends_on_history(question: str, analyzer: TextAnalyzer) -> bool:
    """Whether the question leaves out what it is about: an ellipsis, a word that points back, or too little topic."""
    terms = analyzer.key_terms(question)
    if not terms or ELLIPSIS.search(question):
        return True
    return _is_thin(question, terms) or _points_back(question, analyzer)


def only_names(question: str, analyzer: TextAnalyzer) -> bool:
    """Whether a follow-up only names something: "What about dogs?", "교재는?", "Tarn Hut: What about dogs?"."""
    elliptic = ELLIPSIS.search(question.rpartition(": ")[2]) or _TOPIC_ONLY.search(question)
    return bool(elliptic and analyzer.key_terms(question)) and not _points_back(question, analyzer)


def without_connective(question: str) -> str:
    """Without an "and" or "그럼" at its beginning."""
    return _CONNECTIVE.sub("", question).strip()


def _is_thin(question: str, terms: Sequence[Term]) -> bool:
    """Whether a whole question has only one word of topic, and that is no name."""
    is_thin = len(distinct(terms)) == 1 and not terms[0].surface[:1].isupper()
    return is_thin and _THIN.search(question) is not None


def _points_back(question: str, analyzer: TextAnalyzer) -> bool:
    if language_of(question) == "ko":
        return KOREAN_POINTING.search(question) is not None
    pronoun, demonstrative = _PRONOUN.search(question), _DEMONSTRATIVE.search(question)
    if pronoun and not _DUMMY_IT.search(question) and not _has_antecedent(question, pronoun, analyzer):
        return True
    return demonstrative is not None and not _has_antecedent(question, demonstrative, analyzer)


def _has_antecedent(question: str, pointing: re.Match[str], analyzer: TextAnalyzer) -> bool:
    """Whether the question says before what the word stands for: a name, or for a thing the topic of another clause."""
    head = question[: pointing.start()]
    if re.search(r"(?<!^)\b[A-Z][a-z]+", head):
        return True
    topic = [term.start for term in analyzer.key_terms(question) if term.start < pointing.start()]
    if not topic or OF_A_PERSON.fullmatch(pointing.group()):
        return False
    if _SUBORDINATE.search(head, topic[0]):
        return True
    return len(topic) > 1 and _NEW_CLAUSE.search(head, topic[1] + 1) is not None


def is_whole(question: str, rest: str, analyzer: TextAnalyzer) -> bool:
    """Whether behind its connective a question is complete: it has its own topic, and asks in a whole sentence."""
    terms = analyzer.key_terms(rest)
    if rest == question.strip() or len(distinct(terms)) < OWN_TOPIC[language_of(question)]:
        return False
    if ELLIPSIS.search(rest) or _TOPIC_ONLY.search(rest) or _points_back(rest, analyzer):
        return False
    return language_of(question) == "ko" or _THIN.search(rest) is not None


def open_pronoun(question: str, analyzer: TextAnalyzer) -> re.Match[str] | None:
    """The pronoun that a name can stand in for."""
    pronoun = None if ELLIPSIS.search(question) else _PRONOUN.search(question)
    return None if pronoun and _has_antecedent(question, pronoun, analyzer) else pronoun
