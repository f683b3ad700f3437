"""Antonyms, Korean and English: what a sentence with one of them denies."""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache

from selfright.domain.text import has_hangul

# Two sides a line. Only pairs that leave little room: what is not the one need not be the other (hot, cold) stays out,
# as do words that mean much else beside (right, end, back).
_CLEAR = """
increase rise raise grow growth gain climb elevate boost | decrease fall drop reduce reduction decline lower lessen
high higher highest | low lower lowest
large larger largest big bigger | small smaller smallest
long longer longest lengthen | short shorter shortest shorten
early earlier earliest | late later latest
above | below
fast faster quick quickly quicker rapid rapidly accelerate | slow slower slowly
strong stronger strongly strengthen | weak weaker weakly weaken
better best improve improvement | worse worst worsen deteriorate
positive positively | negative negatively
succeed success successful successfully | fail failure unsuccessful unsuccessfully
allow permit approve approval accept acceptance | forbid prohibit ban reject rejection refuse refusal
include inclusion | exclude exclusion
effective effectively | ineffective
safe safely safety | unsafe dangerous harmful
easy easier easily simple | difficult difficulty hard harder
cheap cheaper inexpensive affordable | expensive costly
heavy heavier | light lighter
possible | impossible
able | unable
legal legally | illegal illegally
public publicly | private privately
internal internally | external externally
add | remove delete
attach connect | detach disconnect
expand widen | shrink narrow contract
agree agreement support | disagree disagreement oppose
encourage | discourage
enable | disable
lock | unlock
install | uninstall
upgrade | downgrade
upload | download
encrypt | decrypt
import | export
buy purchase | sell
win | lose
always | never
known | unknown
permanent permanently | temporary temporarily
direct directly | indirect indirectly
correct correctly accurate true | incorrect wrong false inaccurate
mandatory required compulsory | optional voluntary
advantage benefit strength | disadvantage drawback weakness
profit | loss
north northern | south southern
east eastern | west western
inside | outside
visible | invisible hidden
optimistic | pessimistic
active actively | inactive
automatic automatically | manual manually
증가 늘 늘어나 오르 상승 높이 높아지 | 감소 줄 줄어들 내리 하락 낮추 낮아지
높 | 낮
길 | 짧
빠르 | 느리
강하 강화 | 약하 약화
최대 최고 | 최소 최저
초과 | 미만
이전 | 이후
식전 | 식후
처음 최초 | 마지막 최후
허용 허가 | 금지
가능 | 불가능
포함 | 제외
성공 | 실패
찬성 동의 | 반대 거부
안전 | 위험
쉽 | 어렵
추가 | 삭제 제거
수입 | 수출
남성 남자 | 여성 여자
긍정 | 부정
장점 | 단점
이익 | 손실
확대 | 축소
개선 호전 | 악화
필수 | 선택
자동 | 수동
내부 | 외부
입력 | 출력
구매 | 판매
합법 | 불법
직접 | 간접
좋 | 나쁘
가볍 | 무겁
넓 | 좁
깊 | 얕
오전 | 오후
열 | 닫
켜 | 끄
"""

# Words that often stand in a text for something else than the question's: told apart in claims, which share more.
_LOOSE = """
more | less fewer
most maximum maximal maximize | least minimum minimal minimize
before | after
major majority | minor minority
common commonly frequent frequently often | rare rarely seldom uncommon
same similar similarly | different differently differ
complete completely fully | incomplete partial partially
young younger youngest | old older oldest
male man men | female woman women
present presence | absent absence
많 | 적
크 | 작
"""
PAIRS = _CLEAR + _LOOSE.lstrip()
_CLEAR_PAIRS = len(_CLEAR.strip().splitlines())

Tokens = Callable[[str], Sequence[str]]


def may_be_opposed(text: Set[str], tokens: Tokens) -> bool:
    """Whether any word of a text has an opposite that is known."""
    return any(pair < _CLEAR_PAIRS for pair, _ in _sides(text, tokens))


def opposed(claim: Set[str], said: Set[str], tokens: Tokens, *, clearly: bool = False) -> bool:
    """Whether ``claim`` says of something what ``said`` says the opposite of; both are index tokens.

    ``tokens`` is what made them. A text with both sides of a pair compares, and opposes nothing. ``clearly``: by the
    pairs alone that seldom stand in a text for something else.
    """
    ours, theirs = _sides(claim, tokens), _sides(said, tokens)
    return any(
        (pair, not side) in theirs and (pair, side) not in theirs and (pair, not side) not in ours
        for pair, side in ours
        if pair < _CLEAR_PAIRS or not clearly
    )


def _sides(found: Set[str], tokens: Tokens) -> set[tuple[int, bool]]:
    korean = any(map(has_hangul, found))  # else no Korean word is looked at: that would load a morphological analyser
    known = (_known(tokens, False), _known(tokens, True)) if korean else (_known(tokens, False),)
    return {place for words in known for token in found for place in words.get(token, ())}


@lru_cache(maxsize=16)
def _known(tokens: Tokens, korean: bool) -> dict[str, tuple[tuple[int, bool], ...]]:
    """Index token → the pairs of a language that it is in, and on which side."""
    places: dict[str, tuple[tuple[int, bool], ...]] = {}
    for token, place in _listed(tokens, korean):
        if place not in places.get(token, ()):
            places[token] = (*places.get(token, ()), place)
    return places


def _listed(tokens: Tokens, korean: bool) -> Iterator[tuple[str, tuple[int, bool]]]:
    for number, line in enumerate(PAIRS.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split() if has_hangul(line) is korean else ():
                found = tokens(word)
                if len(found) == 1:  # a word that the tokenizer takes apart would match by halves
                    yield found[0], (number, bool(side))
