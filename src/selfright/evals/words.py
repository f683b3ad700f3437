"""An answer's words against gold answers.

English is normalised as by SQuAD (Rajpurkar et al. 2016): lower case, no punctuation, no articles, single blanks; F1 is
over words. Korean is normalised without the marks that KorQuAD 1.0 (Lim et al. 2019) leaves out, and F1 is over
characters, so that a particle costs a little and not the whole word.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from selfright.domain.composing import MARKER
from selfright.domain.text import has_hangul
from selfright.evals.reading import Question, is_any_in

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_KOREAN_MARKS = str.maketrans(dict.fromkeys("'\"《》<>〈〉()‘’“”「」『』·", " "))
_SOURCE = re.compile(r"\s?\[Source: [^\[\]\n]*\]")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_POINT = "ˑ"  # stands for a decimal point while punctuation goes: 2.5 is not 25
# What may stand behind a gold answer within its word: particles, the copula, and their sequences.
_ENDING = re.compile(
    r"(?:은|는|이|가|을|를|의|에|에서|에게|에는|에도|께|로|으로|로서|로써|와|과|랑|도|만|까지|부터|처럼|보다|마다|이나|나|씩|쯤|정도|경|들"
    r"|이다|다|이며|며|이고|고|이었다|였다|입니다|이었습니다|였습니다|임|이라고|라고|이라는|라는|인|이므로|이지만|지만|이에요|예요)*"
)


def spoken_text(answer: str) -> str:
    """An answer without its citation markers, in composed characters."""
    return unicodedata.normalize("NFC", _SOURCE.sub("", MARKER.sub(" ", answer))).strip()


def normalize(text: str) -> str:
    """Lower case, without punctuation and articles, words parted by one blank."""
    text = unicodedata.normalize("NFC", text)
    if has_hangul(text):
        text = text.translate(_KOREAN_MARKS)
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact(answer: str, gold: str) -> bool:
    """Whether both are the same once normalised."""
    return normalize(answer) == normalize(gold)


def f1(answer: str, gold: str) -> float:
    """The harmonic mean of precision and recall over words, over characters where the gold answer has Hangul.

    With nothing on either side: 1 when there is nothing on both, else 0 (SQuAD 2.0).
    """
    ours, theirs = _units(answer, gold), _units(gold, gold)
    if not ours or not theirs:
        return float(ours == theirs)
    shared = (Counter(ours) & Counter(theirs)).total()
    return 2 * shared / (len(ours) + len(theirs))


def recall(answer: str, gold: str) -> float:
    """The share of the gold answer's units that the answer has; 0 for an empty gold answer."""
    ours, theirs = _units(answer, gold), _units(gold, gold)
    return (Counter(ours) & Counter(theirs)).total() / len(theirs) if theirs else 0.0


def contains(answer: str, gold: str) -> bool:
    """Whether the gold answer stands in the answer, as whole words.

    Blanks do not count between Hangul, and a Korean word may go on with particles: ``90일`` stands in ``90 일마다``.
    """
    wanted = _with_points(gold)
    if not wanted:
        return False
    tokens = _with_points(answer).split()
    if not has_hangul(wanted):
        return any(_matches(tokens, place, wanted.split()) for place in range(len(tokens) - len(wanted.split()) + 1))
    return _holds_korean(tokens, wanted.replace(" ", ""))


def _with_points(text: str) -> str:
    return normalize(_DECIMAL.sub(_POINT, text.translate(_DASHES)))


def _units(text: str, gold: str) -> Sequence[str]:
    tokens = normalize(text).split()
    return [character for token in tokens for character in token] if has_hangul(gold) else tokens


def _matches(tokens: Sequence[str], place: int, wanted: Sequence[str]) -> bool:
    """Whether the wanted words stand there; the last one may go on with Korean particles."""
    *head, last = wanted
    if list(tokens[place : place + len(head)]) != head:
        return False
    found = tokens[place + len(head)]
    return found == last or (found.startswith(last) and _ends(found[len(last) :]))


def _holds_korean(tokens: Sequence[str], wanted: str) -> bool:
    run = "".join(tokens)
    starts, ends = set(), {}
    offset = 0
    for token in tokens:
        starts.add(offset)
        for place in range(offset, offset + len(token)):
            ends[place] = offset + len(token)
        offset += len(token)
    place = run.find(wanted)
    while place >= 0:
        stop = place + len(wanted)
        if place in starts and _ends(run[stop : ends[stop - 1]]):
            return True
        place = run.find(wanted, place + 1)
    return False


def _ends(rest: str) -> bool:
    return not rest or (has_hangul(rest) and _ENDING.fullmatch(rest) is not None)


LONG = 12
"""Words from which on a gold answer is a passage, that nobody repeats letter by letter."""
ENOUGH = 0.6
"""The share of a long gold answer's words that makes an answer right."""


def has_gold(question: Question) -> bool:
    """Whether it is known what a right answer says."""
    return bool(question.answers or question.patterns)


def gold_in(text: str, question: Question) -> bool:
    """Whether a text has a gold answer, as ``right`` asks of an answer."""
    return stands_in(text, question) or share_in(text, question) >= ENOUGH


def stands_in(text: str, question: Question) -> bool:
    """Whether a gold answer or a pattern of the question stands in a text."""
    if any(contains(text, gold) for gold in question.answers):
        return True
    line = " ".join(unicodedata.normalize("NFC", text).split())  # a pattern's blank is any space, or a line's end
    return bool(question.patterns) and is_any_in(question.patterns, line)


def share_in(text: str, question: Question) -> float:
    """The largest share of a long gold answer's words that stands in a text."""
    return max((recall(text, gold) for gold in question.answers if len(normalize(gold).split()) > LONG), default=0.0)
