"""Symptoms told in Korean sentences instead of names: 머리가 아파요, 숨이 많이 차고, 어지러워서.

A verb is known by how its forms begin, whatever ending follows: 아프 → 아프, 아파, 아팠, 아픈 …
"""

import functools
import re
from collections.abc import Iterator, Mapping
from importlib import resources

from selfright_medical.lexicon import Concept, load_lexicon
from selfright_medical.spotting import Mention

_BASE, _VOWELS, _FINALS = 0xAC00, 21, 28
_A, _EO, _YEO, _O, _WA, _U, _WO, _EU, _I, _OE, _WAE = 0, 4, 6, 8, 9, 13, 14, 18, 20, 11, 10
_NONE, _N, _L, _M, _B, _S, _SS = 0, 4, 8, 16, 17, 19, 20
_OPEN = (_NONE, _N, _L, _M, _B)  # what may close an open stem: 아프, 아픈, 아플, 아픔, 아픕
_JOINED = {_I: _YEO, _A: _A, _EO: _EO, _O: _WA, _U: _WO, _OE: _WAE, 1: 1, 5: 5, _YEO: _YEO}  # with -어 or -아
_HA = "하"
_IRREGULAR_S = ("붓", "낫", "잇")
_REGULAR_B = ("잡", "입", "씹", "뽑")


def beginnings(stem: str) -> tuple[str, ...]:
    """All beginnings of the forms of a stem. It may be a phrase (힘이 없); only its last word changes."""
    head, last = stem[:-1], stem[-1]
    if not "가" <= last <= "힣":
        return (stem,)
    lead, vowel, final = _parts(last)
    if final == _NONE:
        return tuple(dict.fromkeys(_open(head, last, lead, vowel)))
    if final == _L:
        return (stem, *(head + _syllable(lead, vowel, closing) for closing in (_N, _B, _NONE)))
    if final == _B and last not in _REGULAR_B:
        endings = "우워웠운울움"
    elif final == _S and last in _IRREGULAR_S:
        endings = "어었은을음으"
    else:
        endings = ""
    return (stem, *(head + _syllable(lead, vowel, _NONE) + ending for ending in endings))


def _open(head: str, last: str, lead: int, vowel: int) -> list[str]:
    forms = [head + _syllable(lead, vowel, closing) for closing in _OPEN]
    if last == _HA:
        return [*forms, head + "해", head + "했"]
    if last == "르" and head:
        before = _parts(head[-1])
        doubled = head[:-1] + _syllable(before[0], before[1], _L)
        endings = ("라", "랐") if before[1] in (_A, _O) else ("러", "렀")
        return [*forms, *(doubled + ending for ending in endings), *(head + ending for ending in endings)]
    if vowel == _EU:
        joined = _A if head and "가" <= head[-1] <= "힣" and _parts(head[-1])[1] in (_A, _O) else _EO
    else:
        joined = _JOINED.get(vowel, vowel)
    return [*forms, *(head + _syllable(lead, joined, closing) for closing in (_NONE, _SS))]


def _parts(syllable: str) -> tuple[int, int, int]:
    """Initial, vowel, final, as they are numbered in Unicode."""
    number = ord(syllable) - _BASE
    return number // (_VOWELS * _FINALS), number // _FINALS % _VOWELS, number % _FINALS


def _syllable(lead: int, vowel: int, final: int) -> str:
    return chr(_BASE + (lead * _VOWELS + vowel) * _FINALS + final)


_PARTICLE = r"(?:이|가|은|는|도|을|를|에|에서|까지|부터|만|에는|엔)?"
_ADVERB = (
    r"(?:(?:너무|많이|좀|조금|조금씩|자주|계속|심하게|심하고|갑자기|자꾸|매우|아주|가끔|늘|항상|요즘"
    r"|살짝|약간|더|다시|또|막|몹시|꽤|진짜|정말"
    r"|며칠째|계속해서|별로|전혀|왜|이렇게|하나도|거의|제대로|경미하게|경미한|가볍게|많이씩|조금씩은)\s+){0,3}"
)
_DENIED = re.compile(r"\s*(?:건|것은|게)\s*아니|[가-힣]{0,2}지(?:는|도|를|가)?\s*(?:않|못)|진\s*않")
_HANGUL = re.compile("[가-힣]")
_DENIAL = "!"
_OR = re.compile(r"(?:이나|나)(?![가-힣])")  # 기침이나 콧물: no verb, but "or"


class Complaints:
    """Finds them; one regular expression for what has a subject, one for verbs that say it all."""

    def __init__(self) -> None:
        concepts = load_lexicon().concepts
        self._pairs: dict[tuple[str, str], tuple[Concept, bool]] = {}
        nouns: set[str] = set()
        verbs: set[str] = set()
        for key, said in _rows("verbs.tsv"):
            for noun in said[0]:
                for stem in said[1]:
                    for verb in beginnings(stem.removeprefix(_DENIAL)):
                        self._pairs[_close(noun), _close(verb)] = concepts[key], stem.startswith(_DENIAL)
                        nouns.add(noun)
                        verbs.add(verb)
        self._phrase = re.compile(
            rf"(?<![가-힣])(?P<noun>{_any(nouns)}){_PARTICLE}\s*{_ADVERB}(?P<verb>(?:(?:안|못)\s?)?(?:{_any(verbs)}))"
        )
        self._words = {form: concepts[key] for key, said in _rows("stems.tsv") for form in said[0]}
        self._word = re.compile(rf"(?<![가-힣])(?P<not>안\s?)?(?P<word>{_any(self._words)})")

    def find(self, text: str) -> Iterator[Mention]:
        """The complaints: those with a subject first, then the others, which may lie in the former."""
        if not _HANGUL.search(text):
            return
        for match in self._phrase.finditer(text):
            noun, verb = _close(match["noun"]), _close(match["verb"])
            concept, negated = self._pairs.get((noun, verb), (None, False))
            if concept is None and verb[0] in "안못":
                concept, negated = self._pairs.get((noun, verb[1:]), (None, False))[0], True
            if concept and not _OR.match(text, match.end("noun")):
                negated = negated or _DENIED.match(text, match.end()) is not None
                yield Mention(concept, match.start(), match.end(), "ko", negated, verbal=True)
        for match in self._word.finditer(text):
            negated = match["not"] is not None or _DENIED.match(text, match.end()) is not None
            yield Mention(self._words[match["word"]], match.start("word"), match.end(), "ko", negated, verbal=True)


@functools.cache
def complaints() -> Complaints:
    """The one reader of complaints."""
    return Complaints()


def _rows(name: str) -> Iterator[tuple[str, list[list[str]]]]:
    text = resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, *columns = line.split("\t")
            yield key, [column.split("|") for column in columns]


def _any(forms: set[str] | Mapping[str, object]) -> str:
    return "|".join(
        r"\s*".join(map(re.escape, form.split())) for form in sorted(forms, key=lambda form: (-len(form), form))
    )


def _close(text: str) -> str:
    return "".join(text.split())
