"""Dose, route, frequency and time of a medicine, from the words around its name."""

import re
from collections.abc import Mapping

_DOSE = re.compile(
    r"(?<![\d.])(?P<number>\d{1,5}(?:[.,]\d{1,3})?)\s?(?P<unit>mg|mcg|[µμu]g|g(?![a-z/])|밀리그램"
    r"|마이크로그램|그램|IU|units?|단위|유닛|㎎|mEq)(?!/d?L|/m?[lL])(?![a-zA-Z])"
)
_DOSE_UNITS = {
    **dict.fromkeys(("밀리그램", "㎎"), "mg"), **dict.fromkeys(("µg", "μg", "ug", "마이크로그램"), "mcg"),
    **dict.fromkeys(("unit", "단위", "유닛", "iu"), "units"), "그램": "g", "meq": "mEq",
}  # fmt: skip
_OF = re.compile(r"\s+of\s")  # 100 mg of Zoloft: the dose of what follows
_BEFORE_OF = re.compile(r"\d[\w.,]*\s?[a-zA-Z㎎]+\s+of\s+(?:\w+\s+)?$")
_COUNT = {
    "한": 1, "once": 1, "one": 1, "두": 2, "twice": 2, "two": 2, "세": 3, "thrice": 3, "three": 3, "네": 4, "four": 4,
    "five": 5, "six": 6, "eight": 8, "twelve": 12,
}  # fmt: skip
_N = rf"(?P<n>\d{{1,2}}|{'|'.join(_COUNT)})"
_Rule = tuple[re.Pattern[str], str]


def _rule(pattern: str, reading: str) -> _Rule:
    """What is looked for, and what it says; ``{}`` stands for the number that was found."""
    return re.compile(pattern, re.IGNORECASE), reading


