"""Short fixed replies to greetings, thanks and goodbyes, and how to say that nothing was found."""

import re

from selfright.domain.passages import Language

_THANKS = re.compile(r"\b(?:thanks?|thank you|thx|cheers|appreciated?)\b|고마|고맙|감사", re.IGNORECASE)
_BYE = re.compile(
    r"\b(?:bye|goodbye|good night|see you|farewell)\b|잘 ?가|잘 ?있어|안녕히 (?:계|가)|다음에 (?:봐|만나)|또 봐", re.I
)
_WHO = re.compile(
    r"\b(?:who|what) are you\b|\bwhat can you do\b|\byour name\b|\bhelp me\b|^help\b"
    r"|(?:너|넌|당신|네).{0,6}(?:누구|뭐|이름)|뭘? ?할 수 있|도와줄 수|도와줘",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\bhow(?:'s| is| are) (?:you|it|things|everything)\b|\bwhat'?s up\b|잘 지내|기분|뭐 ?해|어때", re.IGNORECASE
)

_CAN: dict[Language, str] = {
    "en": "I answer questions from the indexed documents, with sources. Ask me anything that they cover.",
    "ko": "등록된 문서에서 근거를 찾아 출처와 함께 답해 드립니다. 문서에 관해 무엇이든 물어보세요.",
}
_REPLIES: dict[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "en": (
        (_THANKS, "You are welcome. If anything else in the documents interests you, just ask."),
        (_BYE, "Goodbye. Come back whenever you have a question about the documents."),
        (_WHO, f"I am Selfright, an assistant for documents. {_CAN['en']}"),
        (_HOW, f"All is well, thank you. {_CAN['en']}"),
    ),
    "ko": (
        (_THANKS, "천만에요. 문서에 관해 더 궁금한 점이 있으면 언제든 물어보세요."),
        (_BYE, "안녕히 가세요. 문서에 관해 궁금한 점이 생기면 다시 찾아 주세요."),
        (_WHO, f"저는 문서를 바탕으로 답하는 Selfright입니다. {_CAN['ko']}"),
        (_HOW, f"잘 지내고 있습니다, 고맙습니다. {_CAN['ko']}"),
    ),
}
_GREETING: dict[Language, str] = {"en": f"Hello! {_CAN['en']}", "ko": f"안녕하세요! {_CAN['ko']}"}
_NOTHING: dict[Language, str] = {
    "en": "I found nothing in the documents that answers this question.",
    "ko": "문서에서 이 질문에 답할 만한 내용을 찾지 못했습니다.",
}


def reply(text: str, language: Language) -> str:
    """A fitting answer to small talk; a greeting when it is nothing else."""
    return next((answer for pattern, answer in _REPLIES[language] if pattern.search(text)), _GREETING[language])


def nothing_found(language: Language) -> str:
    """The sentence that stands in for an answer when the evidence holds none."""
    return _NOTHING[language]
