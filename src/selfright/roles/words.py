"""Words that carry no topic, and words that negate, in Korean and English."""

import re
from collections.abc import Callable, Iterable

from selfright.domain.tables import read_table
from selfright.domain.text import has_hangul

_TABLE = read_table(__package__, "words")
_ENGLISH_STOP = frozenset(_TABLE["english"].split())
_ENGLISH_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]+(?:['’][A-Za-z]+)?(?![\w-])")
_PHRASES = re.compile(
    r"\baccording to (?:the |this )?(?:passage|text|documents?|article|context|author|paragraph)s?\b"
    r"|(?:위 글|지문|본문|문서|이 글|글|구절|단락|다음)에(?:서)? ?(?:따르면|의하면|언급된|나온)",
    re.IGNORECASE,
)

_WORD = re.compile(r"[^\W_]+")
_LEAST_PLURAL = 4  # letters

_END = r"(?![가-힣])"
_START = r"(?<![가-힣])"
# Question words with whatever particles follow, and words that only tie a question together.
_KOREAN_QUESTION = re.compile(
    rf"{_START}(?:무엇|무얼|뭐|뭘|뭔|어떻|어떠|어때|어떤|어느|언제|어디|어딘|누구|누굴|얼마|몇(?!몇))[가-힣]*"
    rf"|{_START}(?:무슨|누가|왜|왜냐|왜죠|왜요|왜인가요|왜일까요|웬){_END}"
)
_KOREAN_STOP = re.compile(
    rf"{_START}(?:이|그|저|그리고|그러나|하지만|그런데|그럼|그러면|그래서|또한|또는|혹은|및|등|등의|좀|혹시|만약|만일|바로|매우|더|가장|모두"
    r"|제가|저는|저의|나는|내가|나의|우리|우리는|당신|이것|그것|저것|이것은|그것은|이건|그건|이게|그게|이는|그는"
    r"|것|것은|것이|것을|것인가|것인가요|것입니까|것일까요|거|거야|건가요|건지|수|때|때는|때의|중|중에|중에서|중에는|경우|경우에|경우에는"
    r"|대한|대해|대해서|대하여|관한|관해|관해서|관련된|관련해|위한|위해|위해서|위하여|따른|따라|따르면|의하면|통해|통한|인한|인해"
    r"|하는|하는데|하려면|하면|하고|하며|하나요|합니까|할까|할까요|할|한|했나요|했을까|했는가|한다|해|해야|해야하나요|하나|하죠|하지"
    r"|되는|되나요|됩니까|될까요|된|되었나요|됐나요|되면|돼요|돼|되나|있는|있나요|있습니까|있을까요|있는지|있나|있어|있어요|있을|있다|있으며"
    r"|인가|인가요|입니까|일까|일까요|인지|이란|란|뜻|알려|알려줘|알려줄래|알려주세요|알려주십시오|말해|말해줘|말해주세요|가르쳐|가르쳐줘|가르쳐주세요"
    r"|설명|설명해|설명해줘|설명해주세요|설명하시오|설명해봐|보여줘|보여주세요|찾아줘|찾아주세요|궁금해|궁금해요|궁금합니다"
    r"|줘|줘요|주세요|주십시오|줄래|줄래요|주실래요|주시겠어요|부탁해|부탁해요|부탁합니다|싶어|싶어요|싶습니다|싶은데|알고|어야|네|예"
    rf"){_END}"
)
_KOREAN_ENDING = re.compile(
    r"(?<=[가-힣])(?:인가요|입니까|일까요|인지요|이었나요|였나요|이었습니까|였습니까|이라고|이란|인가|일까|인지|하나요|합니까|할까요"
    r"|되나요|됩니까|될까요|했나요|했습니까|한가요|이에요|예요|이야|이죠|은요|는요|요)(?=\s*(?:[?.!,~]|$))"
)
# Particles written onto a Latin word, and the English possessive.
_HANGING = re.compile(
    r"(?<=[A-Za-z0-9])(?:(?:은|는|이|가|을|를|의|에|에서|에는|로|으로|와|과|도|란|이란)(?![가-힣])|['’]s\b)"
)
KOREAN_LIGHT = frozenset(_TABLE["korean"].split())
KOREAN_HOMONYMS = frozenset(_TABLE["homonyms"].split())
"""Light words that are also nouns of their own."""

_NEGATION_EN = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|nothing|nobody|nowhere|unable|lacks?|lacking|fails? to"
    r"|failed to|except|exclud(?:es?|ed|ing)|instead of|rather than|hardly|rarely|no longer)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_NEGATION_EN = re.compile(
    r"\bnot only\b|\bno\. ?\d|\bno doubt\b|\bwhether or not\b|\bno more than\b", re.IGNORECASE
)
_NEGATION_KO = re.compile(
    r"않|없|아니|아닌|아닙|아녜|못하|못한|못할|못했|못합|말아|마세요|마십시오|말 것|불가|금지|금물|제외"
    r"|(?<![가-힣])(?:안|못)\s(?=[가-힣])|지 마(?![가-힣])|모르"
)
_NOT_NEGATION_KO = re.compile(
    r"뿐(?:만)? 아니라|뿐만아니라|지 않으면 안|수밖에 없|다름없|다름 없|틀림없|틀림 없|끊임없"
    r"|끊임 없|관계없이|상관없이"
)


def mask_stop_words(text: str) -> str:
    """``text`` with words that carry no topic blanked out; every position stays where it was.

    Gone are stop words, question words, request phrases and the polite endings of both languages. An English word
    in capitals amid other writing (``WHO``, ``IT``) is a name and stays.
    """
    korean = has_hangul(text)
    is_shouted = text.isupper() and not korean and " " in text.strip()
    for pattern in (_PHRASES, *((_KOREAN_QUESTION, _KOREAN_STOP, _KOREAN_ENDING) if korean else ()), _HANGING):
        text = pattern.sub(_blank, text)
    return _ENGLISH_WORD.sub(_english_blanker(is_shouted), text)


def is_negated(text: str) -> bool:
    """Whether the text says that something is *not* so; a double negative ("지 않으면 안 된다") does not count."""
    if _NEGATION_EN.search(_NOT_NEGATION_EN.sub(" ", text)):
        return True
    return has_hangul(text) and _NEGATION_KO.search(_NOT_NEGATION_KO.sub(" ", text)) is not None


def content_words(text: str) -> frozenset[str]:
    """The words of ``text`` that carry its topic, as ``word_stems``."""
    return word_stems(mask_stop_words(text.casefold()))


def word_stems(text: str) -> frozenset[str]:
    """The words of ``text`` in lower case, Korean ones cut to their first two syllables, without most particles."""
    return frozenset(word[:2] if has_hangul(word) else word for word in _WORD.findall(text.casefold()))


def singular(words: Iterable[str]) -> frozenset[str]:
    """The words without the ending of an English plural (Harman's S stemmer, JASIS 42, 1991)."""
    return frozenset(map(_singular, words))


def _singular(word: str) -> str:
    if len(word) < _LEAST_PLURAL or word.endswith(("us", "ss")) or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    return word[:-1]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _english_blanker(is_shouted: bool) -> Callable[[re.Match[str]], str]:
    def blank(match: re.Match[str]) -> str:
        word = match.group()
        is_name = word.isupper() and len(word) > 1 and not is_shouted
        stop = not is_name and word.lower().replace("’", "'") in _ENGLISH_STOP
        return " " * len(word) if stop else word

    return blank
