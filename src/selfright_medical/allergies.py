"""Which of the things a message names the user cannot stand, and where a message denies that, or all of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selfright_medical.clauses import Clauses
from selfright_medical.spotting import Mention

_DRUG_ALLERGY = "condition:drug-allergy"
_OF_A_KIND = frozenset({_DRUG_ALLERGY, "condition:food-allergy"})
GENERAL = _OF_A_KIND | {"condition:allergy"}
"""The allergy itself is no condition to keep: what it is against is kept, and that there is none of a kind."""

_KOREAN_CUE = re.compile(r"알레르기|알러지|알레르겐|과민반응|과민증")
_KOREAN_LIST = re.compile(
    r"(?:[\s,/·에은는이가을를도의와과랑]|에\s?대한|에\s?대해|관련|계열|계|약물|식품|음식|항생제|성분"
    r"|하고|이나|나|또는|및|이랑|같은|것|심한|약간)*"
)
_KOREAN_AFTER = re.compile(r"(?:\s?(?:약물|식품|음식|반응|유발|물질|항목))*\s?(?::|은|는|이|가|으로|로)?\s*")
_KOREAN_IS = re.compile(r"있|없|않|아니|아닌|아님|음성")
_KOREAN_TAKEN = re.compile(
    r"(?:만|을|를|이|가|도|은|는)?\s?(?:조금만 )?(?:먹으면|먹고|먹었다가|먹었을 때|먹었더니|먹은 (?:뒤"
    r"|후)|맞고|맞으면|맞은 (?:뒤|후)|맞았을 때|닿으면|바르면|복용 후|복용하고)"
)
_KOREAN_REACTED = re.compile(
    r"쇼크|아나필락시스|두드러기|발진|(?<![가-힣])(?:입술|얼굴|목|눈|혀)[이가]? ?(?:붓|부어|부었)|가려"
)
_KOREAN_BAD = re.compile(
    r"\s?(?:에|에 대한)?\s?(?:부작용|거부반응|이상반응|쇼크|발진)(?:이|을|가)?\s?(?:있었|있어|있다|있습"
    r"|심했|겪|온 적|났)"
)
_ENGLISH_TO = re.compile(
    r"\b(?:allerg(?:ic|y|ies)(?:\s+reactions?)?\s+(?:to|against)|adverse\s+reactions?\s+to"
    r"|reactions?\s+to|reacts?\s+(?:badly\s+)?to|anaphyla\w+\s+(?:to|from)"
    r"|hypersensitiv\w+\s+to|intoleran\w+\s+(?:to|of)|(?:cannot|can't|can’t|can\s+not)\s+(?:tolerate"
    r"|take)|reacted\s+(?:\w+\s+)?to"
    r"|allerg(?:y|ies)\s+(?:besides|other\s+than|except(?:\s+for)?)"
    r"|(?:drug\s+|medication\s+|food\s+|known\s+)*allerg(?:y|ies)\s*(?::|-|=|\n|include\w*|are|is)|^\s*to)\s*",
    re.IGNORECASE,
)
_ENGLISH_OF = re.compile(
    r"(?:[\s,/]|and|or|drug|drugs|medication|food|severe|known)*\b(?:allergy|allergies"
    r"|allergic)\b(?!\s+(?:to|medic|pill|shot|test))",
    re.IGNORECASE,
)
_ENGLISH_LIST = re.compile(r"\s*(?:,|and|or|/|,\s*and)\s*")
_ENGLISH_NOT = re.compile(
    r"\b(?:no|not|denies|deny|denied|without|never|isn't|aren't|n't|negative for)\b(?:(?!\bbut\b)[^.;:,]){0,40}$",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"except|besides|other\s+than", re.IGNORECASE)
_BUT_NOT = re.compile(r"\bnot\s+(?:to\s+)?$", re.IGNORECASE)
_TOLERATED = re.compile(
    r"\b(?:tolerat\w+|but has|but can|takes?|taking|uses?|treated|given|prescribed|is on|denies)\b", re.IGNORECASE
)
_ASKED = re.compile(r"\ballerg", re.IGNORECASE)
_ANSWERED = re.compile(
    r"\s*(?:patient\s*:|guest_\w+\s*:|환자\s*:)?\s*(?:yes|yeah|yep|yup|just|only|um|uh|well|네|예|그냥)?", re.IGNORECASE
)
_ALL_DENIED = re.compile(
    r"\b(?:no|without(?: any)?|denies(?: any| having)?|(?:don['’]t|doesn['’]t|do not|does not)"
    r" have(?: any)?|not have any)"
    r"\s+(?:(?:known|other|drug|medication|food)\s+)*allerg(?:y|ies)\b"
    r"(?!\s+(?:to\b(?!\s+anything)|against|medic|pill|shot|test))"
    r"|\bnot allergic to any(?:thing\b|\b(?!\s+\w))|(?:(?<!\w)(?<!\w )|(?<=has )|(?<=have ))NKD?A\b(?!\s*\w)"
    r"|\ballerg(?:y|ies)(?: to (?:any )?\w+)?\s*[:=-]\s*(?:none(?: (?:known|reported))?|no|nil|denied|NKD?A)\b"
    r"|(?<![가-힣])(?:알레르기|알러지)\s?(?:반응|증상|병력|질환)?(?:은|는|이|가|도)?\s*"
    r"(?:전혀|따로|딱히|특별히|아무것도)?\s*(?:없(?!나|니|을까|는지)|[:=-]\s*(?:없음|무(?![가-힣])))",
    re.IGNORECASE,
)
_OF_DRUGS = re.compile("NKDA", re.IGNORECASE)  # no known drug allergies
_SHORT_ANSWER = 24  # characters: Patient: Yes.
_TAKES = re.compile(r"\b(?:take|takes|taking|use|using|on)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A thing that is spoken of as an allergen; ``negated``: it is said to do no harm."""

    mention: Mention
    negated: bool


