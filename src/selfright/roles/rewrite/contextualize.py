"""Follow-up questions made to stand alone: what they leave out is taken from the conversation before them.

What the user asked comes first. The assistant's replies only tell who or what it is about when the user never did.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from selfright.domain.answers import Message
from selfright.domain.passages import Language
from selfright.domain.text import language_of
from selfright.domain.turns import MAX_QUESTION_CHARACTERS
from selfright.roles.analysis import Term, TextAnalyzer, distinct, phrases
from selfright.roles.restating import again
from selfright.roles.rewrite.query_text import bound_query
from selfright.roles.talk import act_of

_MOST_MESSAGES = 12
_MOST_TOPIC_TERMS = 4
_MOST_NAMES = 50
_MOST_TITLES = 2
_LONGEST_REPLY = 400  # its beginning names what it is about
_ASKED, _REPLIED = 2.0, 1.0  # what a mention weighs
_OWN_TOPIC: dict[Language, int] = {"en": 2, "ko": 4}  # key terms of a complete question; Korean verbs are among them

# Openings and whole messages that say something only as a reply to what was asked before.
_ELLIPSIS = re.compile(
    r"^\s*(?:(?:and|but|so|then|ok(?:ay)?|also)[\s,]+)?(?:what|how) about\b|^\s*(?:and|then|so)\b[\s,]"
    r"|^\s*(?:why|how so|how come|really|for example|such as|like what|when|where|which ones?|who)(?: not)?\s*\?*\s*$"
    r"|^\s*any(?:thing)? (?:else|more|others?)\b|^\s*what else\b|^\s*are there any others?\b"
    r"|^\s*(?:그럼|그러면|그렇다면|그리고|그런데|그래서|근데|또|또는|그 ?외에|그 ?밖에|다른 (?:것|건|거))(?![가-힣])"
    r"|^\s*(?:왜|어떻게|언제|어디서|누가|얼마나)(?:요|죠|인가요|그런가요|그래요?)?\s*\?*\s*$|^\s*예를 들[면어]",
    re.IGNORECASE,
)
# Whole questions that need more than one word of topic to be about something: "How can I apply?", "언제 먹나요?"
_THIN = re.compile(
    r"^\s*(?:how|which|when|where|who|why|can|could|do|does|did|is|are|was|were|should|will|would|has|have|had)\b"
    r"|^\s*(?:언제|어떻게|왜|어디서|어디에|누가|얼마나|몇)(?![가-힣])|^\s*[가-힣]+[은는](?:요)?\s*\?*\s*$",
    re.IGNORECASE,
)
_TOPIC_ONLY = re.compile(r"[가-힣]+[은는](?:요)?\s*\?*\s*$")
_PERSON = r"(?:he|she|him)"
_POSSESSIVE = r"(?:its|their|his|her)"
_PRONOUN = re.compile(
    rf"\b(?P<personal>it|they|them|{_PERSON})\b(?!['’])|\b(?P<possessive>{_POSSESSIVE})\b", re.IGNORECASE
)
_OF_A_PERSON = re.compile(rf"{_PERSON}|his|her", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(
    r"\b(?:this|these)\b(?!\s+(?:year|month|week|weekend|day|morning|afternoon|evening|time of)\b)", re.IGNORECASE
)
_KOREAN_POINTING = re.compile(
    r"(?<![가-힣])(?:그것|이것|저것|그거|이거|그건|이건|그게|이게|그걸|이걸|거기|여기|그녀|그들|그분|걔|얘)(?:들)?"
    r"(?P<particle>은|는|이|가|을|를|의|도|만|에|에서|로|으로|와|과|에게|한테|까지|부터)?(?![가-힣])"
    r"|(?<![가-힣])(?:그|이|저|해당|위의?|앞의) (?=[가-힣]+)"
)
_NAMES = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]*(?:\s+(?:of\s+|the\s+|de\s+)?[A-Z0-9][\w-]*)*")
_REPLY_NAMES = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|and|&)\s+){0,2}[A-Z0-9][\w'’-]*)*")
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


def contextualize_query(question: str, history: Sequence[Message], analyzer: TextAnalyzer) -> str:
    """``question`` with what it leaves out filled in from the last messages; unchanged when it stands alone."""
    focus = _Focus()
    for message in recent(history):
        if message.role != "user":
            focus.reply(message, analyzer)
        elif not has_no_topic(message.content):
            focus.ask(message.content, analyzer)
    if again(question):
        return focus.question or question
    return question if act_of(question) else _complete(question, focus, analyzer)


def has_no_topic(message: str) -> bool:
    """Whether it is small talk, or asks for the answer before once more."""
    return again(message) is not None or act_of(message) is not None


def meanings(asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
    """What ``asked`` may mean besides ``question``: itself, and itself about what the last answers cite."""
    if has_no_topic(asked):
        return ()
    cited = (message.citations[0].title for message in reversed(history) if message.citations)
    titles = list(dict.fromkeys(title for title in cited if title))[:_MOST_TITLES]
    about = (f"{title}: {asked}" for title in titles if title not in question)
    said = (asked, *(one for one in about if language_of(one) == language_of(asked)))
    return tuple(meaning for meaning in said if meaning != question)


def recent(history: Sequence[Message]) -> list[Message]:
    """The last 12 messages that say something, each as far as a question may be long."""
    said = [message for message in history if message.content and not message.content.isspace()][-_MOST_MESSAGES:]
    return [replace(message, content=message.content[:MAX_QUESTION_CHARACTERS]) for message in said]


def depends_on_history(question: str, analyzer: TextAnalyzer) -> bool:
    """Whether the question leaves out what it is about: an ellipsis, a word that points back, or too little topic."""
    terms = analyzer.key_terms(question)
    if not terms or _ELLIPSIS.search(question):
        return True
    return _is_thin(question, terms) or _points_back(question, analyzer)


def only_names(question: str, analyzer: TextAnalyzer) -> bool:
    """Whether a follow-up only names something: "What about dogs?", "교재는?", "Tarn Hut: What about dogs?"."""
    elliptic = _ELLIPSIS.search(question.rpartition(": ")[2]) or _TOPIC_ONLY.search(question)
    return bool(elliptic and analyzer.key_terms(question)) and not _points_back(question, analyzer)


def without_connective(question: str) -> str:
    """Without an "and" or "그럼" at its beginning."""
    return _CONNECTIVE.sub("", question).strip()


@dataclass(slots=True)
class _Focus:
    """What the conversation is about: the last question as it stands alone, and the names said so far, counted.

    ``inherited``: that question was itself a follow-up.
    """

    question: str = ""
    inherited: bool = False
    names: dict[str, float] = field(default_factory=dict)

    def ask(self, question: str, analyzer: TextAnalyzer) -> None:
        """Takes in a question of the user."""
        completed = _complete(question, self, analyzer)
        self.inherited, self.question = depends_on_history(question, analyzer), completed
        self.mention(question, _ASKED, analyzer)

    def reply(self, message: Message, analyzer: TextAnalyzer) -> None:
        """Takes in an answer; the question that was looked up for it is what the user's question meant."""
        if message.question and not has_no_topic(message.question):
            self.question, self.inherited = message.question, False
        self.mention(message.content[:_LONGEST_REPLY], _REPLIED, analyzer)

    def mention(self, text: str, weight: float, analyzer: TextAnalyzer) -> None:
        """Weighs the names of ``text``."""
        for name in _names(text, analyzer):
            if name in self.names or len(self.names) < _MOST_NAMES:
                self.names[name] = self.names.get(name, 0.0) + weight

    def name(self) -> str:
        """What was named most, and lately; empty when nothing was."""
        return max(self.names, key=lambda name: self.names[name], default="")


