"""Rows of answers in few words, which answer, and of questions said again, which do not.

A drafted answer is read in a passage's place. It may be no more than the answer's span ("Because tap water leaves
lime."), or only look like one: the question turned into a statement, or what answers another question on the same page.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from selfright.domain.text import has_hangul
from training.reading_rows import Row

LONGEST = 160  # characters of an answer that is told alone
_VAGUE = ("canard",)  # its questions seldom say alone what they ask
_ASKS = {
    "en": ("why", "when", "where", "who", "how many", "how much", "how long", "how old", "how", "which", "what"),
    "ko": ("왜", "언제", "어디", "누구|누가", "몇|얼마", "어떻게", "어느", "무엇|뭐|무슨|어떤"),
}
_BECAUSE = re.compile(r"^(?:because|due to|since|as)\b", re.IGNORECASE)
_ENGLISH_ASKING = re.compile(
    r"^\s*(?:(?:and|so|in|for|on|at|to|by|from|with|of)\s+)?"
    r"(?:why|when|where|who(?:se|m)?|how(?: many| much| long| old| often)?|which|what)"
    r"(?:\s+(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had)\b)?\s*",
    re.IGNORECASE,
)
_KOREAN_ENDINGS = (("습니까", "습니다"), ("인가요", "입니다"), ("은가요", "습니다"), ("나요", "습니다"), ("까요", "다"))
_KOREAN_ASKING = re.compile(r"(?:왜|언제|어디서?|누가|누구\S*|몇\s?\S*|얼마나?|어떻게|어느|무엇\S*|뭐\S*|무슨|어떤)\s?")


def short_rows(rows: Iterable[Row], seed: int, share: float = 1.0) -> Iterator[Row]:
    """Of a ``share`` of ``rows``, whose answers are known to the letter: the answer alone, the answer to another
    question of the same page, asked in another way, and the question said again."""
    chooser = random.Random(seed)
    of_page: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.end - row.start <= LONGEST and row.dataset not in _VAGUE and chooser.random() < share:
            of_page[row.dataset, row.group].append(row)
    for together in of_page.values():
        yield from _of_page(together, chooser)


def _of_page(rows: Sequence[Row], chooser: random.Random) -> Iterator[Row]:
    for row in rows:
        yield _short(row, _sentence(_span(row), row.asked, chooser), 1)
        others = [o for o in rows if asks(o.asked) != asks(row.asked) and _span(o).casefold() != _span(row).casefold()]
        if others:
            other = chooser.choice(others)
            yield _short(row, _sentence(_span(other), other.asked, chooser), 0)
        if chooser.random() < 0.6:
            yield _short(row, said_again(row.asked, chooser), 0)


def _span(row: Row) -> str:
    return row.text[row.start : row.end].strip()


def _short(row: Row, text: str, label: int) -> Row:
    start, end = (0, len(text)) if label else (-1, -1)
    heading = row.heading if not _told(row, text) else ""
    return replace(row, heading=heading, text=text, label=label, about=1, start=start, end=end)


def _told(row: Row, text: str) -> bool:
    """Whether the text names its page by itself."""
    return bool(row.heading) and row.heading.casefold() in text.casefold()


def asks(question: str) -> str:
    """The word by which a question asks; empty for one of yes and no."""
    lowered = question.casefold()
    for words in _ASKS["ko" if has_hangul(question) else "en"]:
        if re.search(words if has_hangul(question) else rf"\b{words}\b", lowered):
            return words
    return ""


def _sentence(span: str, question: str, chooser: random.Random) -> str:
    """The span as somebody would say it in answer."""
    span = span.rstrip(" .,;:")
    if span.endswith("다"):
        return f"{span}."
    if has_hangul(span):
        return f"{span}{chooser.choice(('', '.', '입니다.', '이다.'))}"
    if asks(question) == "why" and not _BECAUSE.match(span) and chooser.random() < 0.8:
        return f"Because {span[:1].lower()}{span[1:]}."
    return chooser.choice(("{}", "{}.", "{}.", "It is {}.")).format(span)


def said_again(question: str, chooser: random.Random) -> str:
    """The question without its mark, or turned into a statement that says nothing."""
    bare = question.strip().rstrip("?？ ")
    if chooser.random() < 0.3:
        return chooser.choice((question.strip(), bare, f"{bare}."))
    if not has_hangul(question):
        rest = _ENGLISH_ASKING.sub("", bare)
        return f"{rest[:1].upper()}{rest[1:]}."
    for asking, stating in _KOREAN_ENDINGS:
        if bare.endswith(asking):
            bare = bare.removesuffix(asking) + stating
            break
    return f"{_KOREAN_ASKING.sub('', bare, count=1).strip().rstrip('.')}."
