"""Tells question, summary request and small talk apart: without a language model, and with one where that is unsure.

In doubt a message is a question: small talk that is looked up costs a search, a question taken for small talk is lost.
How much a message reads like small talk, logistic regression on its vector tells. The weights are in
``small_talk.json``, fitted by ``training/fit_classifier.py`` on the vectors of one encoder; with another one there is
no such judge.
"""

import asyncio
import base64
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selfright.background import aside
from selfright.domain.answers import Message, Restated
from selfright.domain.chat import Job
from selfright.domain.embedding import query_vector
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.ports import ChatModel, Embedder
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.model_calls import CLASSIFY_SCHEMA, OUT_OF_REACH, JudgingMode, told
from selfright.roles.prompting import classify_prompt
from selfright.roles.restating import answered_before, asks_again, restated

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SmallTalkWeights:
    """One weight for each dimension of ``encoder``; small talk is a probability of ``threshold`` and more."""

    encoder: str
    weights: "NDArray[np.float32]"
    intercept: float
    threshold: float


class SmallTalkJudge:
    """Reads the whole message at once; ``embedder`` is the encoder that the weights were fitted on."""

    def __init__(self, embedder: Embedder, weights: SmallTalkWeights) -> None:
        self._embedder = embedder
        self._fitted = weights

    @property
    def threshold(self) -> float:
        """From here on a message is small talk; chosen so that hardly any question is lost."""
        return self._fitted.threshold

    def probability(self, message: str) -> float:
        """0…1."""
        z = float(query_vector(self._embedder, message) @ self._fitted.weights) + self._fitted.intercept
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def small_talk_judge(embedder: Embedder | None) -> SmallTalkJudge | None:
    """The judge for ``embedder``; None where the shipped weights were fitted on another encoder's vectors."""
    weights = shipped_weights()
    return SmallTalkJudge(embedder, weights) if embedder is not None and embedder.name == weights.encoder else None


@cache
def shipped_weights() -> SmallTalkWeights:
    """Those that come with the package."""
    raw = files("selfright.roles").joinpath("small_talk.json").read_text(encoding="utf-8")
    return read_weights(json.loads(raw))


def read_weights(stored: Mapping[str, Any]) -> SmallTalkWeights:
    """From their JSON form: whole numbers of eight bits in base64, times ``scale``.

    Raises ``ValueError`` when there are not as many as ``dimension`` says.
    """
    numbers = np.frombuffer(base64.b64decode(stored["weights"], validate=True), dtype=np.int8)
    if len(numbers) != stored["dimension"]:
        raise ValueError(f"{stored['dimension']} weights were expected, but there are {len(numbers)}")
    weights = numbers.astype(np.float32) * np.float32(stored["scale"])
    return SmallTalkWeights(stored["encoder"], weights, float(stored["intercept"]), float(stored["threshold"]))


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


# Shares of the weight of a word that the index does not know: a topic's words come more than once, but not everywhere.
_UBIQUITOUS, _INCIDENTAL = 0.2, 0.8


class IndexTopics:
    """Calls a message on topic when one of its key terms is a word that the indexed documents come back to.

    For ``OfflineClassifier(is_on_topic=…)``: a terse complaint about what the documents treat is then never small talk,
    at the price that more small talk is looked up.
    """

    def __init__(self, analyzer: TextAnalyzer) -> None:
        self._analyzer = analyzer

    def __call__(self, text: str) -> bool:
        """Whether ``text`` is on topic; false while the index is empty."""
        terms = self._analyzer.key_terms(text)
        unseen = self._analyzer.unseen(term.token for term in terms)
        return any(
            _UBIQUITOUS * most < term.weight < _INCIDENTAL * most for term, most in zip(terms, unseen, strict=True)
        )


_LONGEST_SMALL_TALK = 120
_SURE_QUESTION = 0.2  # of messages below this chattiness hardly any is small talk
_UNREAD_WORDS = 5  # without an encoder a message of so few words may be small talk that is on no list


