"""Detects refusals: answers that only say that they do not know."""

import re
from collections.abc import Sequence

_LONGEST = 400

_EVIDENCE_EN = r"(?:passages?|documents?|sources?|context|text|evidence|information|materials?|excerpts?|data)"
_SAYS_NOT = (
    r"(?:do(?:es)?|did|is|are)(?:n['’]t| not)\s+(?:\w+\s){0,2}?(?:say|state|contain|mention|provide|include|specify"
    r"|give|answer|cover|address|discuss|describe|have|tell|enough|sufficient|available|indicate|offer|explain)"
)
_CANNOT = (
    r"(?:(?:do|did|could|can)(?:n['’]t| not)|cannot|can['’]t|unable to|not able to|not)\s(?:\w+\s)?"
    r"(?:know|find|answer|determine|tell|say|sure|confirm|provide|locate)"
)
_DECLINES_EN = (
    rf"\b{_EVIDENCE_EN}\b.{{0,60}}\b{_SAYS_NOT}\b"
    rf"|\b(?:no|not enough|insufficient|without)\s(?:\w+\s){{0,3}}?{_EVIDENCE_EN}\b"
    rf"|\bnot\s(?:\w+\s)?(?:mentioned|stated|specified|provided|found|given|covered|included|available|addressed)\b"
    rf".{{0,40}}\b{_EVIDENCE_EN}\b"
    rf"|\b(?:i|we)(?:['’]m| am| are|['’]re)?\s(?:\w+\s)?{_CANNOT}\b"
    r"|^(?:it|this|that|the (?:answer|question)) (?:is|can(?:not|['’]t)|could not) (?:\w+\s){0,2}?"
    r"(?:unknown|unclear|be (?:answered|determined))"
)
_EVIDENCE_KO = (
    r"(?:문단|문서|자료|본문|지문|출처|근거|정보|내용|언급|기록|설명|답변?)(?:들)?"
    r"(?:에서는?|에는?|에|으로는?|로는?|만으로는?|이|가|은|는|을|를|도|상|의|\s)"
)
_DECLINES_KO = (
    rf"{_EVIDENCE_KO}.{{0,60}}(?:없(?:습니다|어요|다|음|네요|으므로|어)|않(?:습니다|아요|았습니다|다|음|으므로|아)|못(?:했|합|하))"
    r"|(?:알|답(?:변)?(?:을)? ?(?:드릴|할)|말씀드릴|확인할|찾을) 수(?:가|는)? 없"
    r"|모르겠|모릅니다|찾지 못했|답(?:변)?(?:하|드리)(?:지 못|기 어렵)|확인되지 않"
)
_DECLINES = re.compile(f"{_DECLINES_EN}|{_DECLINES_KO}", re.IGNORECASE)
_CONTRAST = re.compile(
    r"\b(?:but|however|although|though|except|nevertheless|while)\b|하지만|그러나|다만|지만(?=[\s,])|(?<=[가-힣])는데",
    re.I,
)
_OPENING = re.compile(
    r"^\W*(?:(?:i['’]?m|i am|we['’]?re|we are)?\s?(?:very |so )?(?:sorry|afraid)|my apologies|apologies|unfortunately)"
    r"\W{1,3}(?:but\s)?|^\W*(?:죄송하지만|죄송합니다만|유감스럽게도|유감이지만|아쉽지만|안타깝지만)\W*",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\b(?:sorry|apolog\w+|unfortunately)\b|\b(?:please|you (?:may|might|could|can)|feel free|let me know|if you)\b"
    r"|죄송|유감|(?:해|하여|여쭤|물어|알려|문의해) ?(?:주세요|주십시오|보세요|보시기|주시면)|원하시면|문의하|도와드리"
    r"|바랍니다",
    re.IGNORECASE,
)


def is_refusal(sentences: Sequence[str]) -> bool:
    """Whether all that is said, Korean or English, is that the answer is not known or not in the passages.

    Politeness beside it does not count; a sentence with a "but" may go on with an answer, and does.
    """
    said = [sentence for sentence in sentences if sentence.strip()]
    declining = [_is_refusal(sentence) for sentence in said]
    return any(declining) and all(no or _is_polite(sentence) for no, sentence in zip(declining, said, strict=True))


def _is_refusal(sentence: str) -> bool:
    rest = _OPENING.sub("", sentence)
    return len(sentence) <= _LONGEST and bool(_DECLINES.search(rest)) and not _CONTRAST.search(rest)


def _is_polite(sentence: str) -> bool:
    return len(sentence) <= _LONGEST and bool(_POLITE.search(sentence)) and not _CONTRAST.search(sentence)
