"""Of whom, of when, and whether at all: what the words around a mention make of it, in Korean and in English.

In the manner of ConText (Chapman and others): a trigger, and how far it reaches. English triggers mostly stand before
what they govern and reach to the end of the clause; Korean predicates stand at its end and govern what is before.
"""

import re
from dataclasses import dataclass

from selfright.domain.slots import SlotTime, Subject
from selfright_medical.clauses import Clause, Clauses, Subjects
from selfright_medical.spotting import Mention

_NOT_BEFORE = re.compile(
    r"\b(?:no|not|non|denie[sd]|deny|denying|without|never|negative for|absence of|free of|neither|nor"
    r"|none of|lacks?|cannot take|ruled out"
    r"|(?:do|does|did|has|have|had|is|are|was|were|can|could|would)(?:n't|n’t))\b",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    r"\b(?:not only|no change|no increase|not sure|not certain|no doubt|not know|n['’]t know"
    r"|n['’]t remember|no longer|not why"
    r"|not getting better|not better|not improv\w+|not go(?:ne)? away|n['’]t go(?:ne)? away"
    r"|n['’]t (?:stop|sleep)|not sleep|no relief"
    r"|no idea|not helping|n['’]t help|not working|never mind|not controlled|no matter)\b",
    re.IGNORECASE,
)
_REACH_ENDS = re.compile(
    r"[:]|\b(?:presents?|reports?|complain\w*|states?|endorses?|admits?|positive for|as well as"
    r"|other than|aside from|apart from|which|who"
    r"|allergic to)\b|,\s*(?:has|with|history of)\b",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"^\W*(?:\w+\W+){0,2}?(?:(?:is|was|were|are|has been|been)\s+)?(?:ruled out|negative|absent"
    r"|not present|denied|unlikely|excluded)\b",
    re.IGNORECASE,
)
_KOREAN_NOT = re.compile(
    r"없(?!애)|않|아니(?!면)|아닌|아닙|아님|아녜|아녀|부인|음성|배제|(?<![가-힣])안\s?(?=[가-힣])"
    r"|(?<![가-힣])못\s?(?=[가-힣])"
)
_KOREAN_NO_DENIAL = re.compile(
    r"뿐만 아니|뿐 아니|없어지지|끊이지 않|(?:낫|좋아지|나아지|가라앉|멈추|떨어지|줄|빠지|사라지|풀리"
    r"|그치|없어지|조절되|내려가)지(?:를|는|도|가)? ?않"
    r"|안 (?:나아|낫|멈|떨어|좋아|빠지|빠져|가라앉|없어|그치|내려|풀|듣)|못 (?:자|견디|참|움직|먹)"
    r"|아닌지|아닌가|않을까|않으면|없으면|안 (?:먹|하|쓰|받)[가-힣]*면|수 없|없이|안 돼|안 되|안돼|안되"
)
_KOREAN_DRUG_NOT = re.compile(r"(?:안|못)\s?(?:먹|써|쓰|맞|드)|지(?:는|도)? ?않|없|아니|못 먹")
_TIME = (
    r"ago|last year|as a (?:child|kid|teenager)|in (?:my )?childhood|in the past|years back|when I was|in (?:19|20)\d\d"
)
_LONG_AGO = re.compile(rf"\b(?:{_TIME})\b", re.IGNORECASE)
_OVER_BEFORE = re.compile(
    r"\b(?:previous(?:ly)?|formerly|former|used to|past (?:medical )?history of|prior|stopped"
    r"|discontinued|quit|no longer"
    r"|recovered from|was on|was taking|were on|came off|status post|s/p)\b",
    re.IGNORECASE,
)
_OVER_AFTER = re.compile(
    r"\b(?:resolved|went away|gone(?! up)|cured|subsided|cleared up|was stopped|was discontinued)\b", re.IGNORECASE
)
_HAD = re.compile(r"\b(?:had)\b(?!\s+(?:to|my|his|her)\b)", re.IGNORECASE)
_STILL = re.compile(
    r"\b(?:(?:have|has|'ve|’ve) had|had been|since|for (?:the|a|two|three|\d+)|diagnosed|started|began"
    r"|today|yesterday|this (?:morning|week)|now|currently|still)\b",
    re.IGNORECASE,
)
_KOREAN_PAST_BEFORE = re.compile(
    r"예전|옛날|과거|전에|이전|어릴|어렸을|젊었을|젊을|한때|작년|재작년|지난해|지난달|지난 달|\d{4}년"
    r"|\d0대 ?때|학생 ?때|[년달월] ?전|년 전|그때|왕년"
)
_KOREAN_PAST_TENSE = re.compile(
    r"[았었였했왔렸났됐갔졌겼쳤썼텄탔](?:[가-힣]|$|\s|[.])|던|적이|적도|적 ?있|은 적|ㄴ 적|한 적|린 적"
    r"|음\b|았음|었음|완치|입원|복용했|중단"
)
_KOREAN_OVER = re.compile(
    r"완치|나았|멈췄|멈추었|사라졌|없어졌|끊었|끊은|중단했|중단함|중단하였|중단됐|(?:앓|걸리|걸렸|있|하"
    r"|했|맞|먹|났|나|생겼)(?:었|았|였)?던 적|(?:은|ㄴ|린|한|른|난|온|친) 적(?:이|도)? ?(?:있|많)"
    r"|았었|었었|렸었|했었|졌었|났었|왔었"
)
_KOREAN_TAKEN_UNTIL = re.compile(r"(?:먹|복용하|맞|쓰)다가?$")
_KOREAN_STILL = re.compile(r"부터|이후|진단|째|계속|여전|지금도|아직")
_UNSURE = re.compile(
    r"\b(?:possibl[ey]|probabl[ey]|suspect(?:s|ed|ing)?|suspicion of|suspicious for|rule out|r/o"
    r"|may have|might have|could be|likely|concern(?:ed|ing)? for"
    r"|questionable|think I have|might be|may be|worried (?:about|I have))\b",
    re.IGNORECASE,
)
_KOREAN_UNSURE = re.compile(
    r"의심|인 것 같|인것 같|같아요|같습니다|같대|일 수(?:도)?|가능성|추정|인가 봐|인가봐|아닌지|아닐까|걱정"
)
_SUPPOSED = re.compile(r"(?:있으면|이면|라면|있을 ?때|일 ?때|있는 (?:사람|환자|경우|아이|분)|인 (?:사람|환자|경우))")
_IF = re.compile(r"\b(?:if|whether)\b", re.IGNORECASE)
_BESIDES = re.compile(r"\b(?:besides|other than|except|correct|still)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"(?:으로|로)(?:\s|,)|\s?때문|에 대해|에 좋|을 위해"
)  # 우울증으로 약을 안 먹는다: the illness is not denied
_AGO = re.compile(r"(?:[년달월] ?전|작년|예전|어릴 ?때)에?\s")
_SIGN = re.compile(r"\s?\(\s?([-–−+])\s?\)")  # HTN(+), 당뇨(-)
_REACH = 90  # characters: a denial reaches no further


