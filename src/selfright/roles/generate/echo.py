"""What a model repeats of its prompt: the question, the rules, the marks around data. None of it is an answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from selfright.domain.text import has_hangul, sentences_of
from selfright.roles.evaluate.evidence import letters
from selfright.roles.generate.answer_parsing import ParsedSentence
from selfright.roles.words import mask_stop_words

# Marks of our prompts with or without their brackets ("passage-f1751f20d4fa"), of chat templates, and headings.
_MARKS = re.compile(
    r"\b[a-z]{2,24}-[0-9a-f]{12}\b|<\|[a-z_]{2,20}\|>|\[/?INST\]|<<?/?SYS>?>|</?(?:s|start_of_turn|end_of_turn)>", re.I
)
_LEAD = re.compile(
    r"\W*(?:the )?(?:(?:short |final |correct |best )?answer(?: to (?:the|this|your) question)?|passages?|question"
    r"|답변?|정답|문단|질문)(?: is| are|[은는이가])?(?: as follows| the following| below| this|\s?다음과 같습니다)?\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\[\d{1,4}\]")
_WORD = re.compile(r"[^\W_]+")
_SECRET_LETTERS = 24
_REPEATED = 3  # a sentence that stands there so often is no statement but a loop
_COPIED = re.compile(r"\A(?:\W{0,3}\b(?:question|user|q|질문|사용자)\b\W{0,3}[:：]\s*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a model was told to do: all of it letter by letter, and its sentences."""

    whole: str
    sentences: frozenset[str]

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, text: str) -> "_Rules":
        text = _NUMBER.sub("", text)  # as they are gone from what was said
        return cls(letters(text), frozenset(letters(text[start:end]) for start, end in sentences_of(text)))

    def has(self, said: str) -> bool:
        return said in self.sentences or (len(said) >= _SECRET_LETTERS and said in self.whole)


def without_echo(question: str, parsed: Sequence[ParsedSentence], rules: str = "") -> list[ParsedSentence]:
    """The sentences that are not repeated from the prompt: its question, its ``rules``, its marks; of loops the first.

    Nothing is left of an answer that says nothing else.
    """
    asked, secret = _content(question), _Rules.of(rules)
    seen: dict[str, int] = {}
    kept = []
    for said in parsed:
        text = letters(said.text)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 1 and not _is_echo(said.text, text, asked, letters(question), secret):
            kept.append(said)
    return [] if _is_loop(seen, len(parsed)) and not _says_more(kept) else kept


def _is_echo(said: str, text: str, asked: frozenset[str], question: str, secret: "_Rules") -> bool:
    if not text or _MARKS.search(said) or _LEAD.fullmatch(said) or _stutters(said):
        return True
    if secret.has(text):
        return True
    rest = _COPIED.sub("", said)
    words = _content(rest)
    # A sentence that has no word beyond the question's says nothing, unless it says no, or a part that was offered.
    return letters(rest) == question or (rest.rstrip().endswith(("?", "？")) and bool(words) and words <= asked)


def _stutters(said: str) -> bool:
    words = _WORD.findall(said.casefold())
    return len(words) >= _REPEATED and len(set(words)) == 1


def _is_loop(seen: dict[str, int], count: int) -> bool:
    return count >= _REPEATED and max(seen.values(), default=0) * 2 > count


def _says_more(kept: Sequence[ParsedSentence]) -> bool:
    return any(len(letters(said.text)) >= 8 for said in kept)


def _content(text: str) -> frozenset[str]:
    """Words that carry meaning; Korean ones by their first two syllables, where most particles are gone."""
    words = _WORD.findall(mask_stop_words(text.casefold()))
    return frozenset(word[:2] if has_hangul(word) else word for word in words)
