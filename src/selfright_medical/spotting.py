"""Finds the lexicon's names in running text, Korean and English, longest first.

What may hang on a Korean noun is listed, so that a chance run of syllables is not taken for a name.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from selfright.domain.passages import Language
from selfright.domain.slots import Slot
from selfright_medical.lexicon import (
    Concept,
    Kind,
    first_word,
    is_abbreviation,
    load_lexicon,
    may_be_written_small,
    words,
)

LOOSE = 4  # syllables; so long a name may be spaced in any way, and anything may hang on it

_PARTICLE = (
    "들|이|가|은|는|을|를|의|에|도|만|과|와|로|으로|이나|나|이란|란|보다|처럼|까지|부터|마다|조차|밖에"
    "|한테|에게|께서|에서|에는|에도"
    "|에서는|에게서|에게는|으로는|로는|으로도|로도|으로서|로서|으로써|로써|으로부터|로부터|이랑|랑|하고"
    "|이라는|라는|이라도|라도|이라|라"
    "|이든|든|이며|며|이고|고|인데|인지|인가|일까|이면|이지만|이라서|라서|이라고|라고|입니다|이에요"
    "|예요|이예요|이다|였|이었|인|일|임|같은|같이|뿐"
    "|이셨|셨|이신|이셔|이래|래|이요|요|이세요|세요|이시|시|께|때문|대신|쪽|등|및"
)
_VERB = "하|한|할|해|했|함|합|되|된|될|돼|됐|됨|받|시키|나|났|난|있|없|생|오|올|왔|앓|걸|같|아니|아님|않|중|후|전|시|때"
_NOUN = (
    "환자|증상|증세|증|병력|과거력|가족력|이력|기운|기|진단|의심|소견|수치|치료|검사|관리|초기|말기"
    "|단계|전단계|위험|발작|보균|합병증|약물"
    "|흡입기|흡입제|시럽|정|캡슐|주사|연고|크림|패치|안약|점안액|로션|알레르기|알러지|부작용|쇼크|반응|감염|성"
)
_STRICT = re.compile(rf"(?:(?:{_NOUN})?(?:{_PARTICLE})?(?:{_PARTICLE})?(?:(?:{_VERB})[가-힣]*)?)")
_OPENED = re.compile("(?:이|가|은|는|을|를|도|의|에|와|과|로|만|라|랑)[가-힣]*")  # enough behind three syllables
_SINGLE = re.compile("이|가|은|는|을|를|도|에|과|와|의|랑|이랑|으로|이고|이나|입니다|이에요|이라|인데")
_REST = re.compile("[가-힣]*")
_MADE_FOR = ("약", "치료제", "백신", "예방", "억제제", "환자용", "내과", "센터")  # 두통약 is a medicine, no headache
_ALONE = frozenset({"암"})  # of one syllable, and still a word of its own


def may_follow(form: str, kind: str, text: str, end: int, length: int) -> bool:
    """Whether what follows ``form`` in ``text`` at ``end`` lets it be a word; ``length``: its syllables."""
    if not "가" <= form[-1] <= "힣":
        return end == len(text) or not (text[end].isascii() and text[end].isalnum())
    found = _REST.match(text, end)
    rest = found.group() if found else ""
    if not rest:
        return length > 1 or form in _ALONE or kind in ("allergen", "term")
    if kind in ("condition", "symptom") and rest.startswith(_MADE_FOR):
        return False
    if length == 1:
        return _SINGLE.fullmatch(rest) is not None
    if length >= LOOSE or (length == LOOSE - 1 and _OPENED.fullmatch(rest)):
        return True
    return _STRICT.fullmatch(rest) is not None


_HANGUL = re.compile("[가-힣]")
_MOST_FORMS = 32_768  # whose beginnings are kept for the next spotter
# What may stand between the words of a name.
_BETWEEN = re.compile(r"(?:[ \t\-‐‑–/'’#]|\. |\n(?!\s*\n)){0,3}|['’]s[ \-]{1,2}")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at a place. ``negated`` is set where the very words of the name deny it (열이 없다)."""

    concept: Concept
    start: int
    end: int
    language: Language
    negated: bool = False
    verbal: bool = False


_Spanned = TypeVar("_Spanned", Mention, Slot)


@dataclass(slots=True)
class _Node:
    """A step of a tree of names, by words or by syllables: where it goes on, and what ends here."""

    onward: "dict[str, _Node]" = field(default_factory=dict)
    ends: "list[_Name]" = field(default_factory=list)

    def after(self, key: str) -> "_Node | None":
        return self.onward.get(key)


class _Tree:
    """The root, which grows where a text looks: most names have nothing to do with it, and making all takes long."""

    def __init__(self) -> None:
        self._seeds: dict[str, list[tuple[str, Concept]]] = {}
        self._grown: dict[str, _Node] = {}

    def sow(self, key: str, form: str, concept: Concept) -> None:
        self._seeds.setdefault(key, []).append((form, concept))

    def after(self, key: str) -> _Node | None:
        if key not in self._grown and key in self._seeds:
            self._grown[key] = _grown(self._seeds[key])  # two threads may both have grown it, alike
        return self._grown.get(key)


