"""What of a message is asked, and what of it is searched for: a letter is mostly not its question.

By form: a sentence asks when it ends in a question mark or in the words of a question or a request. The rest (a
greeting, a story, thanks) is left out of the question unless the question leans on it: it points back ("is that
normal?"), is about the one who asks, has hardly a word of its own, or the rest names something that the index knows
("I drive an old van. How fast may it go?"). Searched for are the question and the names that the message speaks of.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from selfright.domain.answers import Focus, Message
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.passages import Language
from selfright.domain.text import has_hangul, language_of, sentence_spans
from selfright.roles.analysis import TextAnalyzer, distinct
from selfright.roles.restating import again
from selfright.roles.rewrite.contextualize import (
    Swap,
    contextualize_query,
    has_no_topic,
    recent,
)
from selfright.roles.rewrite.leaning import depends_on_history
from selfright.roles.rewrite.query_text import bound_query, respelt

_MOST_SENTENCES = 60
_LEAST_TERMS: dict[Language, int] = {"en": 3, "ko": 4}  # of a question about something by itself; Korean verbs count
_LEAST_TERMS_BEFORE = 2  # a pronoun, for it to mean one of them
_LONGEST_TITLE, _MOST_TITLE_WORDS = 60, 5
_AS_TELLING = 0.95  # of the weight of the story's rarest term, so that the question speaks for itself
_AS_TELLING_OF_SELF = 0.6  # the same after somebody's age and condition, which questions are seldom about

_ASKS = re.compile(
    r"[?？]|\b(?:what|how|why|which|when|where|who|whose|can|could|should|would|may|is (?:it|this|that|there)|are there"
    r"|do(?:es)? (?:it|this|I|you|they)|tell me|let me know|wonder(?:ing|ed)?|looking for|information|inform|advi[sc]e"
    r"|(?:want|need|like|love|hope|trying) to (?:know|learn|find|get|have|obtain)"
    r"|explain|help|concern(?:ed)? about|worried|afraid)\b"
    r"|(?:(?<=[가-힣])나요|까요|가요|는지|은지|ㄴ지|을지|니까|습니까|는가|은가|인가|을까|는데요|ㄹ까|할까|[되인하있]지요?|[수건거되하]죠)"
    r"\s*[.?!~]*\s*$"
    r"|무엇|뭔가|뭐|어떻게|어떤|어디|언제|왜|얼마|몇"
    r"|(?:알려|설명|추천|요약|가르쳐|말씀해|찾아|정리해|비교해)\s*(?:해\s*)?(?:주|줘|드|달)|궁금|걱정",
    re.IGNORECASE,
)
# Asks beyond doubt; the words above also stand in what is told ("I am worried", "when I was ten").
_ASKS_CLEARLY = re.compile(
    r"[?？]\W{0,40}$|^\W*(?:(?:so|and|but|please|also)[\s,]+)*(?:what|how|why|which|where|who|whose|can|could|should|may"
    r"|is|are|do|does|did|will|tell me|let me know|explain|list|describe|compare)\b"
    r"|(?:(?<=[가-힣])나요|까요|인가요|습니까|입니까|는가|은가|인가|는지요|[수건거되하]죠)\W*$"
    r"|(?:알려|설명|추천|요약|가르쳐|말씀해|찾아|정리해|비교해)\s*(?:해\s*)?(?:주|줘|드|달)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:(?:hi|hello|hey)(?: there| all| everyone| team)?|dear\b.{0,30}"
    r"|good (?:morning|afternoon|evening|day)|(?:many )?thanks?\b.{0,60}"
    r"|thank you\b.{0,60}|i (?:hope|trust) (?:you(?: are|'re)|this finds) .{0,40}"
    r"|(?:any |your )?help (?:is|would be) .{0,40}"
    r"|(?:best )?(?:regards|wishes).{0,30}|sincerely.{0,30}|god bless.{0,30}|(?:please|plz) (?:help|reply|advise)( me)?"
    r"|(?:sorry|excuse me)\b.{0,40}|(?:i have )?(?:a )?(?:quick |short )?question"
    r"|안녕(?:하세요|하십니까).{0,15}|(?:미리\s*)?(?:정말\s*)?감사(?:합니다|드립니다|해요).{0,15}|고맙습니다|고마워요?"
    r"|수고\s*(?:하세요|하십니다|많으십니다)|잘\s*부탁드립니다"
    r"|(?:한 가지 |뭐 좀 |하나 )?(?:질문|문의)(?:이?\s*있(?:습니다|어요)|드립니다|드려요)"
    r"|답변\s*(?:기다리겠습니다|부탁드립니다|부탁드려요|주세요)|도와\s*주(?:세요|시면 감사하겠습니다)"
    r"|좋은 (?:아침|하루|저녁).{0,12})\W*",
    re.IGNORECASE,
)
_GREETS_FIRST = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: (?:there|all|everyone|team))?"
    r"|안녕(?:하세요|하십니까)?)[\s,.!~]+(?=\S)",
    re.IGNORECASE,
)
_THANKS_LAST = re.compile(
    r"(?<=[\s,.?!])\W{0,40}(?:(?:many )?thanks?(?: you)?(?: (?:so much|very much|a lot|in advance|for .{1,30}))?"
    r"|(?:미리\s*)?(?:정말\s*)?(?:감사(?:합니다|드립니다|해요)|고맙습니다|고마워요?))\W*$",
    re.IGNORECASE,
)
# Who somebody is: age, sex, trade, condition. Seldom what the question is about.
_SELF = re.compile(
    r"^\W*(?:(?:so|well|hi|hello)[\s,]+)?(?:as an?\b|i(?:['’]m| am) (?:currently |also )?"
    r"(?:an?\b|\d{1,3}\b|male\b|female\b|\w+[.!]*$))"
    r"|^\W*i(?:['’]m| am)\b.{0,30}\b\d{1,3}[- ]?(?:years?|yrs?)\b"
    r"|^\W*(?:저는|나는|전|난|제가|저)?\s*(?:만\s*)?(?:\d{1,3}\s?(?:세|살)|\d0대)(?![가-힣]*\s?(?:아이|아기|아들|딸))"
    r"|^\W*(?:저는|나는|전|난|제가)\s.{0,40}(?:남성|여성|남자|여자|학생|직장인|개발자|사람|신입|초보)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\d+[- ]?(?:years?|yrs?)?[- ]?(?:old)?|\b(?:man|woman|male|female|boy|girl|type)\b"
    r"|남성|여성|남자|여자|사람|(?<=\d)[세살대형]",
    re.IGNORECASE,
)
# The same before a question in one sentence.
_SELF_FIRST = re.compile(
    r"^[^,;?]{3,140}[,;]\s+(?:(?:so|and|but)\s+)?(?=(?:(?:at|from|in|on|by|for|to|under|above|below|until|after|with|of)\s+)?"
    r"(?:what|which|whom?|when|where|why|how|can|could|should|do|does|is|are|may|will)\b)"
    r"|^[^,?]{2,60}?(?:인데|이라서|라서|있는데|이고)요?(?:,\s*|\s+)",
    re.IGNORECASE,
)
# Points to another sentence wherever it stands; or may point to what its own sentence says before.
_POINTS_BACK = re.compile(
    r"\b(?:is|was|are|were|does|do|did|can|will|should) (?:this|that|these|those)\b"
    r"|\b(?:this|that|these|those|it)\W*$|\bafterwards\b|\bthe two\b|(?:그럼|그러면)\s|둘 (?:다|중)",
    re.IGNORECASE,
)
_MAY_POINT_BACK = re.compile(
    r"\b(?:this|these|that|those|the (?:three|other|same|former|latter)|both|either)\b"
    r"|그것|이것|그거|이거|그게|이게|그런|이런|이렇게|그렇게|그때|두 가지|(?<![\w가-힣])(?:그|이) ",
    re.IGNORECASE,
)
# A version, a part number, an error code: it narrows the question, wherever in the message it stands.
_IDENTIFIER = re.compile(r"\b[A-Za-z][\w.-]*\d[\w.]*\b|\b[A-Za-z]\w+ v?\d+\.\d[\d.]*\b|\b\w*[a-z][A-Z]\w*\b")
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]m|my|me|we|our|us)\b|(?<![가-힣])(?:저는|제|제가|나는|내가|내|우리|저희)(?![가-힣])", re.IGNORECASE
)
_ANYBODY = re.compile(r"\b(?:do|can|may|must|should|could) (?:i|we)\b", re.IGNORECASE)
_STATES = re.compile(
    r"(?:다|요|음|함)\W*$|\b(?:am|is|are|was|were|has|have|had|takes?)\b|['’](?:m|ve)\b", re.IGNORECASE
)
# With the form of a statement.
_MAY_ASK = re.compile(r"(?:도|면)\s*(?:돼|되|됩|괜찮|안)|싶|부탁|바랍니다|\b(?:need|want|like|please)\b", re.IGNORECASE)


class MessageParts(NamedTuple):
    """``question``: what is asked, to be searched for and judged by; ``told``: the rest, without courtesies.

    ``story`` is what of that is not about who somebody is. ``alone``: whether the question can be understood without
    what is told; if not, it holds all of it.
    """

    question: str
    told: str = ""
    alone: bool = True
    story: str = ""


class _Part(NamedTuple):
    text: str
    asks: bool
    of_self: bool = False


def asking_part(
    message: str, analyzer: TextAnalyzer, follows: bool = False, pack: DomainPack = GENERAL
) -> MessageParts:
    """What ``message`` asks, in its own words and order; all of it but courtesies where nothing is asked or told.

    A question that ``follows`` a conversation points back to that, and not to what is said of oneself. One that names
    something of the pack's field is understood by itself, unless such a thing is told that must be told apart.
    """
    parts = list(_parts(message))
    if not parts:
        return MessageParts(message.strip())
    asking = [part for part in parts if part.asks]
    if not asking or len(asking) == len(parts):
        return MessageParts(_join(parts))
    kept = [part for part in parts if part.asks or part.of_self or _stays(part, parts[0], asking)]
    story = [part for part in parts if part not in kept]
    if story and not _stands(_join(asking), _join(story), analyzer, pack):
        kept, story = parts, []
    without = [part for part in kept if not part.of_self]
    of_self = [part for part in kept if part.of_self]
    apart = follows or len(without) > len(asking)
    if of_self and (apart or not _needs(_join(asking), _join(of_self), analyzer)):
        kept, story = without, [part for part in parts if part not in without]
    others = _join([part for part in story if not part.of_self])
    return MessageParts(_join(kept), _join(story), len(kept) == len(asking), others)


def _parts(message: str) -> Iterator[_Part]:
    """The sentences without courtesies, and a clause about oneself apart from the question behind it."""
    found: list[_Part] = []
    for start, end in list(sentence_spans(message))[:_MOST_SENTENCES]:
        text = message[start:end].strip()
        if not text or _COURTESY.fullmatch(text):
            continue
        text = _THANKS_LAST.sub("", _GREETS_FIRST.sub("", text)).strip() or text
        of_self = _SELF.search(text) is not None
        head = _SELF_FIRST.match(text) if of_self else None
        if head and asks(text[head.end() :]):
            found.append(_Part(text[: head.end()].strip(), asks=False, of_self=True))
            text, of_self = text[head.end() :], False
        found.append(_Part(text, asks(text), of_self))
    clear = any(part.asks and _ASKS_CLEARLY.search(part.text) for part in found)
    for part in found:
        asking = part.asks and (not clear or _ASKS_CLEARLY.search(part.text) is not None)
        yield part._replace(asks=asking, of_self=part.of_self and not asking)


def _only_states(message: str) -> bool:
    """Whether every sentence states something, in English of the one who writes."""
    said = [part.text for part in _parts(message)]
    states = all((_STATES if has_hangul(text) else _FIRST_PERSON).search(text) for text in said)
    return bool(said) and states and not any(asks(text) or _MAY_ASK.search(text) for text in said)


def asks(sentence: str) -> bool:
    """Whether a sentence has the form of a question or a request, or words of one."""
    return _ASKS.search(sentence) is not None


def _join(parts: Sequence[_Part]) -> str:
    return " ".join(part.text for part in parts)


def _stays(part: _Part, first: _Part, asking: Sequence[_Part]) -> bool:
    """Whether a telling sentence belongs to the question: a subject line, or one that narrows it down."""
    narrows = _IDENTIFIER.search(part.text) is not None and not _IDENTIFIER.search(_join(asking))
    return narrows or (part is first and _is_title(part.text))


def _is_title(sentence: str) -> bool:
    short = len(sentence) <= _LONGEST_TITLE and len(sentence.split()) <= _MOST_TITLE_WORDS
    return short and not _FIRST_PERSON.search(sentence) and not _STATES.search(sentence)


def _stands(asking: str, story: str, analyzer: TextAnalyzer, pack: DomainPack) -> bool:
    """Whether a question is understood without the story before it: no pronoun, nobody's own, and specific."""
    if _points_back(asking, analyzer) or _FIRST_PERSON.search(_ANYBODY.sub("", asking)):
        return False
    # Korean leaves out what was said before, so that few words say little of what a question is about.
    return (
        bool(pack.names(asking) and not pack.things(story))
        or _is_specific(asking, analyzer)
        or (language_of(asking) == "en" and _outweighs(asking, story, analyzer))
    )


