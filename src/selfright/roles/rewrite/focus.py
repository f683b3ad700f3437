"""What of a message is asked, and what of it is searched for: a letter to a doctor is mostly not its question.

What is asked is searched for, with the names of what it speaks of. A question that leans on what the message tells has
only its first sentence (which often is a subject line) and the asking ones searched for, and the names of all.
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
    text = respelt(asked.question, pack.vocabulary, analyzer)
    names = pack.names(text)[:_MOST_NAMES]
    searched = text if asked.alone else _asking(text)
    # Names that are there already count double: they are what a message is about, among words that are not.
    query = " ".join((bounded(searched), *names)).strip() or message
    return Focus(asked.question, query, asked.told)


def _asking(text: str) -> str:
    """The first sentence and those that ask; all when none does."""
    first, *others = (text[start:end] for start, end in sentence_spans(text))
    return " ".join((first, *([sentence for sentence in others if asks(sentence)] or others)))
