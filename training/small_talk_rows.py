"""Messages with a label for ``training.fit_classifier``: small talk, and what asks or tells something.

Small talk is that of ``question_class``. Questions come from every set that may be trained on. Their Korean is formal,
so informal questions are made from nouns of the Korean passages, and English ones in the words of small talk from nouns
of the English passages ("how is the … going to …?").
"""

import json
import random
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from selfright.domain.text import has_hangul

MOST_OF_A_SOURCE = 700
_SEED = 20
_CLASSES = {
    "clinc150", "clinc150-train", "clinc150-oos", "songys-chatbot", "belebele-ko", "clapnq", "squad2", "pubmedqa",
    "meqsum-message", "mtrag-un",
}  # fmt: skip
_ASKS_FOR_FACTS = "fun_fact"  # small talk there, but "unusual facts about the circus" can be looked up
# file below the data folder, field of the question
_QUESTIONS = (
    ("tydiqa_ko_en/dev/pairs.jsonl", "query"),
    ("nomiracl_ko_en/dev/pairs.jsonl", "query"),
    ("belebele_ko_en/dev/grounded.jsonl", "question"),
    ("kobest_boolq/dev/grounded.jsonl", "answer"),
    ("squad2/dev/queries.jsonl", "text"),
    ("covidqa/dev/queries.jsonl", "text"),
    ("medquad_liveqa/dev/queries.jsonl", "text"),
    ("mtrag/dev/queries.jsonl", "text"),
    ("canard/dev/rewrite.jsonl", "question"),
    ("selqa/dev/pairs.jsonl", "query"),
    ("nq_retrieved/dev/pairs.jsonl", "query"),
    ("squadshifts_wiki/dev/pairs.jsonl", "query"),
    ("product_qa/dev/pairs.jsonl", "query"),
    ("strategyqa_facts/dev/grounded.jsonl", "question"),
)
_NAMES = (("belebele_ko_en/ko/corpus.jsonl", True), ("belebele_ko_en/en/corpus.jsonl", False))
_MADE_KO = (
    "{n} 알려줘", "{n} 뭐야", "{n}이 뭐야?", "{n}란?", "{n} 언제야?", "{n} 어떻게 해?", "{n} 있어?", "{n} 써도 돼?",
    "{n} 해도 되나요", "{n} 차이가 뭐야", "{n} {m} 차이", "{n} 가격은?", "{n} 있나요?", "{n} 꼭 해야 하나요?",
    "{n} 설명해줘", "{n} 왜 안 돼?", "{n} {m} 같이 써도 괜찮아?", "{n} 얼마나 걸려?", "{n} {m} 문제",
    "{n} 때문에 {m} 생겼어", "{n} 설치가 안 돼요", "{n} {m} 어디서 봐?", "{n} 장단점", "우리 {n} {m} 어떻게 돼?",
    "{n} 아프면 어떡해?", "{n} 심한데 {m} 먹어도 되나", "{n}도 {m} 받을 수 있죠?", "{n} 쓸 수 있죠?",
    "{n} 바꾸려면 누구한테 말해야 해요", "{n} 하다가 {m} 나면 어쩌죠", "{n} 며칠까지 되나요",
    "나 {n} 처음인데 뭐부터 해?",
    "{n} 안 하면 {m} 못 하는 거죠?", "{n} 켜는 법", "{n} 지웠는데 다시 살릴 수 있어?", "제 {n}는 누가 볼 수 있나요",
    "그냥 {n}만 해도 되는 거야?", "{n} 하나 더 사도 돼?", "이거 {n}에서도 되나?", "{n} 그만두면 {m} 돈 나와요?",
    "안녕하세요 {n} {m} 좀 여쭤볼게요", "감사합니다 근데 {n}는요?", "너 {n} 알아?", "{n} 고장났어", "{n} 또 안 되네",
)  # fmt: skip
_MADE_EN = (
    "what can i do about {n}", "how is {n} going to {m}", "how is it going to {n}", "tell me about {n}",
    "who made {n}", "how old is {n}", "where is {n} from", "what is the meaning of {n}", "do you have {n}",
    "do you know {n}", "can you help me with {n}", "what can you tell me about {n}", "what's up with {n}",
    "is {n} a robot", "my {n} is broken", "thanks, and {n}?", "hi, {n} please", "hello! where do i find {n}",
    "what's your advice on {n}", "are you sure {n} needs {m}", "{n}", "{n} {m}", "how are {n} and {m} different",
    "what are you doing with my {n}", "who do i work with on {n}", "nice, does {n} do {m} too", "good {n} for {m}",
    "what do you call {n}", "why is my {n} not working", "can i get a {n}", "i lost my {n}", "how much {n} do i get",
    "what happens if {n} goes away", "are there any {n}", "can you talk to {n}", "do you support {n}",
    "bye {n}, hello {m}?",
)  # fmt: skip
_FOLLOWING = (
    "더 자세히", "좀 더 설명해줘", "그건 왜 그래?", "그걸 한 문장으로 줄여줘", "쉽게 말해줘", "다시 말해줘",
    "예를 들면?",
    "영어로 번역해줘", "tell me more", "say that more simply", "shorter please", "why is that", "what about children",
    "explain that again", "go on", "and then", "give me an example", "translate that into Korean", "what else",
    "그럼 두 번째는?", "어떤 게 더 나아?", "which one is better", "how so", "그게 무슨 뜻이야",
)  # fmt: skip