def _needs(asking: str, of_self: str, analyzer: TextAnalyzer) -> bool:
    """Whether a question is understood only with what was said of oneself."""
    if _points_back(asking, analyzer):
        return True
    enough = len(distinct(analyzer.key_terms(asking))) > 1
    share = _AS_TELLING_OF_SELF if enough else _AS_TELLING
    return not (_is_specific(asking, analyzer) or _outweighs(asking, _WHO.sub("", of_self), analyzer, share))


def _points_back(asking: str, analyzer: TextAnalyzer) -> bool:
    if _POINTS_BACK.search(asking) or (depends_on_history(asking, analyzer) and not _IDENTIFIER.search(asking)):
        return True
    pointing = _MAY_POINT_BACK.search(asking)
    terms = distinct(analyzer.key_terms(asking))
    return pointing is not None and sum(term.start < pointing.start() for term in terms) < _LEAST_TERMS_BEFORE


def _is_specific(asking: str, analyzer: TextAnalyzer) -> bool:
    terms = distinct(analyzer.key_terms(asking))
    return _IDENTIFIER.search(asking) is not None or len(terms) >= _LEAST_TERMS[language_of(asking)]


def _outweighs(asking: str, told: str, analyzer: TextAnalyzer, share: float = _AS_TELLING) -> bool:
    """Whether the rarest word asked has ``share`` of the weight of the rarest one told that the index knows."""
    own = max((term.weight for term in analyzer.key_terms(asking)), default=0.0)
    terms = analyzer.key_terms(told)
    unseen = analyzer.unseen(term.token for term in terms)
    said = max((term.weight for term, most in zip(terms, unseen, strict=True) if term.weight < most), default=0.0)
    return own >= share * said