class Classified(NamedTuple):
    """A class, and whether a rule or a clear score stands behind it."""

    kind: QueryClass
    sure: bool = True


class OfflineClassifier:
    """Implements the port ``Classifier``.

    A message is small talk when nothing in it is anything else: when all of its words are those of a greeting, or
    when ``small_talk`` has read it and is sure. One word that is no greeting is looked up, and so is what
    ``is_on_topic`` (a domain, the index) says it knows. Without ``analyzer`` nothing is taken to be answered by the
    conversation.
    """

    def __init__(
        self,
        is_on_topic: Callable[[str], bool] = lambda _: False,
        small_talk: SmallTalkJudge | None = None,
        analyzer: TextAnalyzer | None = None,
    ) -> None:
        self._is_on_topic = is_on_topic
        self._small_talk = small_talk
        self._analyzer = analyzer

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; with a conversation before it, a bare "tell me more" is a question."""
        return (await self.judged_aside(text, history)).kind

    async def judged_aside(self, text: str, history: Sequence[Message] = ()) -> Classified:
        """As ``judged``, in a thread where it takes long."""
        if self._small_talk is None:
            return await aside(len(text), lambda: self.judged(text, bool(history)))
        return await asyncio.to_thread(self.judged, text, bool(history))

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer."""
        if self._analyzer is None:
            return False
        return await asyncio.to_thread(answered_before, text, history, self._analyzer)

    async def restated(self, text: str, history: Sequence[Message]) -> Restated | None:
        """The answer before in fewer words; see ``restating``."""
        return restated(text, history)

    def judge(self, text: str, has_history: bool = False) -> QueryClass:
        """As ``classify``, without waiting."""
        return self.judged(text, has_history).kind

    def judged(self, text: str, has_history: bool = False) -> Classified:
        """As ``judge``, with whether it is sure; only where no rule decides, it may not be."""
        if not any(map(str.isalnum, text)) or is_reply(text):
            return Classified(QueryClass.UNKNOWN)
        if SUMMARY.search(text):
            return Classified(QueryClass.SUMMARY)
        if asks_again(text):
            return Classified(QueryClass.QUESTION if has_history else QueryClass.UNKNOWN)
        return Classified(QueryClass.CHITCHAT) if is_greeting(text) else self._read(text)

    def _read(self, text: str) -> Classified:
        words = text.split()
        if len(words) == 1 or len(text) > _LONGEST_SMALL_TALK:
            return Classified(QueryClass.QUESTION)
        if self._small_talk is None:
            return Classified(QueryClass.QUESTION, sure=len(words) > _UNREAD_WORDS)
        chatty = self._small_talk.probability(text)
        if chatty >= self._small_talk.threshold and not self._is_on_topic(text):
            return Classified(QueryClass.CHITCHAT)
        return Classified(QueryClass.QUESTION, sure=chatty < _SURE_QUESTION)


@dataclass(frozen=True, slots=True)
class ModelClassifier:
    """Implements the port ``Classifier``: in a cascade the model is asked only where the offline rules are unsure."""

    chat: ChatModel
    offline: OfflineClassifier
    judging: JudgingMode = "cascade"

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; the offline one when the model cannot be asked or names no class."""
        own = await self.offline.judged_aside(text, history)
        if (own.sure and self.judging == "cascade") or not text.strip():
            return own.kind
        try:
            said = await told(self.chat, Job.CLASSIFY, classify_prompt(text, history), CLASSIFY_SCHEMA)
            return QueryClass(str(said.get("query_class")).strip().lower())
        except (*OUT_OF_REACH, ReplyUnusable, ValueError):
            return own.kind

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer: the offline role's word, no call is worth it."""
        return await self.offline.conversational(text, history)

    async def restated(self, text: str, history: Sequence[Message]) -> Restated | None:
        """As the offline role: the sources of the answer before are not for a model to tell."""
        return await self.offline.restated(text, history)
