"""Follow-up questions made to stand alone: what they leave out is taken from the conversation before them.

What the user asked comes first. The assistant's replies only tell who or what it is about when the user never did.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from selfright.domain.answers import Message
from selfright.domain.text import language_of
from selfright.domain.turns import MAX_QUESTION_CHARACTERS
from selfright.roles.analysis import Term, TextAnalyzer, distinct, phrases
from selfright.roles.restating import again
from selfright.roles.rewrite.leaning import (
    ELLIPSIS,
    KOREAN_POINTING,
    OF_A_PERSON,
    depends_on_history,
    is_whole,
    only_names,
    open_pronoun,
    without_connective,
)
from selfright.roles.rewrite.query_text import bound_query
from selfright.roles.talk import act_of

Swap = Callable[[str, str], str]
"""The question before with what a follow-up names in its place, or ""."""

_MOST_MESSAGES = 12
_MOST_TOPIC_TERMS = 4
_MOST_NAMES = 50
_MOST_TITLES = 2
_LONGEST_REPLY = 400  # its beginning names what it is about
_ASKED, _REPLIED = 2.0, 1.0  # what a mention weighs

_NAMES = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w-]*(?:\s+(?:of\s+|the\s+|de\s+)?[A-Z0-9][\w-]*)*")
_REPLY_NAMES = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|and|&)\s+){0,2}[A-Z0-9][\w'’-]*)*")


def contextualize_query(
    question: str, history: Sequence[Message], analyzer: TextAnalyzer, swap: Swap | None = None
) -> str:
    """``question`` with what it leaves out filled in from the last messages; unchanged when it stands alone.

    ``swap`` puts what a follow-up only names into the question before; without it, or where it gives "", they are
    joined.
    """
    focus = _Focus()
    for message in recent(history):
        if message.role != "user":
            focus.reply(message, analyzer)
        elif not has_no_topic(message.content):
            focus.ask(message.content, analyzer)
    if again(question):
        return focus.question or question
    if act_of(question):
        return question
    if swap and focus.question and only_names(question, analyzer):
        title, asked = focus.titled()
        if alike := swap(question, asked):
            return bound_query(title + alike)
    return _complete(question, focus, analyzer)


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


@dataclass(slots=True)
class _Focus:
    """What the conversation is about: the last question as it stands alone, and the names said so far, counted.

    ``inherited``: that question was itself a follow-up.
    """

    question: str = ""
    inherited: bool = False
    title: str = ""
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
            self.title = message.citations[0].title if message.citations else ""
        self.mention(message.content[:_LONGEST_REPLY], _REPLIED, analyzer)

    def titled(self) -> tuple[str, str]:
        """The title that the last question was looked up under, with its colon, and the question itself."""
        start = f"{self.title}: "
        under = bool(self.title) and self.question.startswith(start)
        return (start, self.question[len(start) :]) if under else ("", self.question)

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
    if is_whole(question, rest, analyzer):
        # Of the question before only a name is of use: its other words would find its own passage again.
        named = _name_asked_for(focus.question, topic)
        return f"{named}: {rest}" if named else rest
    if language_of(question) == "ko":
        return _join_korean(rest, words or name)
    pronoun = open_pronoun(rest, analyzer)
    person = pronoun is not None and OF_A_PERSON.fullmatch(pronoun.group()) is not None
    asked = _name_asked_for(focus.question, topic)
    # A follow-up to a follow-up without a name: the user never said what it is about, the replies may have.
    unsaid = name if focus.inherited and not asked else ""
    subject = asked or (name if person else unsaid) or _only_topic(focus.question, topic, person=person)
    if pronoun and subject:
        filled = f"{subject}'s" if pronoun["possessive"] else subject
        return f"{rest[: pronoun.start()]}{filled}{rest[pronoun.end() :]}"
    lead = unsaid or words
    return f"{lead}: {rest}" if lead else question


def _join_korean(rest: str, words: str) -> str:
    pointing = KOREAN_POINTING.search(rest)
    if not pointing or ELLIPSIS.search(rest):
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