def contextualize_question(
    question: str, history: Sequence[Message], analyzer: TextAnalyzer, swap: Swap | None = None
) -> str:
    """As ``contextualize_query``, from what the user asked before, without what was only told beside it."""
    asked = [
        replace(said, content=asking_part(said.content, analyzer, follows=place > 0).question)
        if said.role == "user"
        else said
        for place, said in enumerate(recent(history))
    ]
    return contextualize_query(question, asked, analyzer, swap)


_MOST_NAMES = 6


def focus(message: str, pack: DomainPack, analyzer: TextAnalyzer, follows: bool = False) -> Focus:
    """The question within ``message``, the query for it, and what the message tells besides."""
    if has_no_topic(message):
        how = again(message) if follows else None
        return Focus(message, message, message if how else "", how if how in ("ko", "en") else None)
    asked = asking_part(message, analyzer, follows, pack)
    text, story = (respelt(part, pack.vocabulary, analyzer) for part in (asked.question, asked.story))
    names = pack.names(f"{story} {text}".strip())[:_MOST_NAMES]
    searched = f"{_subject(story, pack)} {text if asked.alone else _asking(text)}".strip()
    # Names that are there already count double: they are what a message is about, among words that are not.
    query = " ".join((bound_query(searched), *names)).strip() or message
    return Focus(asked.question, query, asked.told, has_question=not _only_states(message))


def _subject(story: str, pack: DomainPack) -> str:
    """The first sentence of a letter, where it names something of the field."""
    first = next((story[start:end] for start, end in sentence_spans(story)), "")
    return first if pack.names(first) else ""


def _asking(text: str) -> str:
    """The first sentence and those that ask; all when none does."""
    first, *others = (text[start:end] for start, end in sentence_spans(text))
    return " ".join((first, *([sentence for sentence in others if asks(sentence)] or others)))
