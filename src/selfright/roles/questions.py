"""What a question asks for: whether its answer can be told by its look (a number, a time, a name), and its parts."""

import re
from enum import StrEnum

from selfright.roles.coordination import coordinated
from selfright.roles.quantities import DATE, VERSION, Quantity, quantities


class AnswerType(StrEnum):
    """What kind of thing would answer; ``other`` when the wording does not tell."""

    PERSON = "person"
    PLACE = "place"
    TIME = "time"
    NUMBER = "number"
    VERSION = "version"
    YES_NO = "yes_no"
    OTHER = "other"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# The first pattern that fits decides, so the narrow ones come first.
# "When" and "where" ask only where no other word does before them.
_FIRST = r"^(?:(?!\b(?:what|which|who|whom|whose|how|why)\b).)*?\b"
_ASKED: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        AnswerType.VERSION,
        _any(
            r"\b(?:which|what) (?:\w+ )?versions?\b",
            r"\bversions? (?:is|are|does|do|introduced)\b",
            r"(?:어느|어떤|몇|무슨) ?버전",
            r"버전[은이]?\s*(?:무엇|몇|어)",
            r"최신 버전",
            r"latest version",
        ),
    ),
    (
        AnswerType.NUMBER,
        _any(
            r"\bhow (?:many|much|old|tall|long is|far|large|big|high|deep|often|frequently|heavy|wide|fast)\b",
            r"\b(?:what|which) (?:is the |was the |are the )?(?:\w+ ){0,2}(?:percentage|percent|number"
            r"|rate|ratio|proportion|amount|price|cost|population|size|length|height|weight|limit|maximum|minimum|default|count)\b",
            r"(?<![가-힣])몇(?!몇)",
            r"얼마",
            r"(?:비율|수치|용량|개수|횟수|인구|가격|크기|길이|높이|무게|확률|한도|최대|최소|나이)[은는이가]?\s*"
            r"(?:\?|$|무엇|어떻|얼마)",
        ),
    ),
    (
        AnswerType.TIME,
        _any(
            _FIRST + r"when\b",
            r"\b(?:what|which) (?:year|date|day|month|century|decade|time|season|period)\b",
            r"\bhow (?:long|soon)\b",
            r"\bin what year\b",
            r"언제",
            r"얼마 동안",
            r"(?:년도|날짜|시기|기간|연도|날|해|일시|시각|시점)[은는이가]?\s*(?:\?|$|무엇|언제)",
        ),
    ),
    (
        AnswerType.PERSON,
        _any(
            r"\bwho(?:m|se)?\b(?! is at)",
            r"\b(?:what|which) (?:person|man|woman|king|queen|president|author|scientist|player|leader"
            r"|actor|singer|ruler|emperor|mathematician)\b",
            r"누구|누가|누굴",
            r"(?:사람|인물|이름|작가|저자|감독|배우|가수|대통령|왕|장군|선수)[은는이가]?\s*(?:\?|$|누구)",
        ),
    ),
    (
        AnswerType.PLACE,
        _any(
            _FIRST + r"where\b",
            r"\b(?:what|which) (?:country|city|place|state|region|location|continent|river|town|province|island)\b",
            r"어디|어느 (?:나라|도시|지역|곳)",
            r"(?:장소|나라|국가|도시|지역|곳|위치)[은는이가]?\s*(?:\?|$|어디)",
        ),
    ),
    (
        AnswerType.YES_NO,
        _any(
            r"^\s*(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may|might|must|am)\b",
            r"(?:나요|습니까|ㅂ니까|합니까|됩니까|을까요|ㄹ까요|할까요|될까요|가요|니|는지|을까|될까|할까)\s*\??\s*$",
        ),
    ),
)
_ASKS_WHAT = _any(
    r"\b(?:what|which|who|whom|whose|where|when|why|how)\b",
    r"무엇|뭐|뭘|무슨|어떤|어떻|어느|언제|어디|누구|누가|얼마|(?<![가-힣])몇|(?<![가-힣])왜(?![가-힣])",
)

