"""What the things in a message are usually called, for searching: preferred names, and the words they are made of."""

import functools
import re

from selfright.medical.lexicon import load_lexicon
from selfright.medical.spotting import spotter

# What these name is, by itself, more often a thing of another field (a disk, a key).
OF_OTHER_FIELDS = ("디스크", "키")

_LONGEST = 10_000
_MOST = 8
_WORD = re.compile(r"[a-z]+")


def names(text: str) -> tuple[str, ...]:
    """The preferred names of what ``text`` mentions, each in the language of its mention, in the order of the text."""
    found = spotter("condition", "symptom", "drug", "lab").find(text[:_LONGEST])
    meant = (mention for mention in found if text[mention.start : mention.end] not in OF_OTHER_FIELDS)
    return tuple(dict.fromkeys(mention.concept.name(mention.language) for mention in meant))[:_MOST]


@functools.cache
def vocabulary() -> frozenset[str]:
    """Every English word in the names of the lexicon, in lower case."""
    forms = (form for concept in load_lexicon().concepts.values() for form in concept.forms_en)
    return frozenset(word for form in forms for word in _WORD.findall(form.lower()))
