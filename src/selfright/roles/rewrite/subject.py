"""Follow-ups that name a new subject: "What about dogs?" after talk of a hut that the index has no dogs for.

The index tells: whether a section speaks of what is named, and whether it speaks of what was asked before as well.
"""

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

from selfright.domain.passages import Hit, Passage
from selfright.domain.text import language_of
from selfright.roles.analysis import TermMatcher, TextAnalyzer, phrases
from selfright.roles.rewrite.leaning import without_connective

_HEADING = re.compile(r"(?m)^(?=#{1,6} )")
_SPOKEN_OF = 0.5  # of the weight of the words


def on_new_subject(named: str, question: str, hits: Sequence[Hit], analyzer: TextAnalyzer) -> str:
    """``named`` with as much of ``question`` as the index has beside it; empty where it has all of it there.

    Empty, too, where the hits do not speak of what is named. What they have together stands in one section. Sections of
    the other language count where no others do, and must have at least half: a translation makes no new subject.
    """
    own = analyzer.key_terms(named)
    tokens = {term.token for term in own}
    beside = [term for term in analyzer.key_terms(question) if term.token not in tokens]
    new, old = (TermMatcher(analyzer, terms, translated=True) for terms in (own, beside))
    sections = (section for hit in hits for section in _sections(hit.passage))
    spoken = ((s, old.places(s)) for s in sections if new.share(new.places(s)) >= _SPOKEN_OF)
    language = language_of(named)
    found = [(language_of(s) == language, old.share(at), at) for s, at in spoken]
    is_own, share, most = max(found, key=itemgetter(0, 1), default=(False, 0.0, {}))
    if len(most) == len(beside) or not (is_own or share >= _SPOKEN_OF):
        return ""
    rest = without_connective(named)
    words = " ".join(phrases(question, [beside[n] for n in most]))
    return f"{words}{' ' if language == 'ko' else ': '}{rest}" if words else rest


def _sections(passage: Passage) -> Iterator[str]:
    """The passage cut at its headings, each part with the title that it stands under."""
    for n, part in enumerate(_HEADING.split(passage.text)):
        yield part if n and part.startswith("# ") else f"{passage.context}\n{part}"