_MONTH_OR_DAY = _any(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|today|yesterday|century|centuries|decade|era|annually|daily|weekly|monthly"
    r"|midnight|noon|(?:19|20)\d0s)\b",
    r"\b1\d{3}s?\b|\b20\d\d\b",
    r"[월화수목금토일]요일|세기|년대|오전|오후|매일|매주|매년|당시|직후|이후|이전|동안",
)
_NAME = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-Z][a-zà-ÿ]+(?:[ -](?:[A-Z]\.?|de|of|von|van|al|ibn|[A-Z][a-zà-ÿ]+))*\b", re.MULTILINE
)
_PERSON = _any(
    r"[가-힣]{2,4}\s?(?:씨|박사|교수|장군|대통령|감독|선수|왕|여왕|황제|의원|작가|기자|총리|장관|목사|신부|사장|대표|회장|대사)(?![가-힣]{2})",
    r"(?<![가-힣])[가-힣]{2,4}(?:은|는|이|가|에게|와|과)\s",
)
_PLACE = _any(
    r"\b(?:in|at|near|from|to|of|across|throughout|around|within|north|south|east|west)\s+(?:the\s+)?[A-Z][a-z]+",
    r"[가-힣]{1,8}(?:시|도|군|구|읍|면|동|리|국|주|섬|강|산|역|항|대륙|지방|지역|나라|공원|대학교|광장)(?:에|에서|의|로|으로|은|는|이|가|를|을|,|\s|$)",
    r"에서",
)

_SPLIT_EN = re.compile(
    r"(?<=[?;])\s+|,?\s{1,9}(?:and|or|also|but)\s+(?:also\s+)?(?=(?:what|which|who|whom|whose|where|when|why|how|is|are|does|do|did|can|should|was|were|will)\b)"
    r"|,\s+(?=(?:what|which|who|where|when|why|how)\b)",
    re.IGNORECASE,
)
_SPLIT_KO = re.compile(
    r"(?<=[?;])\s+"
    r"|(?:(?<=이고)|(?<=이며)|(?<=하고)|(?<=하며)|(?<=되고)|(?<=되며)|(?<=있고)|(?<=있으며)|(?<=인지)|(?<=는지)|(?<=은지)|(?<=을지)|(?<=할지)|(?<=이고요))"
    r",?\s+(?:그리고\s+|또\s+|또한\s+)?"
    r"|,?\s{1,9}그리고\s+"
)
_MOST_PARTS = 6


def answer_type(question: str) -> AnswerType:
    """The kind of thing that would answer ``question`` (Korean or English), read from its wording."""
    text = question.strip()
    for kind, pattern in _ASKED:
        if kind is AnswerType.YES_NO and _ASKS_WHAT.search(text):
            continue
        if pattern.search(text):
            return kind
    return AnswerType.OTHER


def matches_type(kind: AnswerType, text: str, found: tuple[Quantity, ...] | None = None) -> float:
    """How well ``text`` could hold an answer of that kind, 0…1; 1 when the kind asks for nothing visible.

    ``found`` spares reading the quantities again when the caller has them.
    """
    if kind in (AnswerType.OTHER, AnswerType.YES_NO):
        return 1.0
    if kind in (AnswerType.NUMBER, AnswerType.TIME, AnswerType.VERSION):
        return _matches_quantity(kind, text, quantities(text) if found is None else found)
    if kind is AnswerType.PERSON:
        return 1.0 if _NAME.search(text) or _PERSON.search(text) else 0.0
    return 1.0 if _PLACE.search(text) or _NAME.search(text) else 0.0


_TIME_UNITS = frozenset({DATE, "year", "month", "week", "day", "h", "min", "s", "ms"})


def _matches_quantity(kind: AnswerType, text: str, found: tuple[Quantity, ...]) -> float:
    if kind is AnswerType.VERSION:
        return 1.0 if any(q.unit == VERSION for q in found) else 0.3 if any("." in q.value for q in found) else 0.0
    if kind is AnswerType.TIME:
        return 1.0 if any(q.unit in _TIME_UNITS for q in found) or _MONTH_OR_DAY.search(text) else 0.0
    return 1.0 if any(q.unit not in (DATE, VERSION) for q in found) else 0.2 if found else 0.0


def question_parts(question: str) -> tuple[str, ...]:
    """The separate questions inside ``question``, in order, at most six; the whole question when it asks one thing.

    ``What is X and how often is it taken?`` has two parts, and so have ``X는 무엇이고 단점은 무엇인가요?`` and
    ``What are the price and the weight of X?``.
    """
    pieces = [piece for part in _SPLIT_KO.split(question) for piece in _SPLIT_EN.split(part)]
    parts = [piece.strip(" ,;\n\t") for piece in pieces]
    asking = [
        part
        for part in parts
        if len(part) > 3 and (_ASKS_WHAT.search(part) or answer_type(part) is not AnswerType.OTHER)
    ]
    several = [each for part in (asking if len(asking) > 1 else [question]) for each in coordinated(part) or (part,)]
    return tuple(each.strip() for each in several[:_MOST_PARTS])


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
