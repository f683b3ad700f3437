"""Age, sex and pregnancy, and whose they are where the same words say so (5살 아들, my 6-year-old daughter)."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from selfright.domain.slots import Slot, Subject
from selfright.domain.tables import read_table

_RELATIVE = (
    "(?:아들|딸|아이|아기|애기|손자|손녀|조카|동생|남동생|여동생|어머니|아버지|엄마|아빠|할머니"
    "|할아버지|남편|아내|형|누나|언니|오빠|이모|고모|삼촌)"
    r"(?!(?:예요|이에요|입니다|인데|이고|이며|이라))"
)
_ENGLISH_RELATIVE = (
    r"(?:son|daughter|child|kid|baby|grandson|granddaughter|nephew|niece|brother|sister|mother|father"
    r"|mom|dad|wife|husband)"
)
_ADJECTIVE = r"(?:\s?(?:된|짜리|먹은|우리|저희|제|초등학생|여자|남자))*\s?"
_AGE = re.compile(
    rf"(?:만\s?)?(?<![\d.])(?P<age>\d{{1,3}})\s?(?:세|살)(?!\s?(?:이상|이하|미만|부터|까지|때|이후|이전"
    rf"|전에|에(?![가-힣])|무렵|경|초과))(?:{_ADJECTIVE}(?P<whose>{_RELATIVE}))?"
)
_MONTHS = re.compile(
    rf"(?:생후\s?(?P<born>\d{{1,2}})\s?개월|(?<![\d.])(?P<months>\d{{1,2}})\s?개월\s?(?:된\s?)?(?=아기"
    rf"|아이|아들|딸|애))(?:{_ADJECTIVE}(?P<whose>{_RELATIVE}))?"
)
_NUMBERS: dict[str, dict[str, int]] = read_table(__package__, "person")
_TENS, _ONES = _NUMBERS["tens"], _NUMBERS["ones"]
_NATIVE = re.compile(
    rf"(?<![가-힣])(?P<tens>{'|'.join(_TENS)})?\s?(?P<ones>{'|'.join(_ONES)})?\s?살(?:{_ADJECTIVE}(?P<whose>{_RELATIVE}))?(?!\s?때)"
)
_ENGLISH_AGE = re.compile(
    rf"(?<![\d.])(?P<age>\d{{1,3}})[\s-]?(?P<unit>years?|yrs?|months?|weeks?)[\s-]?(?:old"
    rf"|of age)\b(?:\s+(?P<whose>{_ENGLISH_RELATIVE})\b)?"
    r"|(?<![\d.])(?P<short>\d{1,3})[\s-]?(?:y/?o\b|yo\b|y\.o\.)"
    r"|\b(?:aged?|age:|age is)\s+(?P<aged>\d{1,3})\b"
    r"|\b(?:I am|I'm|I’m)\s+(?P<am>\d{1,2})(?=\s*(?:[,.;]|and\b|with\b|$|male|female|now))"
    r"|(?<![\w.])(?P<letter>\d{2})\s?(?=[MF]\b)",
    re.IGNORECASE,
)
_MALE = (
    r"남성|남환|남자(?!\s?친구)|(?<![가-힣])남(?=\s?[/,(]|\s?\d{2})|할아버지(?=예요|이에요|입니다|인데)"
    r"|아저씨(?=예요|이에요|입니다|인데)|아들|손자"
)
_FEMALE = (
    r"여성|여환|여자(?!\s?친구)|(?<![가-힣])여(?=\s?[/,(]|\s?\d{2})|할머니(?=예요|이에요|입니다|인데)"
    r"|아주머니(?=예요|이에요|입니다|인데)|딸|손녀|임산부|임신부"
)
_KOREAN_SEX = re.compile(
    rf"(?P<male>{_MALE})|(?P<female>{_FEMALE})|(?<=\d[세살])\s?[/,]\s?(?P<m>남)(?![가-힣])"
    rf"|(?<=\d[세살])\s?[/,]\s?(?P<f>여)(?![가-힣])"
)
_ENGLISH_SEX = re.compile(
    r"\b(?P<male>man|male|gentleman|boy|son|grandson|(?<=\d)m(?=\b)|(?<=\d\s)M(?=\b))\b"
    r"|\b(?P<female>woman|female|lady|girl|daughter|granddaughter)\b"
    r"|(?<=\d)(?P<m>M)\b|(?<=\d)(?P<f>F)\b|(?<=\d )(?P<m2>M)\b|(?<=\d )(?P<f2>F)\b"
)
_IS_ONE = re.compile(r"이고|입니다|이에요|예요|인데|이며|이라|\s?환자|이다|이야|임\b")
_ENGLISH_SELF = re.compile(
    r"\b(?:I am|I'm|I’m|patient is|she is|he is|as)\s+(?:an?\s+)?(?:\w+\s+){0,2}$", re.IGNORECASE
)
_IS_RELATIVE = re.compile("아들|손자|딸|손녀|(?:grand)?son|(?:grand)?daughter", re.IGNORECASE)
_MINE = re.compile(r"\b(?:my|our)\s+$", re.IGNORECASE)  # my 4 year old
_WIDE = 60
_NEAR = 26  # characters between an age and the sex that goes with it

_WEEKS = r"(?P<weeks>\d{1,2})\s?주(?:차|째)?"
_PREGNANT = re.compile(
    rf"임신\s?{_WEEKS}|임신\s?(?P<months>\d{{1,2}})\s?개월|{_WEEKS.replace('weeks', 'before')}\s?(?:임산부|임신부)"
    r"|임신\s?(?:중|했|한 상태|상태|이에요|입니다|인데|이고)|(?:임산부|임신부)(?=예요|이에요|입니다|인데"
    r"|이고)|임신 ?가능성(?=[은이도]?\s?(?:없|전혀))|임신(?=(?:은|이|은요)?\s?(?:아니|아닙|아님|안))"
    r"|(?<=현재 )임신(?=\s)"
)
_NOT_PREGNANT = re.compile(
    r"[은이도]?\s?(?:전혀 )?없|(?:이|은|한 ?건|중은|중이|했지|상태는)?\s?(?:아니|아닙|아님|않|안 ?했)"
)
_ENGLISH_PREGNANT = re.compile(
    r"(?:(?P<weeks>\d{1,2})\s?(?:weeks?|wks?)[\s-]?(?:pregnant|gestation|into my pregnancy))"
    r"|(?:(?P<months>\d)\s?months?\s?pregnant)|\bpregnant\b(?!\s+(?:women|woman|patients?|people))",
    re.IGNORECASE,
)
_ENGLISH_NOT = re.compile(
    r"\b(?:not|isn't|n't|never|denies being|no chance of being)\s+(?:currently\s+|been\s+)?(?:\d+\s)?$", re.IGNORECASE
)
_MAY_BE = re.compile(
    r"(?:might be|may be|could be|if I get|if|get|getting|become|to be|when|while|am I|are you|is it"
    r"|\b(?:could|can|might|may|would)\s+\w+\s+(?:be|get)"
    r"|\b(?:if|when|while)\s+(?:I am|I'm|I’m|you are|you're|she is))\s*$",
    re.IGNORECASE,
)
_WEEKS_A_MONTH = 4


def read_person(text: str) -> list[Slot]:
    """Ages, then sexes, then pregnancies; the subject is another than the user only where the words themselves tell."""
    ages = sorted(_ages(text), key=lambda age: age.start)
    return [*ages, *_sexes(text, ages), *_pregnancies(text)]


def _ages(text: str) -> Iterator[Slot]:
    for match in _AGE.finditer(text):
        yield from _aged(match, int(match["age"]), "years", bool(match["whose"]))
    for match in _MONTHS.finditer(text):
        yield from _aged(match, int(match["born"] or match["months"]), "months", bool(match["whose"]))
    for match in _NATIVE.finditer(text):
        age = _TENS.get(match["tens"] or "", 0) + _ONES.get(match["ones"] or "", 0)
        yield from _aged(match, age, "years", bool(match["whose"]))
    for match in _ENGLISH_AGE.finditer(text):
        age = next(int(match[name]) for name in ("age", "short", "aged", "am", "letter") if match[name])
        unit = (match["unit"] or "years").lower().rstrip("s").replace("yr", "year") + "s"
        yield from _aged(match, age, unit, bool(match["whose"] or _MINE.search(_just_before(text, match))))


def _aged(match: re.Match[str], age: int, unit: str, related: bool) -> Iterator[Slot]:
    if 0 < age <= {"years": 120, "months": 60, "weeks": 60}[unit]:
        subject: Subject = "family" if related else "user"
        yield Slot("age", str(age), unit, subject=subject, start=match.start(), end=match.end())


def _just_before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - _WIDE) : match.start()]


def _sexes(text: str, ages: list[Slot]) -> Iterator[Slot]:
    told: set[Subject] = set()
    starts = [age.start for age in ages]
    for match in (*_KOREAN_SEX.finditer(text), *_ENGLISH_SEX.finditer(text)):
        window = ages[bisect_left(starts, match.start() - _WIDE) : bisect_left(starts, match.end() + _WIDE)]
        near = next((age for age in window if _is_near(text, age, match)), None)
        if near is None and not _says_self(text, match):
            continue
        subject: Subject = "family" if _IS_RELATIVE.fullmatch(match.group()) else near.subject if near else "user"
        if subject in told:
            continue
        told.add(subject)
        male = any(value for name, value in match.groupdict().items() if name.startswith("m"))
        yield Slot("sex", "male" if male else "female", subject=subject, start=match.start(), end=match.end())


def _is_near(text: str, age: Slot, match: re.Match[str]) -> bool:
    first, second = sorted(((age.start, age.end), match.span()))
    between = text[first[1] : max(first[1], second[0])]
    return len(between) <= _NEAR and not re.search(r"[.!?\n]", between)


def _says_self(text: str, match: re.Match[str]) -> bool:
    if "가" <= match.group()[0] <= "힣":
        return _IS_ONE.match(text, match.end()) is not None
    return _ENGLISH_SELF.search(_just_before(text, match)) is not None


def _pregnancies(text: str) -> Iterator[Slot]:
    for match in _PREGNANT.finditer(text):
        weeks = match["weeks"] or match["before"] or (match["months"] and str(int(match["months"]) * _WEEKS_A_MONTH))
        negated = _NOT_PREGNANT.match(text, match.end()) is not None
        yield from _pregnancy(match, weeks, negated=negated)
    for match in _ENGLISH_PREGNANT.finditer(text):
        before = _just_before(text, match)
        if not _MAY_BE.search(before):
            weeks = match["weeks"] or (match["months"] and str(int(match["months"]) * _WEEKS_A_MONTH))
            yield from _pregnancy(match, weeks, negated=_ENGLISH_NOT.search(before) is not None)


def _pregnancy(match: re.Match[str], weeks: str | None, *, negated: bool) -> Iterator[Slot]:
    if weeks is None or 0 < int(weeks) <= 44:
        details = (("weeks", weeks),) if weeks else ()
        start, end = match.span()
        yield Slot("pregnancy", "pregnant", negated=negated, start=start, end=end, details=details)
