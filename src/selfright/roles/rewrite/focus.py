"""What of a message is asked, and what of it is searched for: a letter to a doctor is mostly not its question.

What is asked is searched for, with the names of what the message speaks of, but for those in what somebody says of
themselves, and with the first sentence of a letter where it names something. Of a question that leans on what the
message tells only the first sentence (which often is a subject line) and the asking ones are searched for.
"""

from selfright.domain.answers import Focus
from selfright.domain.packs import DomainPack
from selfright.domain.text import sentence_spans
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.asked import asking_part, asks
from selfright.roles.rewrite.prefixes import bounded
from selfright.roles.rewrite.spelling import respelt

_MOST_NAMES = 6


def focus(message: str, pack: DomainPack, analyzer: TextAnalyzer, follows: bool = False) -> Focus:
    """The question within ``message``, the query for it, and what the message tells besides."""
    asked = asking_part(message, analyzer, follows)
    text, story = (respelt(part, pack.vocabulary, analyzer) for part in (asked.question, asked.story))
    names = pack.names(f"{story} {text}".strip())[:_MOST_NAMES]
    searched = f"{_subject(story, pack)} {text if asked.alone else _asking(text)}".strip()
    # Names that are there already count double: they are what a message is about, among words that are not.
    query = " ".join((bounded(searched), *names)).strip() or message
    return Focus(asked.question, query, asked.told)


def _subject(story: str, pack: DomainPack) -> str:
    """The first sentence of a letter, where it names something of the field."""
    first = next((story[start:end] for start, end in sentence_spans(story)), "")
    return first if pack.names(first) else ""


def _asking(text: str) -> str:
    """The first sentence and those that ask; all when none does."""
    first, *others = (text[start:end] for start, end in sentence_spans(text))
    return " ".join((first, *([sentence for sentence in others if asks(sentence)] or others)))
