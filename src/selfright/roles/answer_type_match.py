"""How well a text matches the type of answer a question asks for, beyond repeating the question."""

import re

from selfright.roles.questions import AnswerType, matches_type

_WORD = re.compile(r"[^\W_]+")
_NAMED = (AnswerType.PERSON, AnswerType.PLACE, AnswerType.TIME, AnswerType.NUMBER, AnswerType.VERSION)


def answer_type_match(kind: AnswerType, question: str, text: str) -> float:
    """How well (0…1) ``text`` holds an answer of that kind; names and numbers of the question itself do not count."""
    if kind not in _NAMED:
        return matches_type(kind, text)
    asked = {word.casefold() for word in _WORD.findall(question)}

    def blank(match: re.Match[str]) -> str:
        word = match.group()
        repeated = word.casefold() in asked and (len(word) > 1 or word.isdigit())
        return " " * len(word) if repeated else word

    return matches_type(kind, _WORD.sub(blank, text))
