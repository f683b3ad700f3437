"""Questions that ask for two things at once: "the price and the weight of the lamp", "램프의 가격과 무게는?".

Each thing becomes a question of its own. What is compared, or asked of two things together, stays one question where
that can be seen ("between", "A와 B의 차이", "A와 B를 같이"). Elsewhere one sentence may answer both.
"""

import re
from collections.abc import Sequence

_LONGEST = 4  # words of a thing
_OWNER = "the its their my our your a an what which"
_VERB_FOLLOWS = "i we you they it can could should may must will would"
_OTHERS = (
    "of for in on at to from with without by per under about onto into or than when if while that who as do does did"
    " has have had is are was were be please"
)
_OWNERS, _VERBS_FOLLOW = frozenset(_OWNER.split()), frozenset(_VERB_FOLLOWS.split())
_BESIDE = _VERBS_FOLLOW | frozenset(_OTHERS.split())
_ENDS = re.compile(r"(?:['’]s|s['’]|[:,;–—])$")
_TOGETHER = re.compile(
    r"\b(?:between|both|compar\w+|versus|vs|together|cheaper|better|differ\w*)\b|^if\b"
    r"|다르|다른|달라|차이|비교|어느|관계|같이|함께|중(?:에|\s)",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:,|(?<![\s,]))\s+and\s+", re.IGNORECASE)
_WHAT_IS = re.compile(r"^what(?:['’]s|\s+(?:is|are))\s", re.IGNORECASE)
_WITHIN = re.compile(r"\s(?:of|for|in|at|on)\s", re.IGNORECASE)
_MARK = re.compile(r"(?<![\s.?!])[\s.?!]*$")

_JOINT = re.compile(r"(?P<word>.*?[가-힣A-Za-z0-9]{2})(?P<joint>와|과|이?랑|하고|,)$")
_ASKS = re.compile(r"(?:무엇|뭐|뭔|알려|알고|얼마|어떻게|어떤|언제|어디|몇|궁금|말해|설명|가르쳐|부탁|필요|좀)")
_PARTICLE = re.compile(r"(?P<word>.{2,}?)(?P<particle>은|는|이|가|을|를)?[?.]*$")
_NO_NOUN = re.compile(r"(?:의|에|에서|에게|한테|으로|을|를|요|다|까|죠|면|고)$")
_PAIRS = {"은": "은는", "는": "은는", "이": "이가", "가": "이가", "을": "을를", "를": "을를"}


def coordinated(question: str) -> tuple[str, ...]:
    """One question for each of two things that are asked for; none where one is."""
    if _TOGETHER.search(question):
        return ()
    sides = _AND.split(question.strip())
    return _english(*sides) if len(sides) == 2 else _korean(question.split())


def _english(left: str, right: str) -> tuple[str, ...]:
    mark = "?" if right.endswith("?") else ""
    before, after = left.split(), _MARK.sub("", right).split()
    owns = int(bool(after) and after[0].lower() in _OWNERS)
    first, second = _last_thing(before), _first_thing(after[owns:])
    rest = after[owns + len(second) :]
    is_whole = not rest or rest[0].lower() in _BESIDE or _ENDS.search(second[-1] if second else "")
    # "The room and board price": without a word that opens it, what comes first may belong to what ends the other.
    if not first or not second or not is_whole or (not owns and len(first) < len(second)):
        return ()
    tail = " ".join(rest)
    left = _WHAT_IS.sub(_what_is(first), left)
    if not owns:
        return _joined(left, tail, mark), _joined(*before[: -len(first)], *second, tail, mark)
    verb = _what_is(second) if _WHAT_IS.match(left) else ""
    return _joined(left, "" if _WITHIN.search(left) else tail, mark), _joined(verb, after[0], *second, tail, mark)


def _what_is(thing: Sequence[str]) -> str:
    return "What are " if thing[-1].endswith("s") else "What is "


def _joined(*parts: str) -> str:
    return " ".join(" ".join(parts[:-1]).split()) + parts[-1]


def _first_thing(words: Sequence[str]) -> list[str]:
    taken: list[str] = []
    for word in words[:_LONGEST]:
        if word.lower() in _BESIDE:
            break
        taken.append(word)
    return taken


def _last_thing(words: Sequence[str]) -> list[str]:
    taken: list[str] = []
    for word in reversed(words[-_LONGEST:]):
        plain = word.lower()
        if plain in _VERBS_FOLLOW:
            return taken[1:]
        if plain in _OWNERS | _BESIDE or _ENDS.search(word):
            break
        taken.insert(0, word)
    return taken


def _korean(words: Sequence[str]) -> tuple[str, ...]:
    for at in range(len(words) - 2, -1, -1):
        joint = _JOINT.fullmatch(words[at])
        if words[at] == "및" and at:
            return _korean_parts(words[: at - 1], words[at - 1], words[at + 1 :])
        if joint and _fits(joint["word"], joint["joint"]):
            return _korean_parts(words[:at], joint["word"], words[at + 1 :])
    return ()


def _korean_parts(before: Sequence[str], first: str, after: Sequence[str]) -> tuple[str, ...]:
    asks = next((place for place, word in enumerate(after) if _ASKS.match(word)), len(after))
    thing, tail = after[:asks], " ".join(after[asks:])
    last = _PARTICLE.fullmatch(thing[-1]) if thing else None
    if not last or len(thing) > _LONGEST or any(map(_NO_NOUN.search, (first, last["word"], *thing[:-1]))):
        return ()
    if not tail and not after[-1].endswith("?"):
        return ()
    owners = [place for place, word in enumerate(before) if word.endswith("의")]
    shared = before[: owners[-1] + 1] if owners else before[:-1] if len(before) > 1 else before
    second = " ".join((*thing[:-1], last["word"]))
    return tuple(
        f"{' '.join((*head, noun))}{particle_for(noun, last['particle'])} {tail or '?'}".replace(" ?", "?").strip()
        for head, noun in ((before, first), (shared, second))
    )


def particle_for(noun: str, particle: str | None) -> str:
    """The form of a Korean particle (은, 는, 이, 가, 을, 를) that goes with ``noun``."""
    return _PAIRS[particle][0 if _is_closed(noun[-1]) else 1] if particle else ""


def _fits(word: str, joint: str) -> bool:
    """Whether the particle fits the end of the word: "효과" is a word of its own."""
    return joint in ("하고", ",") or _is_closed(word[-1]) == (joint in ("과", "이랑"))


def _is_closed(letter: str) -> bool:
    """Whether a Korean syllable ends in a consonant; of other letters it is taken to."""
    return not "가" <= letter <= "힣" or (ord(letter) - ord("가")) % 28 > 0
