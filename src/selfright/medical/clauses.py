"""Sentences and clauses of a message: within a clause a denial, a time or a question holds."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

# A dot in a number, behind an initial or an abbreviation of a dose (p.o., b.i.d., q.d.) ends nothing.
_STOP = re.compile(
    r"(?<!\d)(?<!\b[a-zA-Z])(?<!\b[Dd]r)(?<!\bvs)\.+(?=\s|$)|(?<=\d)\.(?=\s+[A-Z가-힣]|\s*$)|[!?。]+|\n+|;"
)
_KOREAN_JOINT = re.compile(
    r"[가-힣](?:고|며|지만|는데|은데|인데|한데|픈데|운데|진데|린데|쁜데|픈데|던데|으나|었으나|면서|다가|니까"
    r"|어서|아서|해서|여서|려서|워서|파서|와서|래서|길래|거나)(?=[\s,])"
    r"|(?<=[가-힣])하나(?=[\s,])|(?<=[가-힣]) (?:뒤|후)(?:로|에|부터)?(?=[\s,])|(?<=없)으나(?=[\s,])"
    r"|(?:었|았|였|했|없|있)나(?=[\s,])|(?<=[가-힣])니(?=[\s,])"
)
_ENGLISH_JOINT = re.compile(
    r"\b(?:but|however|although|though|except|because|since|due to|while|whereas|yet)\b"
    r"|,?\s+and\s+(?=(?:I|he|she|my|it|has|have|takes?|had|is|was|also)\b)"
    r"|,\s*(?=(?:I|he|she|my|can|could|should|is|are|what|how|which|why|do|does|so|it|gets?|now)\b)"
    r"|\b(?:for|from)(?=\s+(?:back|nerve|my|pain)\b)",
    re.IGNORECASE,
)
_ENGLISH_QUESTION = re.compile(
    r"\s*(?:and\s+|so\s+|then\s+)?(?:what|how|why|when|which|who|where|is|are|can|could|should|do|does"
    r"|did|may|will|would|am|has|have)\b",
    re.IGNORECASE,
)
_KOREAN_QUESTION = re.compile(
    r"(?:(?<=[가-힣])(?<!열)(?<!물)(?<!침)(?<!피)(?<!땀)나요|까요|가요|은지요|는지요|을까|일까|ㄹ까|인가"
    r"|는가|뭐야|뭐예요|뭔가요|무엇인가요|무엇입니까|습니까|ㅂ니까|됩니까|입니까|할까|될까|어때요?|뭐지"
    r"|뭔지"
    r"|알려\s?줘|알려\s?주세요|궁금해요|궁금합니다|설명해\s?줘|설명해\s?주세요)\s*$"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence; ``question``: the sentence asks, and this is the part that does."""

    start: int
    end: int
    sentence: int
    question: bool


class Clauses:
    """A message cut into clauses that lie side by side."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences = list(_sentences(text))
        self.clauses = [clause for number in range(len(self.sentences)) for clause in self._clauses(number)]
        self._starts = [clause.start for clause in self.clauses]

    def at(self, place: int) -> Clause:
        """The clause in which ``place`` lies."""
        return self.clauses[max(0, bisect_right(self._starts, place) - 1)]

    def sentence(self, number: int) -> str:
        """A sentence's text."""
        start, end = self.sentences[number]
        return self.text[start:end]

    def _clauses(self, number: int) -> Iterator[Clause]:
        start, end = self.sentences[number]
        sentence = self.text[start:end]
        cuts = sorted({*_korean_cuts(sentence), *(match.start() for match in _ENGLISH_JOINT.finditer(sentence))})
        bounds = [0, *(cut for cut in cuts if 0 < cut < len(sentence)), len(sentence)]
        marked = self.text[end : end + 1] == "?"
        korean = _KOREAN_QUESTION.search(sentence) is not None
        for first, last in pairwise(bounds):
            part = sentence[first:last]
            asks = korean and last == len(sentence)
            asks = asks or (_ENGLISH_QUESTION.match(part.lstrip(" ,")) is not None and marked)
            asks = asks or (marked and last == len(sentence))
            yield Clause(start + first, start + last, number, asks)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans between stops. What goes on without any is cut, so that no rule looks further than ``_LONGEST``."""
    start = 0
    for match in (*_STOP.finditer(text), None):
        end, after = (match.start(), match.end()) if match else (len(text), len(text))
        if not text[start:end].strip() and not (start == 0 and match is None):
            continue
        while end - start > _LONGEST:
            blank = text.rfind(" ", start + 1, start + _LONGEST)
            cut = blank if blank > 0 else start + _LONGEST
            yield start, cut
            start = cut
        yield start, end
        start = after


_LONGEST = 700  # characters


def _korean_cuts(sentence: str) -> Iterator[int]:
    for match in _KOREAN_JOINT.finditer(sentence):
        yield match.end()