def read_allergies(clauses: Clauses, mentions: Sequence[Mention]) -> list[Found]:
    """The allergens among the mentions, in the order of the text."""
    things = [mention for mention in mentions if mention.concept.kind in ("drug", "allergen")]
    found: dict[int, Found] = {}
    for number, (start, end) in enumerate(clauses.sentences):
        here = [thing for thing in things if start <= thing.start < end]
        if not here:
            continue
        text = clauses.text
        hits = [*_before_cue(text, here, end), *_after_cue(text, here, start, end), *_english(text, here, start, end)]
        for hit in (*hits, *_reactions(text, here, end), *_answers(clauses, here, number)):
            found.setdefault(hit.mention.start, hit)
    return [found[place] for place in sorted(found)]


def denials(clauses: Clauses, found: Sequence[Found], mentions: Sequence[Mention]) -> list[tuple[int, int, str]]:
    """Where somebody is said to have no allergies, and the concept of their kind: 약물 알레르기: 없음.

    It is empty for all of them. A denial of those to medicines or food alone says nothing of others, and neither does a
    question.
    """
    kinds = [mention for mention in mentions if mention.concept.id in _OF_A_KIND]
    spans = []
    for number, (start, end) in enumerate(clauses.sentences):
        denied = _ALL_DENIED.search(clauses.text, start, end)
        if denied and _may_deny(clauses, number, found):
            near = (kind for kind in kinds if kind.start < denied.end() and denied.start() < kind.end)
            if kind := next(near, None):
                spans.append((min(kind.start, denied.start()), denied.end(), kind.concept.id))
            else:
                spans.append((*denied.span(), _DRUG_ALLERGY if _OF_DRUGS.search(denied.group()) else ""))
    return spans


def denies_kind(clauses: Clauses, mention: Mention, found: Sequence[Found]) -> bool:
    """Whether a denied allergy is one of a kind, as in "no known drug allergies", and nothing is excepted from it."""
    return mention.concept.id in _OF_A_KIND and _may_deny(clauses, clauses.at(mention.start).sentence, found)


def _may_deny(clauses: Clauses, number: int, found: Sequence[Found]) -> bool:
    """Whether a sentence asks nothing and names nothing that an allergy is against."""
    start, end = clauses.sentences[number]
    named = any(start <= one.mention.start < end for one in found)
    return not named and clauses.text[end : end + 1] not in ("?", "？")