@dataclass(frozen=True, slots=True)
class MentionStatus:
    """How a mention is meant."""

    negated: bool
    subject: Subject
    time: SlotTime
    unsure: bool


class Scopes:
    """Reads how mentions of one message are meant."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.clauses = Clauses(text)
        self._subjects = Subjects(self.clauses)

    def of(self, mention: Mention) -> MentionStatus:
        """How a named thing is meant."""
        clause = self.clauses.at(mention.start)
        subject = self._subjects.of(mention, clause)
        before, after = self._text[clause.start : mention.start], self._text[mention.end : clause.end]
        if sign := _SIGN.match(after):
            negated = sign[1] != "+"
            return MentionStatus(negated, subject, "current", unsure=False)
        korean = mention.language == "ko" or bool(re.search("[가-힣]", after))
        if korean:
            denied = not mention.verbal and _is_denied_in_korean(mention, after)
            past, unsure = self._past_in_korean(mention, clause), _KOREAN_UNSURE.search(after) is not None
        else:
            denied = _is_denied_in_english(before, after)
            past, unsure = _past_in_english(mention, before, after), _UNSURE.search(before) is not None
        negated = mention.negated or denied
        past = past and not negated
        return MentionStatus(negated, subject, "past" if past and subject == "user" else "current", unsure)

    def subject_at(self, start: int, end: int) -> Subject:
        """Of whom a measured value is told."""
        clause = self.clauses.at(start)
        subject = self._subjects.at(start, end, clause)
        return "other" if subject == "user" and self._subjects.is_general(clause) else subject

    def subject_of_allergy(self, mention: Mention) -> Subject:
        """Of whom an allergy is told; a question, or a case that is only thought of, tells of nobody's."""
        clause = self.clauses.at(mention.start)
        subject = self._subjects.at(mention.start, mention.end, clause)
        before, after = self._text[clause.start : mention.start], self._text[mention.end : clause.end]
        supposed = _SUPPOSED.search(after) or _IF.search(before)
        asked = clause.question and not _BESIDES.search(before)
        return "other" if subject == "user" and (supposed or asked) else subject

    def _past_in_korean(self, mention: Mention, clause: Clause) -> bool:
        after = self._text[mention.end : clause.end]
        if _KOREAN_OVER.search(after) or (mention.concept.kind == "drug" and _KOREAN_TAKEN_UNTIL.search(after)):
            return True
        start, _ = self.clauses.sentences[clause.sentence]
        long_ago = _KOREAN_PAST_BEFORE.search(self._text[start : mention.start]) or _AGO.search(after)
        still = _KOREAN_STILL.search(self._text[start : clause.end])
        return bool(long_ago and not still and _KOREAN_PAST_TENSE.search(after))


def _past_in_english(mention: Mention, before: str, after: str) -> bool:
    if _OVER_BEFORE.search(before) or (_OVER_AFTER.search(after) and not _NO_DENIAL.search(after)):
        return True
    had = mention.concept.kind == "condition" and _HAD.search(before)
    return not _STILL.search(before + after) and bool(had or _LONG_AGO.search(before) or _LONG_AGO.search(after))


def _is_denied_in_english(before: str, after: str) -> bool:
    end = None
    for trigger in _NOT_BEFORE.finditer(before):
        harmless = _NO_DENIAL.search(before, max(0, trigger.start() - 2))  # part of words that deny nothing: not only
        if harmless is None or not harmless.start() <= trigger.end() <= harmless.end():
            end = trigger.end()
    if end is not None and len(before) - end <= _REACH and not _REACH_ENDS.search(before[end:]):
        return True
    return _NOT_AFTER.search(after) is not None


def _is_denied_in_korean(mention: Mention, after: str) -> bool:
    drug = mention.concept.kind == "drug"
    reached = _KOREAN_NO_DENIAL.sub(lambda match: " " * len(match.group()), after[:_REACH])
    denied = (_KOREAN_DRUG_NOT if drug else _KOREAN_NOT).search(reached) is not None
    return denied and (drug or not _CAUSE.match(after))
