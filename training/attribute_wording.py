"""How questions for attributes and passages that state them are worded, in one language."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.attribute_texts import Forms, Subject, Texts, filled, particle

# How often each style, and what stands before, between and after an attribute's name and its value.
STYLES = {
    "prose": (60, "", "", ""),
    "lines": (16, "", ": ", ""),
    "list": (12, "- ", ": ", ""),
    "rows": (12, "| ", " | ", " |"),
}
HEADINGS = {
    "en": ("{s}", "{s}", "{s}: guide", "About {s}", "{s} – FAQ", "{s} – information"),
    "ko": ("{s}", "{s}", "{s} 안내", "{s} 자주 묻는 질문", "{s} 정보", "{s}: 알아 두기"),
}
NAMED = {
    "en": ("{n} of {s}", "{s}: {n}?", "What is the {n} of {s}?", "I'd like to know the {n} of {s}."),
    "ko": ("{s} {n}", "{s} {n} 알려 주세요", "{s}의 {n:이} 궁금합니다", "{s} {n:은}?", "{s} {n} 좀 알려 줘"),
}
BOTH_NAMED = {
    "en": (
        "What are the {n} and the {m} of {s}?",
        "{n} and {m} of {s}",
        "I'd like to know the {n} and the {m} of {s}.",
        "Can you tell me the {n} and also the {m} of {s}?",
    ),
    "ko": (
        "{s} {n:이랑} {m} 알려 주세요",
        "{s}의 {n:과} {m:은}?",
        "{s}의 {n:과} {m:이} 궁금합니다",
        "{s} {n} 및 {m}",
        "{s} {n:과} {m:은} 어떻게 되나요?",
    ),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """What a sentence says: the value of an attribute, or, as a ``trap``, only something near it."""

    name: str
    trap: bool
    things: tuple[int, int]


HEADED = 0.5  # how often the subject stands in the heading alone
Things = Mapping[str, tuple[int, int]]
Line = tuple[str, int, int]
"""A text, and where its value begins and ends."""


class Wording:
    """Words questions and passages of one language, by chance."""

    def __init__(self, language: str, chooser: random.Random) -> None:
        self._language = language
        self._random = chooser
        self._texts = Texts(language)

    def things(self, name: str) -> int:
        """How many things the attribute is about, such as error codes."""
        return len(self._texts.forms[name].things)

    def question(self, subject: Subject, things: Things) -> str:
        """A question for one attribute or two."""
        chooser, name, asked = self._random, subject.names[self._language], list(things)
        if len(asked) == 1 and chooser.random() < 0.7:
            text = self._asked(chooser.choice(self._forms(asked[0]).asked), asked[0], name, things)
        elif len(asked) == 1:
            text = self._by_name(chooser.choice(NAMED[self._language]), name, things)
        elif chooser.random() < 0.5:
            text = self._by_name(chooser.choice(BOTH_NAMED[self._language]), name, things)
        else:
            text = self._joined(asked, name, things)
        return text.rstrip("?.") if chooser.random() < 0.15 else text

    def passage(self, subject: Subject, facts: Sequence[Fact]) -> tuple[str, str, list[tuple[int, int]]]:
        """Heading (or ""), text, and where in it each fact's value stands: its whole sentence if it has no value."""
        chooser, name = self._random, subject.names[self._language]
        headed = chooser.random() < HEADED
        style = chooser.choices(list(STYLES), [often for often, *_ in STYLES.values()])[0]
        prose = style == "prose"
        lines = self._prose(name, facts, headed=headed) if prose else self._lined(style, name, facts, headed=headed)
        heading = chooser.choice(HEADINGS[self._language]).format(s=titled(name)) if headed else ""
        text, places = "", []
        for line, start, end in lines:
            text += (" " if prose else "\n") if text else ""
            places.append((len(text) + start, len(text) + end) if start >= 0 else (len(text), len(text) + len(line)))
            text += line
        return heading, text, places[-len(facts) :]

    def _forms(self, name: str) -> Forms:
        return self._texts.forms[name]

    def _words(self, name: str, things: tuple[int, int]) -> tuple[str, str]:
        listed = self._forms(name).things
        return (listed[things[0]], listed[things[1]]) if listed else ("", "")

    def _asked(self, form: str, name: str, subject: str, things: Things) -> str:
        return filled(form, subject, self._words(name, things[name]))[0]

    def _by_name(self, form: str, subject: str, things: Things) -> str:
        for mark, name in zip("nm", things, strict=False):
            noun = uncapitalized(self._asked(self._forms(name).names[0], name, "", things))
            for one in ("", ":이", ":은", ":과", ":이랑"):
                form = form.replace(f"{{{mark}{one}}}", noun + particle(noun, one[1:]))
            if noun.endswith("s") and not noun.endswith("ss"):
                form = form.replace("What is", "What are")
        return filled(form, subject, ("", ""))[0]

    def _joined(self, asked: Sequence[str], subject: str, things: Things) -> str:
        first, second = (
            self._random.choice([form for form in self._forms(name).asked if _plain(form)]) for name in asked
        )
        one, other = self._asked(first, asked[0], subject, things), self._asked(second, asked[1], "", things)
        if self._language == "ko":
            return f"{one.rstrip('?')}? {self._random.choice(('그리고 ', '', '또 '))}{other}"
        return self._random.choice((f"{one[:-1]}, and {uncapitalized(other)}", f"{one} And {uncapitalized(other)}"))

    def _prose(self, subject: str, facts: Sequence[Fact], *, headed: bool) -> list[Line]:
        lines = []
        for number, fact in enumerate(facts):
            often = 0.12 if headed else 0.35 if number else 1.0
            lines.append(self._sentence(fact, subject if self._random.random() < often else ""))
        return lines

    def _sentence(self, fact: Fact, subject: str) -> Line:
        forms = self._forms(fact.name)
        form = self._random.choice(forms.traps if fact.trap else forms.said)
        text, start, end = filled(form, subject, self._words(fact.name, fact.things), self._value(fact))
        return (text if text.endswith((".", "?", "!")) else f"{text}.", start, end)

    def _value(self, fact: Fact) -> str:
        return self._texts.value(fact.name, self._random)

    def _lined(self, style: str, subject: str, facts: Sequence[Fact], *, headed: bool) -> list[Line]:
        """Lines such as "Weight: 3 kg"; without a heading the subject stands above them."""
        above = [] if headed else [(titled(subject), -1, -1)]
        return above + [self._line(style, fact) for fact in facts]

    def _line(self, style: str, fact: Fact) -> Line:
        if fact.trap:
            return self._sentence(fact, "")
        before, between, after = STYLES[style][1:]
        name = filled(self._random.choice(self._forms(fact.name).names), "", self._words(fact.name, fact.things))[0]
        value = self._value(fact)
        before = f"{before}{name}{between}"
        return f"{before}{value}{after}", len(before), len(before) + len(value)


def titled(name: str) -> str:
    """A subject's name as a heading has it."""
    name = name.removeprefix("the ")
    return name[:1].upper() + name[1:]


def uncapitalized(text: str) -> str:
    """A sentence's beginning inside another sentence."""
    return text if text.startswith(("I ", "I'", "E0", "E1", "E2", "F3")) else text[:1].lower() + text[1:]


def _plain(form: str) -> bool:
    """Whether a question is one sentence that another may join."""
    return "." not in form and form.endswith("?") and form.count("?") == 1
