"""Sentences and clauses of a message, and of whom they speak.

Within a clause a denial, a time or a question holds. It speaks of the user, a relative, or someone else, which includes
everybody in a general question.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from selfright.domain.slots import Subject
from selfright_medical.spotting import Mention

# A dot in a number, behind an initial or an abbreviation of a dose (p.o., b.i.d., q.d.) ends nothing.
_STOP = re.compile(
    r"(?<!\d)(?<!\b[a-zA-Z])(?<!\b[Dd]r)(?<!\bvs)\.+(?=\s|$)|(?<=\d)\.(?=\s+[A-Z가-힣]|\s*$)|[!?。]+|\n+|;"
)
_KOREAN_JOINT = re.compile(
    r"[가-힣](?:고|며|지만|는데|은데|인데|한데|픈데|운데|진데|린데|쁜데|픈데|던데|으나|었으나|면서|다가|니까"
    r"|어서|아서|해서|여서|려서|워서|파서|와서|래서|길래|거나)(?=[\s,])"
    r"|(?<=[가-힣])하나(?=[\s,])|(?<=[가-힣]) (?:뒤|후)(?:로|에|부터)?(?=[\s,])|(?<=없)으나(?=[\s,])"
    r"|(?:었|았|였|했|없|있)나(?=[\s,])|(?<=[가-힣])니(?=[\s,])"
)
_ENGLISH_JOINT = re.compile(
    r"\b(?:but|however|although|though|except|because|since|due to|while|whereas|yet)\b"
    r"|,?\s+and\s+(?=(?:I|he|she|my|it|has|have|takes?|had|is|was|also)\b)"
    r"|,\s*(?=(?:I|he|she|my|can|could|should|is|are|what|how|which|why|do|does|so|it|gets?|now)\b)"
    r"|\b(?:for|from)(?=\s+(?:back|nerve|my|pain)\b)",
    re.IGNORECASE,
)
_ENGLISH_QUESTION = re.compile(
    r"\s*(?:and\s+|so\s+|then\s+)?(?:what|how|why|when|which|who|where|is|are|can|could|should|do|does"
    r"|did|may|will|would|am|has|have)\b",
    re.IGNORECASE,
)
_KOREAN_QUESTION = re.compile(
    r"(?:(?<=[가-힣])(?<!열)(?<!물)(?<!침)(?<!피)(?<!땀)나요|까요|가요|은지요|는지요|을까|일까|ㄹ까|인가"
    r"|는가|뭐야|뭐예요|뭔가요|무엇인가요|무엇입니까|습니까|ㅂ니까|됩니까|입니까|할까|될까|어때요?|뭐지"
    r"|뭔지"
    r"|알려\s?줘|알려\s?주세요|궁금해요|궁금합니다|설명해\s?줘|설명해\s?주세요)\s*$"
)
_LONGEST = 700  # characters


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence; ``question``: the sentence asks, and this is the part that does."""

    start: int
    end: int
    sentence: int
    question: bool


