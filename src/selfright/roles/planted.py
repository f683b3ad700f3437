"""What was planted in a document for its judge or its writer, and what is left of the text without it.

A document is evidence about its subject. Text in it that gives orders to a language model, vouches for itself, plays a
turn of the conversation, or repeats the question over and over is none; nor is what its reader never sees.
``evidence_in`` gives a passage's text with all that blanked, every other character in its place.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from selfright.domain.passages import Passage, Strip
from selfright.domain.text import has_hangul, sentences_of
from selfright.roles.planted_wording import COUNTERFEIT, ORDERS, UNSEEN, found
from selfright.roles.unmasked import disguised, unmasked
from selfright.roles.words import mask_stop_words

_LONGEST = 20_000
_NO_LETTER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
# A question repeated, a sentence repeated, and how few different words a text of mostly the question's words has.
_ECHOES, _REPEATS, _LEAST_LETTERS, _LEAST_ASKED = 3, 3, 12, 3
_LEAST_WORDS, _OF_THE_QUESTION, _VARIETY = 20, 0.5, 0.55


def speaks_to_model(text: str) -> bool:
    """Whether a sentence, title or address addresses a language model or a judge instead of telling something."""
    clear = unmasked(text[:_LONGEST])
    return found(ORDERS, clear) or found(COUNTERFEIT, clear) or disguised(text)


def evidence_in(question: str, passage: Passage) -> str:
    """The passage's text, as long as it is, with blanks in place of what was planted.

    Nothing is left where the passage as a whole is counterfeit: it praises or grades itself, imitates turns or
    delimiters, or is stuffed with the question. Questions about such texts get them unchanged.
    """
    return _evidence(question, passage.heading, passage.text)


def evidence_of(question: str, strip: Strip) -> str:
    """The strip's text without what was planted in its passage, in the same manner."""
    start = strip.passage.start
    return evidence_in(question, strip.passage)[strip.start - start : strip.end - start]


@lru_cache(maxsize=1024)
def _evidence(question: str, heading: str, text: str) -> str:
    if speaks_to_model(question):
        return text
    head, rest = text[:_LONGEST], text[_LONGEST:]
    clear = unmasked(head)
    if found(COUNTERFEIT, clear) or speaks_to_model(heading) or stuffed(question, head):
        return _blank(text)
    may_hide = "<!--" in head or "[" in head
    shown = UNSEEN.sub(lambda match: _blank(match.group()), head) if may_hide else head
    if found(ORDERS, clear) or disguised(head):
        shown = _without_orders(shown)
    return shown + rest


def _without_orders(text: str) -> str:
    kept = text
    for start, end in sentences_of(text):
        if speaks_to_model(text[start:end]):
            kept = kept[:start] + _blank(text[start:end]) + kept[end:]
    return _blank(text) if speaks_to_model(kept) else kept  # an order that reaches over a sentence's end


def _blank(text: str) -> str:
    """As long as ``text``, its lines kept, so that places in it stay what they are."""
    return re.sub(r"[^\n]", " ", text)


def stuffed(question: str, text: str) -> bool:
    """Whether ``text`` repeats the question or one sentence again and again, or consists of the question's words."""
    asked = _letters(question)
    wanted = _words(question)
    is_question = len(wanted) >= (_LEAST_ASKED if has_hangul(question) else 2 * _LEAST_ASKED - 1)
    if len(asked) >= _LEAST_LETTERS and is_question and _letters(text).count(asked) >= _ECHOES:
        return True
    sentences = Counter(_letters(text[start:end]) for start, end in sentences_of(text))
    said, times = max(sentences.items(), key=lambda item: item[1], default=("", 0))
    if times >= _REPEATS and len(said) >= _LEAST_LETTERS and sum(word in said for word in wanted) * 2 >= len(wanted):
        return True
    words = _words(text)
    if len(words) < _LEAST_WORDS:
        return False
    if len(set(words)) > _VARIETY * len(words) or _share(words, wanted) < _OF_THE_QUESTION:
        return False
    # A long question holds most small words, and a long text repeats them: those that say something decide.
    return _share(_words(mask_stop_words(text)), _words(mask_stop_words(question))) >= _OF_THE_QUESTION


def _share(words: Sequence[str], wanted: Sequence[str]) -> float:
    theirs = set(wanted)
    return sum(word in theirs for word in words) / len(words) if words else 1.0


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def _words(text: str) -> list[str]:
    """Words in reading order, Korean ones cut to their first two syllables, where most particles are gone."""
    found = [word for word in _WORD.findall(text.casefold()) if len(word) > 1]
    return [word[:2] if has_hangul(word) else word for word in found] if has_hangul(text) else found