def _names(text: str, analyzer: TextAnalyzer) -> Iterator[str]:
    """Words with capitals from the first on that carries meaning."""
    terms = analyzer.key_terms(text)
    for match in _REPLY_NAMES.finditer(text):
        start, end = match.span()
        inside = [term.start for term in terms if start <= term.start < end]
        name = re.sub(r"['’]s$", "", text[inside[0] : end]).strip(" .,'’-") if inside else ""
        if len(name) > 1 and name[0].isupper():
            yield name


def _is_thin(question: str, terms: Sequence[Term]) -> bool:
    """Whether a whole question has only one word of topic, and that is no name."""
    is_thin = len(distinct(terms)) == 1 and not terms[0].surface[:1].isupper()
    return is_thin and _THIN.search(question) is not None


def _points_back(question: str, analyzer: TextAnalyzer) -> bool:
    if language_of(question) == "ko":
        return _KOREAN_POINTING.search(question) is not None
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
    if not topic or _OF_A_PERSON.fullmatch(pointing.group()):
        return False
    if _SUBORDINATE.search(head, topic[0]):
        return True
    return len(topic) > 1 and _NEW_CLAUSE.search(head, topic[1] + 1) is not None


def _complete(question: str, focus: _Focus, analyzer: TextAnalyzer) -> str:
    if not (focus.question or focus.names) or not depends_on_history(question, analyzer):
        return question
    if not any(map(str.isalnum, question)):
        return question  # it asks nothing, and what was said before is no question of its own
    own = {term.token for term in analyzer.key_terms(question)}
    topic = [term for term in distinct(analyzer.key_terms(focus.question)) if term.token not in own]
    name = focus.name()
    if own.intersection(term.token for term in analyzer.key_terms(name)):
        name = ""
    if not topic and not name:
        return question
    return bound_query(_join(question, focus, topic, name, analyzer))