class Clauses:
    """A message cut into clauses that lie side by side."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences = list(_sentences(text))
        self.clauses = [clause for number in range(len(self.sentences)) for clause in self._clauses(number)]
        self._starts = [clause.start for clause in self.clauses]

    def at(self, place: int) -> Clause:
        """The clause in which ``place`` lies."""
        return self.clauses[max(0, bisect_right(self._starts, place) - 1)]

    def sentence(self, number: int) -> str:
        """A sentence's text."""
        start, end = self.sentences[number]
        return self.text[start:end]

    def _clauses(self, number: int) -> Iterator[Clause]:
        start, end = self.sentences[number]
        sentence = self.text[start:end]
        cuts = {match.end() for match in _KOREAN_JOINT.finditer(sentence)}
        cuts |= {match.start() for match in _ENGLISH_JOINT.finditer(sentence)}
        bounds = [0, *sorted(cuts - {0, len(sentence)}), len(sentence)]
        marked = self.text[end : end + 1] == "?"
        korean = _KOREAN_QUESTION.search(sentence) is not None
        for first, last in pairwise(bounds):
            asks = (korean or marked) if last == len(sentence) else False
            asks = asks or (marked and _ENGLISH_QUESTION.match(sentence[first:last].lstrip(" ,")) is not None)
            yield Clause(start + first, start + last, number, asks)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans between stops. What goes on without any is cut, so that no rule looks further than ``_LONGEST``."""
    start = 0
    for match in (*_STOP.finditer(text), None):
        end, after = (match.start(), match.end()) if match else (len(text), len(text))
        if not text[start:end].strip() and not (start == 0 and match is None):
            continue
        while end - start > _LONGEST:
            blank = text.rfind(" ", start + 1, start + _LONGEST)
            cut = blank if blank > 0 else start + _LONGEST
            yield start, cut
            start = cut
        yield start, end
        start = after


_RELATIVE = (
    "mother|father|mom|mum|mommy|dad|daddy|brother|sister|aunt|uncle|grandmother|grandfather|grandma"
    "|grandpa|son|daughter|wife|husband"
    "|parents?|cousins?|niece|nephew|sibling|siblings|brothers|sisters|children|kids?|child|baby"
    "|toddler|relatives?|family member|twin"
    "|mother-in-law|father-in-law|grandparents?|grandson|granddaughter|fiancee?|spouse|infant"
)
_AGED = r"\d{1,2}[\s-]?(?:year|yr|month|week|day)s?[\s-]?old"
_FAMILY = re.compile(
    rf"\b(?:(?:my|our)\s+{_AGED}|(?:my|his|her|our|their|the|a|one|maternal"
    rf"|paternal)\s+(?:\w+\s+)?(?:{_RELATIVE})|family history|maternal"
    rf"|paternal|runs in (?:the|my|our) family|family hx|fhx?)\b|^\s*(?:{_RELATIVE})\b",
    re.IGNORECASE,
)
_FAMILY_AFTER = re.compile(
    rf"\b(?:in|on) (?:my|his|her|the|our)?\s*(?:{_RELATIVE}|family|(?:mother|father)'s side)\b", re.IGNORECASE
)
_USER = re.compile(
        rf"\b(?:I|I'm|I’m|I've|I’ve|me|myself|(?:my|the)\s+patient|patient|my(?!\s+\d)(?!\s+(?:\w+\s+)?(?:{_RELATIVE}"
        rf"|friend|friends|family|neighbou?r|boss|coworker|colleague)\b))\b")  # fmt: skip
_OTHER = re.compile(
    r"\b(?:friends?|neighbou?r|coworker|colleague|boss|roommate|people|someone|somebody|anyone|patients"
    r"|persons?|those|everyone|users|adults|women|men)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\s*(?:and\s+)?(?:he|she|they|his|her|their)\b", re.IGNORECASE)
_KOREAN_FAMILY = re.compile(
    r"(?<![가-힣0-9A-Za-z])(?:우리\s?|저희\s?|제\s?|내\s?|시|장|외|친|큰|작은|막내|첫째|둘째|남|여)?"
    r"(?:어머니|어머님|엄마|모친|아버지|아버님|아빠|부친|부모님|부모|할머니|할아버지|형제|형님|형|누나"
    r"|누님|언니|오빠|동생|아내|남편|와이프|신랑|집사람|아들|딸"
    r"|딸아이|아들아이|며느리|사위|아이|아기|애기|애|이모|고모|삼촌|외삼촌|장인|장모|시어머니|시아버지"
    r"|손자|손녀|사촌|친척|식구|조카"
    r"|자녀|따님|아드님)"
    r"(?:께서는|께서도|께서|님이|님은|님도|님|들이|들은|들도|이가|가|이|은|는|도|의|한테|에게|에게서|와"
    r"|과|랑|네|\s)(?!\s*친구)"
    r"|가족력|가족 ?중|가족들?[이은도에]|집안에|\((?:부|모|부모|형|조부|조모)\)|집안 내력"
)
_SELF_COPULA = re.compile(r"(?:예요|이에요|입니다|인데|이고|이며|이라|이야)")
_KOREAN_AFTER = re.compile(r"\s*\((?:부|모|부친|모친|형|누나|오빠|언니|동생|조부|조모|부모)\)")
_KOREAN_USER = re.compile(
        r"(?<![가-힣])(?:저는|제가|저도|나는|내가|나도|난|전(?=\s)|저 역시|본인은|저한테|제게|저의|저,"
        r"|저(?=\s))|(?<![가-힣])(?:제|내)\s(?!\s*(?:딸|아들|아이|아기|어머니|엄마|아버지|아빠|남편|아내"
        r"|동생|형|누나|언니|오빠|와이프|친구|조카|부모|애|손))")  # fmt: skip
_KOREAN_OTHER = re.compile(
    r"(?<![가-힣])(?:강아지|고양이|반려견|반려묘|우리 개|친구|지인|동료|이웃|선배|후배|남자친구|여자친구"
    r"|남자 친구|여자 친구|직장 상사|옆집"
    r"|사람들|남들)(?:가|이|는|은|도|의|께서|한테|에게|분이|들)"
)
_KOREAN_SOMEONE = re.compile(
    r"(?:이|가|을|를)?\s*(?:있는|걸린|앓는|앓고 있는|먹는|복용하는|맞는|가진|하는)\s*(?:사람|환자|분"
    r"|경우|아이|아기|성인|임신부|임산부|여성|남성|노인)"
    r"|\s?(?:환자|환자들|환자분)(?:에게|는|의|가|를|들|도|에서|한테)|인 사람|인 환자"
)
_TAKEN = re.compile(
    r"\b(?:my|(?<!can )(?<!could )(?<!should )(?<!may )(?<!if )I take|I'm on|I am on|I'm taking|I am taking)\b",
    re.IGNORECASE,
)
_CHILD = re.compile(
    r"(?<![가-힣])(?:딸아이|아들|딸|아이|아기|애기|애)(?:가|이|는|은|도)\s"
)  # who brings a child goes on about it
_PERSONAL = re.compile(
    r"(?:있는데|있어서|있고|있으면서|앓고|먹고 있|복용하고|복용 중|맞고 있|진단받|진단을 받|걸렸|걸려서"
    r"|환자인데|환자예요|환자입니다|인데|걸린 것 같)"
)
_KOREAN_HONORED = re.compile(r"으시|시고|[가-힣]세요|셨|십니다|계시|드시|드세요|편찮|께서")
_ENGLISH_PERSONAL = re.compile(
    r"\b(?:my|I have|I've|I’ve|I am|I'm|I’m|I take|I took|I use|I was|I had|I got|I feel|I keep|we have"
    r"|have I|do I have|me)\b(?!\s+(?:to|safely|take))",
    re.IGNORECASE,
)


class Subjects:
    """Tells of whom a mention is; knows what the sentences before were about."""

    def __init__(self, clauses: Clauses) -> None:
        self._clauses = clauses
        self._text = clauses.text

    def of(self, mention: Mention, clause: Clause) -> Subject:
        """Of whom a named thing is told; what a general question names is of nobody: ``other``."""
        told = self.at(mention.start, mention.end, clause)
        if told != "user":
            return told
        after = self._text[mention.end : clause.end]
        if _KOREAN_SOMEONE.match(after) and not _USER.search(self._text[clause.start : mention.start]):
            family = _KOREAN_FAMILY.search(self._text[clause.start : mention.start])
            return "family" if family else "other"
        if clause.question and not self._is_own(mention, clause):
            return "other"
        return "user"

    def at(self, start: int, end: int, clause: Clause) -> Subject:
        """Of whom the words from ``start`` to ``end`` speak: the last one named before them in the sentence."""
        sentence_start, sentence_end = self._clauses.sentences[clause.sentence]
        before = self._text[sentence_start:start]
        named = _last_named(before)
        after = self._text[end : min(sentence_end, clause.end)]
        if _KOREAN_AFTER.match(self._text, end) or (named != "user" and _FAMILY_AFTER.search(after)):
            return "family"
        if named:
            return named
        return self._carry(clause.sentence)

    def is_general(self, clause: Clause) -> bool:
        """Whether an English question asks in general (what does an INR of 3 mean?); a Korean one rarely shows it."""
        asked = self._text[clause.start : clause.end]
        return clause.question and not re.search("[가-힣]", asked) and _ENGLISH_PERSONAL.search(asked) is None

    def _carry(self, number: int) -> Subject:
        """Who is spoken of when a sentence names nobody: as before, if its words show that it goes on about them."""
        sentence = self._clauses.sentence(number)
        if number == 0:
            return "user"
        before = self._clauses.sentence(number - 1)
        named = _last_named(before)
        if _CHILD.search(before) and not _last_named(sentence):
            return named or "user"
        goes_on = _PRONOUN.match(sentence) or (_KOREAN_HONORED.search(sentence) and "?" not in sentence)
        if goes_on and not named and number > 1 and _PRONOUN.match(before):  # one step further back, and no more
            named = _last_named(self._clauses.sentence(number - 2))
        return (goes_on and named) or "user"

    def _is_own(self, mention: Mention, clause: Clause) -> bool:
        """Whether a question asks of something that the user has, rather than in general."""
        before, after = self._text[clause.start : mention.start], self._text[mention.end : clause.end]
        if mention.verbal:
            return not re.search(r"면\s", before) and not re.match(r"(?:면|ㄹ 때|을 때|\s?때|거나)", after)
        if mention.language == "ko":
            own = re.search(r"(?<![가-힣])(?:제|내|저의|저는|제가|저)\s", before + " ") is not None
            has = _PERSONAL.match(after.lstrip("이가은는을를도 ")) is not None
            return mention.concept.kind != "drug" and (own or has)
        return (_TAKEN if mention.concept.kind == "drug" else _ENGLISH_PERSONAL).search(before) is not None


_NAMES: tuple[tuple[Subject, re.Pattern[str]], ...] = (
    ("user", _USER),
    ("user", _KOREAN_USER),
    ("family", _FAMILY),
    ("family", _KOREAN_FAMILY),
    ("other", _OTHER),
    ("other", _KOREAN_OTHER),
)


def _last_named(text: str) -> Subject | None:
    last, place = None, -1
    for who, pattern in _NAMES:
        for match in pattern.finditer(text):
            itself = pattern is _KOREAN_FAMILY and _SELF_COPULA.match(text, match.end())
            if match.end() > place and not itself:
                last, place = who, match.end()
    return last
