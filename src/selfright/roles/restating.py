"""Messages that ask for what was said before [S2]: whether they do, and the last answer in fewer words.

For the answer before, said again in fewer words and with its sources, nothing need be looked up.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from selfright.domain.answers import Draft, Message, Restated, Sentence
from selfright.domain.composing import MARKER, compose
from selfright.domain.text import sentence_spans
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
    return len(terms) >= _LEAST_TERMS and analyzer.terms_coverage(terms, *said) >= _LEAST_COVERAGE


def asks_again(text: str) -> bool:
    """Whether ``text`` asks for what was said, said again: it has nothing to look up."""
    return len(text) <= _LONGEST and _AGAIN.search(text) is not None


# All that such a request may consist of, and what of it says that fewer or easier words are wanted.
_ENGLISH = re.compile(
    r"(?:please|can|could|would|you|say|tell|me|put|explain|make|give|keep|write|sum|up|summari[sz]e|shorten|simplify|repeat"
    r"|that|it|this|your|the|last|previous|answer|reply|again|more|much|bit|little|in|to|into|as|an?|one|two|three|single"
    r"|sentences?|lines?|words?|short(?:er|ly)?|brief(?:er|ly)?|concise(?:ly)?|simpl(?:e|er|y)|plain|terms|easier|and|ok(?:ay)?"
    r"|now|once|version|of|way|fewer|only|just|for|beginners?|child|layman|i|need|want|got|short answer)",
    re.IGNORECASE,
)
_ENGLISH_CUE = re.compile(
    r"\b(?:short|brief|concise|simpl|summar|fewer|plain|easier|sum up|sentence)\w*", re.IGNORECASE
)
_KOREAN = re.compile(
    r"(?:그걸|그거|그것을?|이걸|이거|방금|말한|답한|거|걸|것을?|위|앞|그|내용을?|답변?을?|대답을?|좀|조금|더|다시|한|두|세|[123]|번만?"
    r"|문장|줄|마디|으?로만?|만|짧게|간단히|간단하게|간략히|간략하게|쉽게|쉬운|알기|초등학생도|이해하게|말로|줄여서?|요약(?:해서?)?"
    r"|정리(?:해서?)?|말(?:씀)?해|설명해|알려|얘기해|이야기해|풀어서?|해|줘요?|주세요|줄래요?|주실래요|주시겠어요|줄|수|있어요?"
    r"|있을까요|있나요|부탁(?:해요?|드려요|드립니다)|요)"
)
_KOREAN_CUE = re.compile(r"짧게|간단|간략|쉽게|쉬운|줄여|요약|문장|[한두세123]\s?줄")
_MARKERS = re.compile(r"^(?:\s*\[\d{1,4}\])*")
_BULLET = re.compile(r"^(?:[-*•] |\d{1,3}[.)] )")
_NUMBERS = {"two": 2, "three": 3, "두": 2, "세": 3, "2": 2, "3": 3}
_NUMBER = re.compile(r"\b(two|three)\b|(두|세|[23])\s?(?:문장|줄)", re.IGNORECASE)


def restated(text: str, history: Sequence[Message]) -> Restated | None:
    """The last answer in as many sentences as ``text`` asks for, one where it names no number.

    None where it asks for anything else, or where the answer before it had no sources to be held against.
    """
    last = next((message for message in reversed(history) if message.role == "assistant"), None)
    if last is None or not last.citations or not asks_for_fewer_words(text):
        return None
    said = list(_sentences(last))
    sourced = [sentence for sentence in said if sentence.citations]
    asked = _NUMBER.search(text)
    most = _NUMBERS[(asked[1] or asked[2]).lower()] if asked else 1
    if not sourced:
        return None
    return Restated(_draft(sourced[:most], last), last.question, last.citations)


def asks_for_fewer_words(text: str) -> bool:
    """Whether ``text`` asks for nothing but the same in fewer or easier words."""
    if len(text) > _LONGEST:
        return False
    words = re.findall(r"[A-Za-z]+|[가-힣0-9]+", text)
    if _ENGLISH_CUE.search(text):
        return all(_ENGLISH.fullmatch(word) for word in words)
    return _KOREAN_CUE.search(text) is not None and all(re.fullmatch(f"{_KOREAN.pattern}+", word) for word in words)


def _sentences(message: Message) -> Iterator[Sentence]:
    """The sentences of an answer; a marker stands behind the sentence that it belongs to."""
    known = {citation.n: " ".join(citation.text.split()) for citation in message.citations}
    text, spans = message.content, list(sentence_spans(message.content))
    for place, (start, end) in enumerate(spans):
        behind = text[end : spans[place + 1][1]] if place + 1 < len(spans) else text[end:]
        leading = _MARKERS.match(behind)
        body = _MARKERS.sub("", text[start:end], count=1)
        marks = MARKER.findall(f" {body} {leading.group() if leading else ''}")
        numbers = tuple(dict.fromkeys(n for n in map(int, marks) if n in known))
        words = _BULLET.sub("", MARKER.sub("", f" {body}").strip())
        if not numbers:  # one marker may stand behind several sentences
            plain = " ".join(words.split())
            numbers = next(((n,) for n, cited in known.items() if plain in cited), ())
        if any(map(str.isalnum, words)):
            yield Sentence(words, numbers)


def _draft(sentences: Sequence[Sentence], message: Message) -> Draft:
    """With the citations of these sentences, numbered from 1."""
    used = dict.fromkeys(n for sentence in sentences for n in sentence.citations)
    renumbered = {n: place for place, n in enumerate(used, start=1)}
    own = tuple(replace(s, citations=tuple(renumbered[n] for n in s.citations)) for s in sentences)
    cited = {citation.n: citation for citation in message.citations}
    return Draft(compose(own), own, tuple(replace(cited[n], n=place) for n, place in renumbered.items()))
