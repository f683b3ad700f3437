"""Whether a message can be answered from the conversation alone [S2]."""

import re
from collections.abc import Sequence

from selfright.domain.answers import Message
from selfright.roles.analysis import TextAnalyzer

_LONGEST = 80
_LEAST_TERMS = 3
_LEAST_COVERAGE = 0.95
# Asks for what was said, said again: longer, shorter, simpler, in other words or in another language.
_AGAIN = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+|and\s+|ok(?:ay)?[\s,]+)*(?:"
    r"(?:tell me|explain|say|describe) (?:me )?(?:more|further|again|that|it|this)\b|tell me more|more details?"
    r"|elaborate|go on|continue|what do you mean|i (?:do not|don't) (?:understand|get it)"
    r"|(?:repeat|rephrase|reword|shorten|simplify|translate|summari[sz]e|sum up)\s+"
    r"(?:that|it|this|your|the (?:last|previous) )|(?:in )?(?:short|other words|simple(?:r)? (?:words|terms)))"
    r"|^\W*(?:좀 ?|조금 ?|그걸 ?|그거 ?|그 ?내용을? ?|방금 ?(?:말한|답한)? ?(?:걸|것을|거)? ?|위 ?내용을? ?)*"
    r"(?:더|다시|자세히|자세하게|쉽게|간단히|간단하게|짧게|구체적으로|계속|이어서)\s*(?:한 ?번\s*)?"
    r"(?:자세히\s*|쉽게\s*|길게\s*)?(?:설명|말해|말씀|얘기|이야기|알려|풀어|요약|정리|해\s?(?:줘|주))"
    r"|^\W*(?:방금|위에?|앞에서?|지금까지)\s*(?:말한|답한|설명한|얘기한|나눈|한)?\s*(?:것|거|내용|답|대화)[을를]?\s*"
    r"(?:\S+\s+)?(?:요약|정리|번역|설명)"
    r"|^\W*(?:무슨 ?(?:말|뜻)(?:이야|인가요|이에요|인지)?|이해가? ?안|못 ?알아)",
    re.IGNORECASE,
)


def answered_before(text: str, history: Sequence[Message], analyzer: TextAnalyzer) -> bool:
    """Whether ``text`` asks for what was said once more, or for nothing that earlier answers have no word of."""
    said = [message.content for message in history if message.role == "assistant"]
    if not said:
        return False
    if asks_again(text):
        return True
    terms = analyzer.key_terms(text)
    return len(terms) >= _LEAST_TERMS and analyzer.terms_coverage(terms, "\n".join(said)) >= _LEAST_COVERAGE


def asks_again(text: str) -> bool:
    """Whether ``text`` asks for what was said, said again: it has nothing to look up."""
    return len(text) <= _LONGEST and _AGAIN.search(text) is not None