def _before_cue(text: str, here: Sequence[Mention], end: int) -> list[Found]:
    """페니실린과 설파제에 알레르기가 있다: lists that end at the word allergy."""
    found: list[Found] = []
    for cue in _KOREAN_CUE.finditer(text, here[0].start, end):
        reached = cue.start()
        after = text[cue.end() : min(end, cue.end() + 20)]
        for thing in reversed([thing for thing in here if thing.end <= cue.start()]):
            if not _KOREAN_LIST.fullmatch(text, thing.end, reached):
                break
            found.append(Found(thing, _is_denied(after)))
            reached = thing.start
    return found


def _is_denied(after: str) -> bool:
    """Whether the first predicate behind the word allergy denies it; a later one is about something else."""
    first = _KOREAN_IS.search(after)
    return first is not None and first.group() != "있"


def _after_cue(text: str, here: Sequence[Mention], start: int, end: int) -> list[Found]:
    """알레르기: 페니실린, 설파제."""
    found: list[Found] = []
    for cue in _KOREAN_CUE.finditer(text, start, end):
        link = _KOREAN_AFTER.match(text, cue.end())
        reached = link.end() if link else cue.end()
        for thing in (thing for thing in here if thing.start >= cue.end()):
            if thing.start != reached and not _KOREAN_LIST.fullmatch(text, reached, thing.start):
                break
            rest = text[thing.end : min(end, thing.end + 12)]
            found.append(Found(thing, _is_denied(rest)))
            reached = thing.end
    return found


def _english(text: str, here: Sequence[Mention], start: int, end: int) -> list[Found]:
    found: list[Found] = []
    for cue in _ENGLISH_TO.finditer(text, start, end):
        if cue.group().strip().lower() == "to" and "allerg" not in text[max(0, start - 40) : start].lower():
            continue
        negated = _ENGLISH_NOT.search(text[start : cue.start()]) is not None and not _EXCEPT.search(cue.group())
        stop = _TOLERATED.search(text, cue.end(), end)
        found += [
            Found(thing, negated or _BUT_NOT.search(text[start : thing.start]) is not None)
            for thing in here
            if cue.end() <= thing.start < (stop.start() if stop else end)
        ]
    for thing in here:
        cue_after = _ENGLISH_OF.match(text, thing.end, end)
        listed = any(
            _ENGLISH_LIST.fullmatch(text, thing.end, other.start) and _ENGLISH_OF.match(text, other.end, end)
            for other in here
            if thing.end <= other.start <= thing.end + 30
        )
        if cue_after or listed:
            found.append(Found(thing, _ENGLISH_NOT.search(text[start : thing.start]) is not None))
    return found


def _reactions(text: str, here: Sequence[Mention], end: int) -> list[Found]:
    """페니실린 맞고 쇼크가 온 적이 있다."""
    found = []
    for thing in here:
        taken = _KOREAN_TAKEN.match(text, thing.end, end)
        reacted = taken and _KOREAN_REACTED.search(text, taken.end(), min(end, taken.end() + 24))
        if reacted or _KOREAN_BAD.match(text, thing.end, end):
            found.append(Found(thing, negated=False))
    return found


def _answers(clauses: Clauses, here: Sequence[Mention], number: int) -> list[Found]:
    """Are you allergic to anything? – Penicillin."""
    just_asked = number > 0 and _is_asked(clauses, number - 1)
    short = number > 1 and len(clauses.sentence(number - 1)) <= _SHORT_ANSWER
    if not (just_asked or (short and _is_asked(clauses, number - 2))):
        return []
    start, end = clauses.sentences[number]
    answered = _ANSWERED.match(clauses.text, start)
    said = clauses.text[answered.end() if answered else start : end]
    if re.match(r"\W*(?:no|nope|none|아니|doctor\s*:)", said, re.IGNORECASE) or _TAKES.search(said):
        return []
    return [Found(thing, negated=False) for thing in here]


def _is_asked(clauses: Clauses, number: int) -> bool:
    end = clauses.sentences[number][1]
    sentence = clauses.sentence(number)
    return bool(clauses.text[end : end + 1] == "?" and (_ASKED.search(sentence) or _KOREAN_CUE.search(sentence)))
