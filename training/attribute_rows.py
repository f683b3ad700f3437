"""Rows for the network that reads pairs: the subject is right, and the attribute asked is stated or only seems to be.

Real sets seldom hold a passage about the very thing asked that says something else of it: the cost of delivery where
its time is asked, what helps against where side effects are asked. Here made-up things are asked for their attributes
beside passages that state these, or those most easily taken for them, in Korean and in English.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from training.attribute_texts import Subject, read_kinds, read_subjects
from training.attribute_wording import Fact, Wording
from training.pairs import is_left_out
from training.reading_rows import Row

LEFT_OUT = ("charging_time", "closing_day", "allergens", "founder", "penalty")
"""Attributes that nothing learns from, neither asked nor stated: they show what carries over to others."""
ANSWERED, OTHERS = 0.45, 0.15  # rows that the passage answers, and rows whose passage is about another subject
TWO_PARTS, NEAR = 0.15, 0.6  # questions for two attributes; passages with what is easily taken for one asked
LANGUAGES = {("ko", "ko"): 45, ("en", "en"): 40, ("ko", "en"): 10, ("en", "ko"): 5}  # of question and of passage
# What may answer the other, too: it does not stand beside a question for that.
BLURRED = {"size": "capacity", "capacity": "size", "where_apply": "renewal", "documents": "renewal"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A row with the attributes that it asks for and that its passage states."""

    row: Row
    asked: tuple[str, ...]
    stated: tuple[str, ...]


def attribute_rows(seed: int, count: int, *, left_out: bool = False) -> Iterator[Row]:
    """Rows of subjects to learn from, or of those left out: then half ask for attributes of ``LEFT_OUT``.

    Those half are of the dataset ``attributes_new``, all others of ``attributes``.
    """
    return (drawn.row for drawn in drawn_rows(seed, count, left_out=left_out))


def drawn_rows(seed: int, count: int, *, left_out: bool = False) -> Iterator[Drawn]:
    """The same with what they ask and state."""
    draws = _Draws(random.Random(seed), left_out=left_out)
    return (draws.drawn() for _ in range(count))


class _Draws:
    def __init__(self, chooser: random.Random, *, left_out: bool) -> None:
        self._random = chooser
        self._left_out = left_out
        self._kinds = {name: kind for name, kind in read_kinds().items() if left_out or name not in LEFT_OUT}
        self._wordings = {language: Wording(language, chooser) for language in ("en", "ko")}
        self._subjects: dict[str, list[Subject]] = defaultdict(list)
        for subject in read_subjects():
            if is_left_out(subject.group) == left_out:
                self._subjects[subject.kind].append(subject)

    def drawn(self) -> Drawn:
        chooser = self._random
        kind = self._kinds[self._name_asked()]
        subject = chooser.choice([one for letter in kind.kinds for one in self._subjects[letter]])
        asked = [kind.name]
        if chooser.random() < TWO_PARTS:
            asked.append(chooser.choice([name for name in self._fitting(subject) if self._apart(name, kind.name)]))
        things = {name: self._things(name) for name in asked}
        drawn = chooser.random()
        answers, elsewhere = drawn < ANSWERED, ANSWERED <= drawn < ANSWERED + OTHERS
        shown = self._other(subject) if elsewhere else subject
        stated = asked if answers or elsewhere else chooser.sample(asked, len(asked) - 1)
        facts = [Fact(name, trap=False, things=things[name]) for name in stated]
        self._fill_up(facts, asked, things, shown)
        chooser.shuffle(facts)
        of_question, of_passage = chooser.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
        question = self._wordings[of_question].question(subject, things)
        heading, text, places = self._wordings[of_passage].passage(shown, facts)
        start, end = places[facts.index(Fact(asked[0], trap=False, things=things[asked[0]]))] if answers else (-1, -1)
        dataset = "attributes_new" if kind.name in LEFT_OUT else "attributes"
        label, about = int(answers), int(not elsewhere)
        row = Row(False, dataset, subject.group, question, heading, text, label, about, start, end)
        return Drawn(row, tuple(asked), tuple(fact.name for fact in facts if not fact.trap))

    def _name_asked(self) -> str:
        names = [name for name, kind in self._kinds.items() if any(self._subjects[letter] for letter in kind.kinds)]
        if self._left_out and self._random.random() < 0.5:
            names = [name for name in names if name in LEFT_OUT]
        elif self._left_out:
            names = [name for name in names if name not in LEFT_OUT]
        return self._random.choice(names)

    def _things(self, name: str) -> tuple[int, int]:
        there = self._wordings["en"].things(name)
        first, second = self._random.sample(range(there or 2), 2)
        return first, second

    def _fitting(self, subject: Subject) -> list[str]:
        return [name for name, kind in self._kinds.items() if subject.kind in kind.kinds]

    @staticmethod
    def _apart(one: str, other: str) -> bool:
        return one != other and BLURRED.get(one) != other and BLURRED.get(other) != one

    def _other(self, subject: Subject) -> Subject:
        others = [one for one in self._subjects[subject.kind] if one is not subject]
        return self._random.choice(others or [one for ones in self._subjects.values() for one in ones])

    def _fill_up(
        self,
        facts: list[Fact],
        asked: list[str],
        things: dict[str, tuple[int, int]],
        shown: Subject,
    ) -> None:
        """Adds facts that answer nothing asked, up to one to four in all; often one easily taken for the answer."""
        chooser = self._random
        most = max(len(facts) + (not facts), chooser.randrange(1, 5))
        gone = [name for name in asked if all(fact.name != name for fact in facts)] or asked
        others = [name for name in self._fitting(shown) if all(self._apart(name, one) for one in asked)]
        if len(facts) < most and chooser.random() < NEAR:
            name = chooser.choice(gone)
            near = [rival for rival in self._kinds[name].rivals if rival in others]
            if near and chooser.random() < 0.6:
                facts.append(self._fact(chooser.choice(near)))
            else:
                facts.append(Fact(name, trap=True, things=things[name]))
        chooser.shuffle(others)
        for name in others:
            if len(facts) < most and all(fact.name != name for fact in facts):
                facts.append(self._fact(name))

    def _fact(self, name: str) -> Fact:
        return Fact(name, trap=False, things=self._things(name))