_FREQUENCY = (
    _rule(rf"(?:하루|1일|매일|(?<![가-힣])일)\s?(?:에\s?)?{_N}\s?(?:번|회|차례)", "{}/day"),
    _rule(rf"(?:일주일|1주일|1주|매주|주)\s?(?:에\s?)?{_N}\s?(?:번|회|차례)", "{}/week"),
    _rule(rf"(?:한 ?달|1개월|월)\s?(?:에\s?)?{_N}\s?(?:번|회|차례)", "{}/month"),
    _rule(r"(?P<n>\d{1,2})\s?시간\s?(?:마다|간격)", "every {} hours"),
    _rule(r"(?P<n>\d{1,2})\s?개월\s?(?:마다|간격|에 한 번)", "every {} months"),
    _rule(r"(?P<n>\d{1,2})\s?주\s?(?:마다|간격)", "every {} weeks"),
    _rule(r"아침\s?[,·]?\s?점심\s?[,·]?\s?저녁", "3/day"),
    _rule(r"아침\s?(?:이랑|과|하고|,|·)?\s?저녁", "2/day"),
    _rule(r"\bq\.?\s?(?P<n>\d{1,2})\s?h(?:rs?|ours?)?\b", "every {} hours"),
    _rule(rf"\bevery\s+{_N}\s*(?:hours?|hrs?)", "every {} hours"),
    _rule(rf"\bevery\s+{_N}\s*months?", "every {} months"),
    _rule(rf"\bevery\s+{_N}\s*weeks?", "every {} weeks"),
    _rule(r"\b(?:bid|b\.i\.d)\b", "2/day"),
    _rule(r"\b(?:tid|t\.i\.d)\b", "3/day"),
    _rule(r"\b(?:qid|q\.i\.d)\b", "4/day"),
    _rule(rf"\b{_N}\s*(?:times?)?\s*(?:a|per|each|every)?\s*(?:day|daily)\b", "{}/day"),
    _rule(rf"\b{_N}\s*(?:times?)?\s*(?:a|per|each|every)?\s*(?:week|weekly)\b", "{}/week"),
    _rule(
        r"\b(?:qd|q\.d|qam|q\.a\.m|qpm|qhs|q\.h\.s|nightly|daily)\b|\b(?:every|each)\s+(?:day|morning|night"
        r"|evening)\b|매일|날마다", "1/day"),
    _rule(r"\b(?:weekly|every week)\b|매주", "1/week"),
    _rule(r"\b(?:every other day|qod)\b|격일|이틀에 한 번", "every other day"),
    _rule(r"\b(?:prn|p\.r\.n|as needed|when needed|if needed|as required)\b|필요(?:할|한|시)|아플 때마다", "as needed"),
)  # fmt: skip
_TIMING = (
    _rule(r"식후|밥 ?먹고|\bafter (?:meals?|food|eating|breakfast|dinner|lunch)\b|\bp\.?c\.?\b", "after meals"),
    _rule(
        r"식전|공복|빈속|\bbefore (?:meals?|food|eating|breakfast|dinner|lunch)\b|\ba\.?c\.?\b|empty stomach",
        "before meals",
    ),
    _rule(r"식사 ?중|식사와 함께|\bwith (?:meals?|food)\b", "with meals"),
    _rule(r"자기 ?전|취침 ?전|잠들기 ?전|잘 때|\b(?:at bedtime|before bed|qhs|q\.h\.s|hs)\b", "bedtime"),
    _rule(r"아침|\b(?:in the morning|every morning|qam)\b", "morning"),
    _rule(r"저녁|밤에|\b(?:in the evening|every evening|qpm)\b", "evening"),
)
_ROUTE = (
    _rule(r"\b(?:po|p\.o|by mouth|orally|oral(?! contracept))\b|경구(?!피임|혈당|용? ?피임)", "oral"),
    _rule(r"흡입|\b(?:inhalers?|inhal\w+|puffs?|nebuli[sz]\w+)\b", "inhaled"),
    _rule(r"주사|맞(?:고|아|았|는|습|을|으)|\b(?:inject\w*|shots?|iv|im|sc|subcut\w*|sq|intraven\w+)\b", "injection"),
    _rule(r"안약|점안|눈에|\beye ?drops?\b|\b(?:left|right|each|both) eyes?\b", "eye"),
    _rule(r"연고|크림|로션|바르|발라|\b(?:ointment|cream|lotion|gel|topical\w*|apply|applied|rub)\b", "topical"),
    _rule(r"패치|붙이|붙여|\bpatch(?:es)?\b", "patch"),
    _rule(r"비강|코에 뿌|\b(?:nasal spray|nasal|intranasal)\b", "nasal"),
    _rule(r"좌약|\b(?:suppositor\w+|rectally)\b", "rectal"),
)


def details_of(before: str, name: str, after: str) -> Mapping[str, str]:
    """What the words before, in and behind a medicine's name say: ``dose``, ``frequency``, ``timing``, ``route``."""
    found: dict[str, str] = {}
    of = _BEFORE_OF.search(before[-30:])  # 20 mg of
    if dose := _dose(of.group() if of else "", last=True) or _dose(after) or _dose(before[-30:], last=True):
        found["dose"] = dose
    around = f"{before} {after}"
    if frequency := _find_rule(_FREQUENCY, after) or _find_rule(_FREQUENCY, before):
        found["frequency"] = frequency
    timing = _find_rule(_TIMING, around)
    if timing and not (timing in ("morning", "evening") and "frequency" in found):
        found["timing"] = timing
    if route := _find_rule(_ROUTE, f"{before} {name} {after}"):
        found["route"] = route
    return found


def _find_rule(rules: tuple[_Rule, ...], text: str) -> str | None:
    for pattern, reading in rules:
        if match := pattern.search(text):
            said = match.groupdict().get("n") or ""
            return reading.format(_COUNT.get(said.lower()) or int(said or 0))
    return None


def _dose(text: str, *, last: bool = False) -> str | None:
    found = [match for match in _DOSE.finditer(text) if last or not _OF.match(text, match.end())]
    if not found:
        return None
    match = found[-1 if last else 0]
    unit = _DOSE_UNITS.get(match["unit"].lower(), match["unit"])
    return f"{match['number'].replace(',', '')} {unit}"
