"""An answer by a language model, whose citations are checked; where it fails, the offline writer's.

What a model repeats of its prompt (the question, the rules, the marks around data) is no answer and is taken out; what
only says that it does not know is a refusal.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from selfright.background import run_in_thread
from selfright.domain.answers import Draft, GenerationRequest, Sentence
from selfright.domain.chat import CODE, ChatReply, ChatRequest, Finish, Job, OnText
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.ports import ChatModel, Generator
from selfright.domain.text import sentence_spans, sentences_of
from selfright.roles.generate.answer_parsing import MARKS, MOST_CHARACTERS, ParsedSentence, parse_answer
from selfright.roles.generate.citation_check import CitationChecker, GroundingCheck
from selfright.roles.generate.warnings import with_warnings
from selfright.roles.model_calls import OUT_OF_REACH
from selfright.roles.summarize import first_asked
from selfright.roles.talk import is_listed
from selfright.roles.visible_text import letters
from selfright.roles.words import content_words

# Marks of our prompts with or without their brackets ("passage-f1751f20"), of chat templates, and headings.
_MARKS = re.compile(
    rf"\b(?:{'|'.join(MARKS)})-[0-9a-f]{{{CODE}}}\b"
    r"|<\|[a-z_]{2,20}\|>|\[/?INST\]|<<?/?SYS>?>|</?(?:s|start_of_turn|end_of_turn)>",
    re.I,
)
_LEAD = re.compile(
    r"\W*(?:the )?(?:(?:short |final |correct |best )?answer(?: to (?:the|this|your) question)?|passages?|question"
    r"|답변?|정답|문단|질문)(?: is| are|[은는이가])?(?: as follows| the following| below| this|\s?다음과 같습니다)?\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\[\d{1,4}\]")
_ITEM = re.compile(r"\A\s*\d{1,3}[.)]\s+(?=\S)")  # a list that loops counts on
_WORD = re.compile(r"[^\W_]+")
_SECRET_LETTERS = 24
_REPEATED = 3  # what stands there so often is no statement but a loop
_COPIED = re.compile(r"\A(?:\W{0,3}\b(?:question|user|q|질문|사용자)\b\W{0,3}[:：]\s*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a model was told to do: all of it letter by letter, and its sentences."""

    whole: str
    sentences: frozenset[str]

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, text: str) -> "_Rules":
        text = _NUMBER.sub("", text)  # as they are gone from what was said
        return cls(letters(text), frozenset(letters(text[start:end]) for start, end in sentences_of(text)))

    def has(self, said: str) -> bool:
        return said in self.sentences or (len(said) >= _SECRET_LETTERS and said in self.whole)


def without_echo(question: str, parsed: Sequence[ParsedSentence], rules: str = "") -> list[ParsedSentence]:
    """The sentences that are not repeated from the prompt: its question, its ``rules``, its marks; of loops the first.

    Nothing is left of an answer that says nothing else.
    """
    asked, secret = content_words(question), _Rules.of(rules)
    bare = [letters(_ITEM.sub("", said.text)) for said in parsed]
    looped = _loop([text for text in bare if text])  # "3. ..." neither makes a loop nor ends one
    seen: dict[str, int] = {}
    kept = []
    for said, text in zip(parsed, bare, strict=True):
        # A step of a list may have to be done again, and stays unless the list ends in a loop of it.
        whole = text if text in looped else letters(said.text)
        seen[whole] = seen.get(whole, 0) + 1
        if seen[whole] == 1 and not _is_echo(said.text, text, asked, letters(question), secret):
            kept.append(said)
    return [] if _is_loop(seen, len(parsed)) and not any(len(letters(said.text)) >= 8 for said in kept) else kept


def _is_echo(said: str, text: str, asked: frozenset[str], question: str, secret: "_Rules") -> bool:
    if not text or _MARKS.search(said) or _LEAD.fullmatch(said) or _stutters(said):
        return True
    if secret.has(text):
        return True
    rest = _COPIED.sub("", said)
    words = content_words(rest)
    # A sentence that has no word beyond the question's says nothing, unless it says no, or a part that was offered.
    return letters(rest) == question or (rest.rstrip().endswith(("?", "？")) and bool(words) and words <= asked)


