"""Set phrases that tell what kind of message it is, Korean and English."""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


SUMMARY = _any(
    r"\bsummari[sz](?:e|ing|ation)\b",
    r"\b(?:give|write|make|provide|show|need|want)\b.{0,25}\b(?:summary|overview|recap|gist|synopsis|tl;?dr)\b",
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(?:sum up|recap|condense|outline|tl;?dr)\b",
    r"^\W*(?:a\s+)?(?:short\s+|brief\s+|quick\s+)?(?:summary|overview|recap) (?:of|on|about)\b",
    r"요약(?:해|을|본|하|좀|부탁|$|\s)",
    r"(?:간추려|간단히 정리|간략히 정리|핵심만|한 ?줄로|세 ?줄로|\d ?줄로)",
    r"정리\s?(?:해\s?(?:줘|주|줄|봐|달)|하여 주|좀|부탁)",
)

# A reply or a command by itself: nothing to look up, and nothing to greet either.
_REPLIES = re.compile(
    r"\W*(?:yes|no|yep|yeah|nope|nah|maybe|stop|cancel|quit|exit|again|sure|correct|wrong|right|true|false|help"
    r"|네|예|응|어|아니(?:요|오)?|그래(?:요)?|맞아(?:요)?|틀렸어(?:요)?|취소|중지|그만|다시|도움말|글쎄(?:요)?)\W*",
    re.IGNORECASE,
)
_GREETINGS = (
    r"(?:hi+|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day|night)|bye(?: ?bye)?|goodbye"
    r"|see (?:you|ya)|thanks?(?: you)?|thx|ty|cheers|lol|(?:ha){2,}h?|(?:he){2,}"
    r"|안녕(?:하세요|하십니까|하신가요|히 ?계세요|히 ?가세요)?|반가워요?|반갑습니다|여보세요|하이|헬로"
    r"|감사(?:합니다|해요|드려요|드립니다)?|고마워요?|고맙습니다|수고(?:하세요|하셨습니다|했어요?)?|잘 ?(?:가|있어)요?"
    r"|바이(?:바이)?|좋은 (?:아침|하루|저녁|밤)(?:이에요|입니다|되세요| 되세요| 보내세요)?|처음 뵙겠습니다"
    r"|ㅋ+|ㅎ+|ㅇㅋ|ㄱㅅ|ㅎㅇ|ㅂㅂ)"
)
_BESIDE = (
    r"(?:there|all|everyone|again|friend|team|so|very|much|a lot|for (?:the|your) (?:help|answer|reply|time)|later"
    r"|ok(?:ay)?|great|cool|nice|perfect|wow|oh|and|have a (?:nice|good|great) (?:day|night|one|evening|weekend)"
    r"|정말|너무|매우|진짜|대단히|많이|다들|여러분|네|넵|아|오|오늘도|답변|도와 ?(?:줘서|주셔서)|알려 ?(?:줘서|주셔서))"
)
_ENDS = r"(?![\w'’-])[\s\W]*"
_GREETING = re.compile(rf"\W*(?:{_BESIDE}{_ENDS})*{_GREETINGS}{_ENDS}(?:(?:{_GREETINGS}|{_BESIDE}){_ENDS})*", re.I)
_LONGEST_GREETING = 80


def is_greeting(message: str) -> bool:
    """Whether every word of ``message`` belongs to a greeting, thanks, a farewell or laughter."""
    return len(message) <= _LONGEST_GREETING and _GREETING.fullmatch(message) is not None


def is_reply(message: str) -> bool:
    """Whether ``message`` is nothing but a "yes" or a "stop"."""
    return _REPLIES.fullmatch(message) is not None
