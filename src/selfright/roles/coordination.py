"""Questions that ask one thing of several: "the price and the weight of the lamp", "램프의 가격과 무게는?".

Only where what is joined is asked for, not where it is compared or belongs together ("the difference between", "A와 B를
같이").
"""

import re

_WORDS = r"(?:(?!(?:of|for|between|in|on|at|to|from|with|by|and|or)\b)[^\s,?!]+\s+){0,3}?[^\s,?!]+"
_OWNED = rf"(?:the|its|their|my|our|your)\s+{_WORDS}"
_TAIL = r"(?:\s+(?:of|for|in|on|at|to|from|with|when|if)\b[^,;?]*)"
_SEVERAL = r"(?P<several>{first}(?:,\s+{other})*,?\s+and\s+{other})"
_TELLS = r"tell me|list|give me|show me|explain|describe"
_ENGLISH = (
    re.compile(
        rf"(?P<head>what(?:'s|\s+(?:is|are|was|were))|(?:{_TELLS})(?:\s+about)?)\s+"
        rf"{_SEVERAL.format(first=_OWNED, other=_OWNED)}(?P<tail>{_TAIL}?)[.?!\s]*",
        re.IGNORECASE,
    ),
    # Without "the" before each, what stands before "and" may belong to what comes after it: "the room and board price".
    re.compile(
        rf"(?P<head>what\s+are)\s+{_SEVERAL.format(first=_OWNED, other=_WORDS)}(?P<tail>{_TAIL})[.?!\s]*", re.IGNORECASE
    ),
)
_BETWEEN = re.compile(r",?\s+and\s+|,\s+", re.IGNORECASE)
_OWNER = re.compile(r"(?:the|its|their|my|our|your)\s", re.IGNORECASE)
_TO_BE = re.compile(r"(?:is|are|'s)$", re.IGNORECASE)

_NOUN = r"[가-힣A-Za-z0-9]{2,}?"
_KOREAN = re.compile(
    rf"(?P<head>(?:.*\s)?)(?P<first>{_NOUN})(?P<joint>와|과|이?랑|\s및)\s+(?P<second>(?:[가-힣A-Za-z0-9]+(?<!의)\s)?{_NOUN})"
    r"(?:(?P<particle>은|는|이|가|을|를)?(?P<tail>\s+(?:좀\s+)?(?:무엇|뭐|뭔|알려|얼마|어떻게|언제|어디|궁금|말해|설명|가르쳐).*)"
    r"|(?P<topic>은|는)\s*\?)"
)
_COMPARES = re.compile(r"다르|다른|차이|비교|어느|관계")
_PAIRS = {"은": "은는", "는": "은는", "이": "이가", "가": "이가", "을": "을를", "를": "을를"}


def coordinated(question: str) -> tuple[str, ...]:
    """One question for each of the things asked for; none where only one is."""
    for pattern in _ENGLISH:
        if match := pattern.fullmatch(question.strip()):
            return tuple(_in_english(match, thing) for thing in _BETWEEN.split(match["several"]))
    match = _KOREAN.fullmatch(question.strip())
    if match is None or _COMPARES.search(match["tail"] or "") or not _joins(match["first"], match["joint"]):
        return ()
    owner, _, own = match["head"].rpartition("의 ")
    head, first = (f"{owner}의 ", own + match["first"]) if owner else (match["head"], match["first"])
    return tuple(_in_korean(match, head, thing) for thing in (first, match["second"]))


def _in_english(match: re.Match[str], thing: str) -> str:
    thing = thing if _OWNER.match(thing) else f"the {thing}"
    verb = _TO_BE.search(match["head"])
    head = "What " + ("are" if thing.endswith("s") else "is") if verb else match["head"]
    return f"{head} {thing}{match['tail']}".rstrip(". ") + ("?" if verb else "")


def _in_korean(match: re.Match[str], head: str, thing: str) -> str:
    pair = _PAIRS.get(match["particle"] or match["topic"] or "", "")
    particle = pair and pair[0 if _is_closed(thing[-1]) else 1]
    before, _, last = head.rstrip().rpartition(" ")
    head = f"{before} ".lstrip() if thing.startswith(f"{last} ") else head  # "대출 권수와 대출 기간"
    return f"{head}{thing}{particle}{match['tail'] or '?'}"


def _joins(word: str, joint: str) -> bool:
    """Whether the particle fits the end of the word: "효과" is a word of its own."""
    return joint.endswith("및") or _is_closed(word[-1]) == (joint in ("과", "이랑"))


def _is_closed(letter: str) -> bool:
    """Whether a Korean syllable ends in a consonant; of other letters it is taken to."""
    return not "가" <= letter <= "힣" or (ord(letter) - ord("가")) % 28 > 0
