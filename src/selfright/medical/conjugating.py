"""How the forms of a Korean verb or adjective begin, whatever ending follows: 아프 → 아프, 아파, 아팠, 아픈 …"""

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
    if final == _B and last not in _REGULAR_B:
        return (
            stem,
            *(head + _syllable(lead, vowel, _NONE) + ending for ending in ("우", "워", "웠", "운", "울", "움")),
        )
    if final == _S and last in _IRREGULAR_S:
        return (
            stem,
            *(head + _syllable(lead, vowel, _NONE) + ending for ending in ("어", "었", "은", "을", "음", "으")),
        )
    if final == _L:
        return (stem, *(head + _syllable(lead, vowel, closing) for closing in (_N, _B, _NONE)))
    return (stem,)


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