def _stutters(said: str) -> bool:
    words = _WORD.findall(said.casefold())
    return len(words) >= _REPEATED and len(set(words)) == 1


def _loop(said: Sequence[str]) -> frozenset[str]:
    """The sentences that come over and over at the end, in the same order, whether the last one was cut or not."""
    for period in range(1, len(said) // _REPEATED + 1):
        end = said[-_REPEATED * period :]
        if end[period:-1] == end[: -period - 1] and end[-period - 1].startswith(end[-1]):
            return frozenset(end)
    return frozenset()


def _is_loop(seen: dict[str, int], count: int) -> bool:
    return count >= _REPEATED and max(seen.values(), default=0) * 2 > count


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


@dataclass(frozen=True, slots=True)
class ModelGenerator:
    """Writes with a language model (port ``Generator``): one call, streamed; ``offline`` writes when that fails.

    What repeats the question, the rules or the marks of the prompt is taken out, and with ``grounding`` what the
    evidence does not state; where nothing is left, ``offline`` writes, too.
    """

    chat: ChatModel
    offline: Generator
    checker: CitationChecker
    temperature: float = 0.3
    max_tokens: int = 1_024
    grounding: GroundingCheck | None = None

    @property
    def needs_documents(self) -> bool:
        """No: it can answer from the conversation, and small talk from nothing."""
        return False

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        """The draft. ``on_text`` hears the text as the model writes it, before citations are checked.

        Out of reach, out of budget, refused or empty: the offline writer's draft, which ``on_text`` hears afterwards.
        Raises nothing of its own. Listed small talk has its fixed reply.
        """
        if _has_fixed_reply(request):
            return await self.offline.generate(request, on_text)
        try:
            reply = await self.chat.complete(self._request(request), on_text)
        except (*OUT_OF_REACH, ReplyUnusable):
            return await self.offline.generate(request, on_text)
        draft = await run_in_thread(len(reply.text), lambda: self._draft(reply, request))
        if draft.text:
            warned = with_warnings(draft, request)
            if on_text is not None and warned is not draft and warned.text.startswith(draft.text):
                on_text(warned.text[len(draft.text) :])
            return warned
        # Where nothing was looked up, the offline writer quotes nothing either.
        return replace(await self.offline.generate(request, on_text), stands_in=bool(request.strips))

    def _request(self, request: GenerationRequest) -> ChatRequest:
        return ChatRequest(
            job=Job.ANSWER,
            system=request.system_prompt,
            user=request.user_prompt,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            final=True,
        )

    def _draft(self, reply: ChatReply, request: GenerationRequest) -> Draft:
        if reply.finish is Finish.REFUSED:
            return Draft("")
        if not request.system_prompt and not request.strips:
            return _as_it_is(reply.text)
        parsed = parse_answer(reply.text, cut_off=reply.finish is Finish.LENGTH)
        if request.query_class is not QueryClass.CHITCHAT:
            parsed = without_echo(request.question, parsed, request.system_prompt)
        declined, strips = is_refusal([said.text for said in parsed]), request.strips
        if self.grounding and strips and not declined:
            parsed = self.grounding.without_quotes_and_rules(request.question, parsed, strips, request.system_prompt)
        draft = self.checker.draft(parsed if declined else self.checker.numbered(parsed, strips), strips)
        return replace(draft, refused=declined and not draft.citations)


def _has_fixed_reply(request: GenerationRequest) -> bool:
    """Whether it is small talk that is on a list; what a model summarised does not tell what was asked first."""
    is_talk = request.query_class is QueryClass.CHITCHAT and bool(request.system_prompt)
    is_told = not request.summary or bool(first_asked(request.summary))
    return is_talk and is_told and is_listed(request.question, bool(request.history or request.summary))


def _as_it_is(text: str) -> Draft:
    """What a model said to the bare text of a user: there is nothing to cite, and nothing to take out."""
    said = text.strip()[:MOST_CHARACTERS]
    return Draft(said, tuple(Sentence(said[start:end]) for start, end in sentence_spans(said)))
