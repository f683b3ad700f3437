"""Messages that ask for what was said before [S2]: how they want it, and the last answer in fewer words.

For the answer before, said again in fewer words and with its sources, nothing need be looked up.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from selfright.domain.answers import Draft, Message, Repetition, Sentence
from selfright.domain.composing import MARKER, compose
from selfright.domain.text import sentence_spans
from selfright.roles.analysis import TextAnalyzer

_LONGEST = 80
_LEAST_TERMS = 3
_LEAST_COVERAGE = 0.95

# All that a request for the same once more may consist of, and what of it says how.
_VOCABULARY = re.compile(
    r"please|sorry|pardon|can|could|would|you|say|tell|me|put|explain|describe|make|give|keep|write|sum|up|summari[sz]e|shorten"
    r"|simplify|repeat|rephrase|reword|translated?|elaborate|expand|continue|go|on|that|it|this|your|the|last|previous"
    r"|answer|reply|again|more|much|bit|little|in|to|into|as|an?|one|two|three|single|sentences?|lines?|words?|other"
    r"|short(?:er|ly)?|brief(?:er|ly)?|concise(?:ly)?|simpl(?:e|er|y)|plain|terms|easier|and|ok(?:ay)?|now|once|version|of"
    r"|way|fewer|only|just|for|beginners?|child|layman|i|details?|detailed|further|longer|about"
    r"|korean|english|don|t|do|not|get|understand|what|where|did|does|is|are|from|come|came|sources?|sure|really|said|written|stated|find|found"
    r"|(?:그걸|그거|그건|이건|그것을?|이걸|이거|방금|말한|답한|거|걸|것을?|위|앞|그|내용을?|답변?을?|대답을?|좀|조금|더|다시|한|두|세|[123]|번만?"
    r"|문장|줄|마디|으?로만?|만|짧게|간단히|간단하게|간략히|간략하게|쉽게|쉬운|알기|초등학생도|이해하게|말로|줄여서?|요약(?:해서?)?"
    r"|정리(?:해서?)?|말(?:씀)?해|설명해?|알려|얘기해|이야기해|풀어서?|해|줘요?|주세요|줄래요?|주실래요|주시겠어요|줄|수|있어요?"
    r"|있을까요|있나요|부탁(?:해요?|드려요|드립니다)|요|자세히|자세하게|상세히|상세하게|구체적|길게|계속|이어서|번역(?:해서?)?|한국어|한글"
    r"|우리말|영어|이해가?|안|못|돼요?|했어요?|무슨|뜻|말|이야|인가요|이에요|봐|아까|조금|전에?|뭐라고|뭐랬|했(?:지|죠|더라|나요)|지|죠|요"
    r"|출처|근거|는|은|가|어디(?:서|에서|에|야|예요|에요|죠|지)?|나온|나왔|나와|써|쓰여|적혀|온|거야|건가요|정말|진짜|확실(?:해|한가요|하나요)|맞아|맞나요|뭐(?:야|예요|죠)?)+",
    re.IGNORECASE,
)
_MEANS = re.compile(r"\bwhat do you mean\b", re.IGNORECASE)
Again = Literal["ko", "en", "less", "same", "more"]
_CUES: dict[Again, re.Pattern[str]] = {
    "ko": re.compile(r"\bkorean\b|한국어|한글|우리말", re.IGNORECASE),
    "en": re.compile(r"\benglish\b|영어", re.IGNORECASE),
    "less": re.compile(
        r"\b(?:short|brief|concise|simpl|summar|fewer|plain|easier|sum up|sentence)|짧게|간단|간략|쉽게|쉬운|줄여|요약"
        r"|문장|[한두세123]\s?줄",
        re.IGNORECASE,
    ),
    "same": re.compile(
        r"\bwhere (?:do|does|did|is) (?:it|that|this|you) (?:say|said|written|stated|find|found)\b"
        r"|\b(?:repeat|say (?:that|it|this) (?:once )?(?:more|again)|did you (?:just )?say|you said|sources?|from|sure"
        r"|really)\b"
        r"|뭐라고|뭐랬|다시 ?(?:한 ?번 ?)?말|한 ?번 ?더 ?말|출처|근거|어디(?:서|에? ?(?:나와|나왔|써|쓰여|적혀))"
        r"|정말|진짜|확실|맞(?:아|나)",
        re.IGNORECASE,
    ),
    "more": re.compile(
        r"\b(?:more|further|detail|longer|explain|elaborate|expand|continue|go on|again|repeat|rephrase|reword|words"
        r"|understand|get it)|더|자세|상세|구체|길게|계속|이어서|다시|설명|이해|무슨",
        re.IGNORECASE,
    ),
}


def was_answered(text: str, history: Sequence[Message], analyzer: TextAnalyzer) -> bool:
    """Whether ``text`` asks for what was said once more, or for nothing that earlier answers have no word of."""
    said = [message.content for message in history if message.role == "assistant"]
    if not said:
        return False
    if again(text):
        return True
    terms = analyzer.key_terms(text)
    return len(terms) >= _LEAST_TERMS and analyzer.terms_coverage(terms, *said) >= _LEAST_COVERAGE


def again(text: str) -> Again | None:
    """How ``text`` wants what was said to be said again: in a language, in fewer words, as it was, or with more.

    None where anything else is in it: it then has something to look up.
    """
    text = _MEANS.sub("explain", text)
    words = re.findall(r"[A-Za-z]+|[가-힣0-9]+", text) if len(text) <= _LONGEST else []
    if not words or not all(map(_VOCABULARY.fullmatch, words)):
        return None
    return next((kind for kind, cue in _CUES.items() if cue.search(text)), None)


_SOURCES = re.compile(r"\b(?:sources?|from|where)\b|출처|근거|어디", re.IGNORECASE)
_MOST_LEAD_WORDS = 3  # "Opening hours. From April to September …" is one sentence
_MARKERS = re.compile(r"^(?:\s*\[\d{1,4}\])*")
_BULLET = re.compile(r"^(?:[-*•] |\d{1,3}[.)] )")
_NUMBERS = {"two": 2, "three": 3, "두": 2, "세": 3, "2": 2, "3": 3}
_NUMBER = re.compile(r"\b(two|three)\b|(두|세|[23])\s?(?:문장|줄)", re.IGNORECASE)


def restate(text: str, history: Sequence[Message]) -> Repetition | None:
    """The last answer: as it was, or in as many sentences as ``text`` asks for, one where it names no number.

    None where it asks for anything else, or where the answer before it had no sources to be held against.
    """
    last = next((message for message in reversed(history) if message.role == "assistant"), None)
    how = again(text)
    if last is None or not last.citations or how not in ("less", "same"):
        return None
    said = list(_sentences(last))
    sourced = [sentence for sentence in said if sentence.citations]
    asked = _NUMBER.search(text)
    most = len(sourced) if how == "same" else _NUMBERS[(asked[1] or asked[2]).lower()] if asked else 1
    if not sourced:
        return None
    return Repetition(_draft(sourced[:most], last), last.question, last.citations, _SOURCES.search(text) is not None)


def _sentences(message: Message) -> Iterator[Sentence]:
    """The sentences of an answer; a marker stands behind the sentence that it belongs to."""
    known = {citation.n: " ".join(citation.text.split()) for citation in message.citations}
    text, spans = message.content, list(sentence_spans(message.content))
    lead = ""
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
            if numbers and len(words.split()) <= _MOST_LEAD_WORDS and place + 1 < len(spans):
                lead = f"{lead}{words} "
                continue
        words, lead = f"{lead}{words}", ""
        if any(map(str.isalnum, words)):
            yield Sentence(words, numbers)


def _draft(sentences: Sequence[Sentence], message: Message) -> Draft:
    """With the citations of these sentences, numbered from 1."""
    used = dict.fromkeys(n for sentence in sentences for n in sentence.citations)
    renumbered = {n: place for place, n in enumerate(used, start=1)}
    own = tuple(replace(s, citations=tuple(renumbered[n] for n in s.citations)) for s in sentences)
    cited = {citation.n: citation for citation in message.citations}
    return Draft(compose(own), own, tuple(replace(cited[n], n=place) for n, place in renumbered.items()))
