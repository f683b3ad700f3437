"""What the reader is trained on: the answer's pieces are where the answer is, and near pages do not answer."""

import random
import zlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from selfright.retrieval.tokenizer import BilingualTokenizer
from training.cross_encoder_batches import Encoder, Example, batches, encoder_of, examples
from training.pairs import Page, Question, is_left_out

SENTENCES = (
    "The Mill Bridge was built in 1832 by Ada Stone.",
    "It was the longest bridge in Harrow until 1901.",
    "The engineer Paul Reed widened it for trams, which crossed it 40 times a day.",
    "Since 1950 only walkers use it.",
)
ASKED = (
    ("Who built the Mill Bridge in 1832?", "Ada Stone"),
    ("Until when was it the longest bridge in Harrow?", "1901"),
    ("How many times a day did trams cross the bridge of Paul Reed?", "40"),
    ("Who may use it since 1950?", "walkers"),
)
FILLER = "Nothing of note happened on the river in those years, the records of the town say."


def page(sentences: list[str], dataset: str = "squad2") -> Page:
    text = " ".join(sentences)
    found = [Question(q, 1, text.index(answer), text.index(answer) + len(answer)) for q, answer in ASKED]
    return Page(dataset, f"{dataset}/bridge", "Mill Bridge", text, tuple(found))


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    """Whole words; 1 and 2 are the marks around a text."""
    words = sorted({word for text in (*SENTENCES, *(q for q, _ in ASKED), FILLER) for word in _split(text)})
    tokenizer = Tokenizer(WordLevel({"[?]": 3, "[A]": 1, "[Z]": 2} | {w: n for n, w in enumerate(words, 4)}, "[?]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[A] $A [Z]", special_tokens=[("[A]", 1), ("[Z]", 2)])
    return tokenizer


def _split(text: str) -> list[str]:
    return [word for word, _ in Whitespace().pre_tokenize_str(text)]


@given(st.permutations([*SENTENCES, *[FILLER] * 12]), st.booleans())
def test_the_answers_pieces_are_the_answer(pieces: Tokenizer, sentences: list[str], moved: bool) -> None:
    found = page(sentences)
    encoder = encoder_of([found], pieces, BilingualTokenizer(), random.Random(1))
    for question, (text, answer) in zip(found.questions, ASKED, strict=True):
        example = encoder.example(found, question, 1.0, moved=moved)
        assert pieces.decode(list(example.ids[1 : example.question - 1])) == " ".join(_split(text))
        low, high = example.ends
        assert not moved or low >= example.question - 1
        if low >= 0:
            assert pieces.decode(list(example.ids[low : high + 1])) == " ".join(_split(answer))


def test_a_page_that_holds_the_answer_is_no_page_without_one(pieces: Tokenizer) -> None:
    first = page(list(SENTENCES), "covidqa")
    same = Page("covidqa", "covidqa/copy", "A copy", first.text, ())
    other = Page("covidqa", "covidqa/other", "Mill Bridge", "The Mill Bridge of Harrow is a bridge for walks.", ())
    found = examples([first, same, other], pieces, BilingualTokenizer(), 3)
    elsewhere = [example for example in found if not example.about]
    assert len(found) - len(elsewhere) == 4 * len(ASKED)
    assert len(elsewhere) == 12  # one of the questions shares no word with the other page
    assert {pieces.decode(list(e.ids[e.question :])) for e in elsewhere if e.label == 0} == {
        pieces.decode(pieces.encode(f"{other.heading}\n{other.text}").ids[1:])
    }


@given(st.lists(st.integers(1, 90), min_size=1, max_size=300), st.integers(1, 20))
def test_every_example_is_in_one_batch(lengths: list[int], size: int) -> None:
    found = [Example((number, *[0] * length), 1, 0, 0, 1.0) for number, length in enumerate(lengths)]
    drawn = list(batches(found, size, random.Random(1)))
    assert Counter(e.ids[0] for batch in drawn for e in batch) == Counter(range(len(found)))
    assert all(len(batch) <= size for batch in drawn)


def test_about_a_quarter_is_left_out_and_always_the_same() -> None:
    groups = [f"set/{number}" for number in range(2_000)]
    assert 400 < sum(map(is_left_out, groups)) < 600
    assert is_left_out("squad2/Normans") == (zlib.crc32(b"left/squad2/Normans") % 4 == 0)


def test_what_is_drawn_depends_on_the_seed_only(pieces: Tokenizer) -> None:
    found = page(list(SENTENCES))
    assert examples([found], pieces, BilingualTokenizer(), 5) == examples([found], pieces, BilingualTokenizer(), 5)
    assert isinstance(encoder_of([found], pieces, BilingualTokenizer(), random.Random(0)), Encoder)