class Row(NamedTuple):
    """A message, whether it is small talk, and where it comes from."""

    text: str
    small_talk: bool
    source: str


def rows(data: Path) -> list[Row]:
    """Every message once, at most ``MOST_OF_A_SOURCE`` questions of one source, in the same order each time."""
    chance = random.Random(_SEED)
    found: dict[str, Row] = {}
    for row in (*_classes(data), *_questions(data, chance), *_made(data, chance), *_noise(chance)):
        found.setdefault(row.text, row)
    return list(found.values())


def _classes(data: Path) -> Iterator[Row]:
    for row in _read(data / "question_class/dev/class.jsonl"):
        if row["source"] in _CLASSES and row["label"] != "assistant_control" and row["sub"] != _ASKS_FOR_FACTS:
            part = f":{row['sub']}" if row["label"] == "chitchat" and row["source"] == "songys-chatbot" else ""
            yield Row(row["text"], row["label"] == "chitchat", f"{row['label']}:{row['source']}{part}")


def _questions(data: Path, chance: random.Random) -> Iterator[Row]:
    for place, field in _QUESTIONS:
        texts = list(dict.fromkeys(str(row[field]).strip() for row in _read(data / place)))
        for text in _some(texts, chance):
            yield Row(text, False, place.split("/")[0] + (":ko" if has_hangul(text) else ":en"))
    yield from (Row(text, False, "made:following") for text in _FOLLOWING)


def _made(data: Path, chance: random.Random) -> Iterator[Row]:
    for place, korean in _NAMES:
        nouns = _nouns(data / place, korean=korean)
        forms = _MADE_KO if korean else _MADE_EN
        for number in range(2 * MOST_OF_A_SOURCE):
            text = forms[number % len(forms)].format(n=chance.choice(nouns), m=chance.choice(nouns))
            yield Row(text, False, "made:ko" if korean else "made:en")


def _nouns(path: Path, *, korean: bool) -> list[str]:
    """Words of two syllables or five letters and more, most of them nouns."""
    from selfright.retrieval.tokenizer import BilingualTokenizer

    if not korean:
        words = {word.strip(".,;:\"'()").lower() for row in _read(path) for word in row["text"].split()}
        return sorted(word for word in words if word.isalpha() and word.isascii() and len(word) > 4)
    tokens = {token for row in _read(path) for token in BilingualTokenizer().tokens(row["text"])}
    return sorted(token for token in tokens if len(token) > 1 and has_hangul(token))


def _noise(chance: random.Random) -> Iterator[Row]:
    """Keys hit at random: nobody knows what they mean, so they are looked up."""
    for number in range(150):
        letters = string.ascii_lowercase if number % 2 else "ㅁㄴㅇㄹㅂㅈㄷㄱ호ㅓㅏㅣ"
        words = ("".join(chance.choices(letters, k=chance.randint(3, 8))) for _ in range(chance.randint(1, 3)))
        yield Row(" ".join(words), False, "made:noise")


def _some(texts: Sequence[str], chance: random.Random) -> list[str]:
    return chance.sample(texts, MOST_OF_A_SOURCE) if len(texts) > MOST_OF_A_SOURCE else list(texts)


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
