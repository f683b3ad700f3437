"""What of a message is asked, and what of it is searched for: a letter to a doctor is mostly not its question.

Of a message of several sentences the ones that ask are the question, as long as what is left out is either a courtesy
or already among the facts that were read from it. Searched for are the first sentence (which often is a subject line)
and those that ask, with the names of what the whole message speaks of.
"""

import re
from collections.abc import Sequence

from selfright.domain.answers import Focus
from selfright.domain.packs import DomainPack
from selfright.domain.slots import Slot
from selfright.domain.text import sentence_spans
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.prefixes import bounded
from selfright.roles.rewrite.spelling import respelt

_ASKS = re.compile(
    r"[?？]|\b(?:what|how|why|which|when|where|who|whose|can|could|should|would|may|is (?:it|this|that|there)|are there"
    r"|do(?:es)? (?:it|this|I|you|they)|tell me|let me know|wonder(?:ing|ed)?|looking for|information|inform|advi[sc]e"
    r"|(?:want|need|like|love|hope|trying) to (?:know|learn|find|get|have|obtain)"
    r"|explain|help|concern(?:ed)? about|worried|afraid)\b"
    r"|(?:나요|까요|가요|는지|은지|ㄴ지|을지|니까|습니까|는가|은가|인가|을까|는데요)\s*[.?!~]*\s*$|무엇|뭔가|뭐|어떻게|어떤|어디|언제|왜|얼마|몇"
    r"|(?:알려|설명|추천|요약|가르쳐|말씀해|찾아|정리해|비교해)\s*(?:해\s*)?(?:주|줘|드|달)|궁금|걱정",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:hi|hello|dear\b.{0,30}|good (?:morning|afternoon|evening|day)|(?:many )?thanks?\b.{0,60}|thank you\b.{0,60}"
    r"|(?:best )?(?:regards|wishes).{0,30}|sincerely.{0,30}|god bless.{0,30}|(?:please|plz) (?:help|reply|advise)( me)?"
    r"|안녕(?:하세요|하십니까).{0,15}|(?:미리\s*)?(?:정말\s*)?감사(?:합니다|드립니다|해요).{0,15}|고맙습니다|수고하세요|잘\s*부탁드립니다"
    r"|답변\s*(?:기다리겠습니다|부탁드립니다|부탁드려요)|도와\s*주세요)\W*",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|the (?:two|three|other|same|former|latter)|both|either)\b"
    r"|(?:그것|이것|그거|이거|그게|이게|그런|이런|이렇게|그렇게|그럼|둘|두 가지)",
    re.IGNORECASE,
)
_MOST_NAMES = 6
_MOST_SENTENCES = 60


def focus(message: str, told: Sequence[Slot], pack: DomainPack, analyzer: TextAnalyzer) -> Focus:
    """The question within ``message`` and the query for it; ``told`` are the facts read from it, with their places."""
    spans = list(sentence_spans(message))[:_MOST_SENTENCES]
    text = respelt(message, pack.vocabulary, analyzer)
    names = pack.names(text)[:_MOST_NAMES]
    # Names that are there already count double: they are what a message is about, among words that are not.
    query = " ".join((bounded(_asking(text)) if len(spans) > 1 else text, *names)).strip() or message
    return Focus(_question(message, spans, told, pack) if len(spans) > 1 else message, query)


def _question(message: str, spans: Sequence[tuple[int, int]], told: Sequence[Slot], pack: DomainPack) -> str:
    """The asking sentences, if what the others say is known anyway, and they name a thing of the field themselves."""
    asking = [span for span in spans if _asks(message[span[0] : span[1]])]
    if not asking or len(asking) == len(spans):
        return message
    rest = [span for span in spans if span not in asking]
    if not all(_is_known(message, span, told) for span in rest):
        return message
    question = " ".join(message[start:end] for start, end in asking)
    alone = pack.names(question) and not _POINTS_BACK.search(question)
    return question if alone else message


def _asks(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None and _COURTESY.fullmatch(sentence) is None


def _is_known(message: str, span: tuple[int, int], told: Sequence[Slot]) -> bool:
    start, end = span
    said = any(start <= slot.start < end and slot.subject == "user" for slot in told)
    return said or _COURTESY.fullmatch(message[start:end]) is not None


def _asking(text: str) -> str:
    """The first sentence, which often is the subject, and those that ask; all but courtesies when none does."""
    first, *others = (text[start:end] for start, end in sentence_spans(text))
    chosen = [s for s in others if _asks(s)] or [s for s in others if not _COURTESY.fullmatch(s)]
    return " ".join((*([] if _COURTESY.fullmatch(first) else [first]), *chosen))