def _join(question: str, focus: _Focus, topic: Sequence[Term], name: str, analyzer: TextAnalyzer) -> str:
    kept = sorted(topic, key=lambda term: -term.weight)[:_MOST_TOPIC_TERMS]
    words = " ".join(phrases(focus.question, kept))
    rest = without_connective(question)
    if _is_whole(question, rest, analyzer):
        # Of the question before only a name is of use: its other words would find its own passage again.
        named = _name_asked_for(focus.question, topic)
        return f"{named}: {rest}" if named else rest
    if language_of(question) == "ko":
        return _join_korean(rest, words or name)
    pronoun = _open_pronoun(rest, analyzer)
    person = pronoun is not None and _OF_A_PERSON.fullmatch(pronoun.group()) is not None
    asked = _name_asked_for(focus.question, topic)
    # A follow-up to a follow-up without a name: the user never said what it is about, the replies may have.
    unsaid = name if focus.inherited and not asked else ""
    subject = asked or (name if person else unsaid) or _only_topic(focus.question, topic, person=person)
    if pronoun and subject:
        filled = f"{subject}'s" if pronoun["possessive"] else subject
        return f"{rest[: pronoun.start()]}{filled}{rest[pronoun.end() :]}"
    lead = unsaid or words
    return f"{lead}: {rest}" if lead else question


def _is_whole(question: str, rest: str, analyzer: TextAnalyzer) -> bool:
    """Whether behind its connective a question is complete: it has its own topic, and asks in a whole sentence."""
    terms = analyzer.key_terms(rest)
    if rest == question.strip() or len(distinct(terms)) < _OWN_TOPIC[language_of(question)]:
        return False
    if _ELLIPSIS.search(rest) or _TOPIC_ONLY.search(rest) or _points_back(rest, analyzer):
        return False
    return language_of(question) == "ko" or _THIN.search(rest) is not None


def _open_pronoun(question: str, analyzer: TextAnalyzer) -> re.Match[str] | None:
    """The pronoun that a name can stand in for."""
    pronoun = None if _ELLIPSIS.search(question) else _PRONOUN.search(question)
    return None if pronoun and _has_antecedent(question, pronoun, analyzer) else pronoun


def _join_korean(rest: str, words: str) -> str:
    pointing = _KOREAN_POINTING.search(rest)
    if not pointing or _ELLIPSIS.search(rest):
        return f"{words} {rest}"
    gap = "" if pointing["particle"] else " "
    tail = rest[pointing.end() :].lstrip() if gap else rest[pointing.end() :]
    return f"{rest[: pointing.start()]}{words}{gap}{pointing['particle'] or ''}{tail}"


def _name_asked_for(question: str, topic: Sequence[Term]) -> str:
    """A name of the question with something of its topic; empty when there is none."""
    surfaces = {term.surface for term in topic}
    names = (match.group() for match in _NAMES.finditer(question))
    return next((name for name in names if any(surface in name for surface in surfaces)), "")


def _only_topic(question: str, topic: Sequence[Term], *, person: bool) -> str:
    """The question's topic where it is one phrase, and no person is meant."""
    found = [] if person else phrases(question, topic)
    return found[0] if len(found) == 1 else ""