@dataclass(frozen=True, slots=True)
class _Name:
    form: str
    concept: Concept
    capitals: bool  # written in capitals, and nothing else is meant by it then
    gaps: frozenset[int]  # how many characters, blanks left out, stand before each of its blanks


class Spotter:
    """Finds names of some kinds of concepts. Time grows with the text, not with the lexicon."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._english = _Tree()
        self._korean = _Tree()
        for concept in concepts:
            for form in (*concept.forms_en, *concept.forms_ko):
                key, korean = _start(form)
                if key:
                    (self._korean if korean else self._english).sow(key, form, concept)

    def find(self, text: str) -> list[Mention]:
        """The names in the order of the text; of those that overlap the longest, then the first."""
        return longest([*self._in_english(text), *self._in_korean(text)], len(text))

    def _in_english(self, text: str) -> Iterator[Mention]:
        spans = words(text)
        for first, (word, start, _) in enumerate(spans):
            node, place = self._english.after(word), first
            best: Mention | None = None
            while node:
                end = spans[place][2]
                if name := next((name for name in node.ends if _is_written(name, text[start:end])), None):
                    best = Mention(name.concept, start, end, "en")
                place += 1
                if place == len(spans) or not _BETWEEN.fullmatch(text, end, spans[place][1]):
                    break
                node = node.after(spans[place][0])
            if best:
                yield best

    def _in_korean(self, text: str) -> Iterator[Mention]:
        if not _HANGUL.search(text):
            return
        lower = text.lower()
        if len(lower) != len(text):  # a letter that grows when it is made small; positions would not fit
            lower = text
        before = ""
        for start, character in enumerate(lower):
            begins, before = not before.isalnum(), character
            inside = begins or _HANGUL.match(lower, start - 1)
            if inside and self._korean.after(character) and (found := self._longest(lower, start, begins=begins)):
                yield found

    def _longest(self, text: str, start: int, *, begins: bool) -> Mention | None:
        node: _Tree | _Node = self._korean
        place, length, best = start, 0, None
        gaps: list[int] = []
        while place < len(text):
            if text[place] == " " and length and place + 1 < len(text) and text[place + 1] != " ":
                gaps.append(length)
                place += 1
            following = node.after(text[place])
            if following is None:
                break
            node, place, length = following, place + 1, length + 1
            for name in node.ends:
                if _stands(name, text, place, length, gaps, begins=begins):
                    best = Mention(name.concept, start, place, "ko")
        return best


@functools.lru_cache(maxsize=_MOST_FORMS)
def _start(form: str) -> tuple[str, bool]:
    """What a name begins with in its tree, empty when with nothing, and whether that is the Korean one."""
    if _HANGUL.search(form):
        return form.lower().lstrip(" ")[:1], True
    return first_word(form), False


def _grown(seeds: Iterable[tuple[str, Concept]]) -> _Node:
    """The tree below what all these names begin with."""
    root = _Node()
    for form, concept in seeds:
        korean = _HANGUL.search(form) is not None
        keys = [*form.lower().replace(" ", "")] if korean else [word for word, *_ in words(form)]
        node = root
        for key in keys[1:]:
            node = node.onward.setdefault(key, _Node())
        gaps = frozenset(len(form[:place].replace(" ", "")) for place, c in enumerate(form) if c == " ")
        place = next((i for i, name in enumerate(node.ends) if name.concept is concept), None)
        if place is None:
            node.ends.append(_Name(form, concept, not korean and is_abbreviation(form), gaps))
        else:  # 속쓰림 and 속 쓰림: one name, which may be spaced either way
            node.ends[place] = replace(node.ends[place], gaps=node.ends[place].gaps | gaps)
    return root


def longest(found: Iterable[Mention], length: int) -> list[Mention]:
    """Of mentions that overlap the longest, then the first; in the order of a text of ``length`` characters."""
    ranked = sorted(found, key=lambda mention: (mention.start - mention.end, mention.start))
    return sorted(apart(ranked, length), key=lambda mention: mention.start)


def apart(ranked: Iterable[_Spanned], length: int) -> Iterator[_Spanned]:
    """What overlaps nothing that came before it."""
    taken = bytearray(length)
    for one in ranked:
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            yield one


def _is_written(name: _Name, surface: str) -> bool:
    """Whether an abbreviation is written as one; other names may be written in any case."""
    if not name.capitals:
        return True
    plain = surface.removesuffix("s")
    if surface.islower():
        return surface == name.form.lower() and may_be_written_small(name.form)
    return name.form in (plain, surface)


def _stands(name: _Name, text: str, end: int, length: int, gaps: list[int], *, begins: bool) -> bool:
    """Whether a Korean name is meant here: how it is spaced, where it begins, what hangs on it."""
    if length < LOOSE and not set(gaps) <= name.gaps:
        return False
    if not begins and (length < LOOSE - 1 or not _HANGUL.match(name.form)):
        return False
    return may_follow(name.form, name.concept.kind, text, end, length)


@functools.cache
def spotter(*kinds: Kind) -> Spotter:
    """The spotter for these kinds, made once."""
    return Spotter(load_lexicon().of_kind(*kinds))
