"""Follow-ups: when a question leaves something out, and where it is taken from."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.turns import MAX_QUESTION_CHARACTERS
from selfright.roles.analysis import TextAnalyzer, phrases
from selfright.roles.rewrite import question_context
from selfright.roles.rewrite.contextualize import contextualize_query
from selfright.roles.rewrite.leaning import depends_on_history
from selfright.roles.rewrite.query_text import LONGEST_QUERY
from selfright.roles.rewrite.question_context import contextualize_question
from tests.support.texts import CountedTerms, PlainTokenizer, analyzer

ANALYZER = analyzer(
    "Ada Lovelace wrote notes on the engine.", "A kettle with limescale is descaled with acid.", "여권을 신청한다."
)


def conversation(*turns: str) -> list[Message]:
    """User and assistant in turn; an empty reply stands for none."""
    roles = (("user", "assistant")[at % 2] for at in range(len(turns)))
    return [Message(role, text) for role, text in zip(roles, turns, strict=True)]


def standalone(question: str, *turns: str) -> str:
    return contextualize_query(question, conversation(*turns), ANALYZER)


@pytest.mark.parametrize(
    ("question", "turns", "expected"),
    [
        # A name that the user said stands in for the pronoun, also through other follow-ups.
        ("Was she a poet?", ("Who was Ada Lovelace?", "A mathematician."), "Was Ada Lovelace a poet?"),
        (
            "Where did she live?",
            ("Who was Ada Lovelace?", "", "What did she write?", "Notes."),
            "Where did Ada Lovelace live?",
        ),
        # Nobody was named in the questions: the replies say who it is about.
        (
            "Where did she grow up?",
            ("Who wrote the notes on the engine?", "Ada Lovelace did.", "When was she born?", "In 1815."),
            "Where did Ada Lovelace grow up?",
        ),
        # What the user just asked about goes before a name that a reply dropped.
        ("How is it descaled?", ("What is limescale?", "Chalk, says Ada Lovelace."), "How is limescale descaled?"),
        # "This" and "these" point back, and so does a question with hardly any topic.
        ("Where can I buy these?", ("What is limescale?", "Chalk."), "limescale: Where can I buy these?"),
        ("How can I apply?", ("What is the Passport Programme?", "A scheme."), "Passport Programme: How can I apply?"),
        ("언제 신청하나요?", ("여권이란?", "증명서입니다."), "여권 언제 신청하나요?"),
        ("수수료는?", ("여권이란?", "증명서입니다."), "여권 수수료는?"),
        ("그럼 부작용은?", ("메트포르민은 어떤 약인가요?",), "메트포르민 부작용은?"),
        ("그건 언제 먹나요?", ("메트포르민이란?",), "메트포르민 언제 먹나요?"),
        ("더 설명해줘", ("메트포르민의 부작용은 무엇인가요?",), "메트포르민의 부작용은 무엇인가요?"),
        ("How do I open its snapshots?", ("What is FxStore?",), "How do I open FxStore's snapshots?"),
        ("and on Linux?", ("What is FxStore?", "", "Does it run on Windows?"), "FxStore run Windows: on Linux?"),
        ("what about children?", ("What is the adults' dose?",), "adults dose: what about children?"),
        ("Why?", ("What is the kettle made of?",), "kettle made: Why?"),
    ],
)
def test_what_is_left_out_is_filled_in(question: str, turns: tuple[str, ...], expected: str) -> None:
    assert standalone(question, *turns) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Where is bone marrow found and what does it do?",
        "Where does water go after it enters a drain?",
        "Where does it snow in Norway?",
        "How warm was the summer this year in Norway?",
        "Who paid those responsible for the drain?",
        "What is limescale?",
        "여권이란 무엇인가요?",
        "여권 수수료는 얼마인가요?",
        "청국장을 먹어도 되나요?",
        "Is it safe to descale a kettle?",
        "How did Bell prove he was first?",
        "What is the capital of France?",
    ],
)
def test_what_stands_alone_is_left_as_it_is(question: str) -> None:
    assert not depends_on_history(question, ANALYZER)
    assert standalone(question, "Who was Ada Lovelace?", "A mathematician.") == question


@pytest.mark.parametrize("message", ["?", "...", "👍"])
def test_a_message_without_words_takes_up_nothing(message: str) -> None:
    assert standalone(message, "Who was Ada Lovelace?", "A mathematician.") == message


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("And how much acid do kettles use?", "What is limescale?", "how much acid do kettles use?"),
        ("And how much is acid in a kettle?", "Who was Ada Lovelace?", "Ada Lovelace: how much is acid in a kettle?"),
        ("And how much acid does it take?", "What is limescale?", "how much acid does limescale take?"),
        ("And the acid in the kettle?", "What is limescale?", "limescale: the acid in the kettle?"),
    ],
)  # fmt: skip
def test_a_complete_question_keeps_only_a_name_of_the_one_before(question: str, before: str, expected: str) -> None:
    assert standalone(question, before, "") == expected


def test_the_question_that_was_looked_up_before_is_what_the_user_meant() -> None:
    history = [
        Message("user", "And the acid?"),
        Message("assistant", "Vinegar does.", question="kettle: the acid?"),
        Message("user", "thanks"),
        Message("assistant", "You are welcome.", question="thanks"),
    ]
    assert contextualize_query("And the price?", history, ANALYZER) == "kettle acid: the price?"


def test_a_long_reply_is_read_only_at_its_beginning() -> None:
    turns = ("When was she born?", "x " * 300 + "says Ada Lovelace of the Engine.", "Where?", "There.")
    assert "Ada" not in standalone("Was she a poet?", *turns)


def test_only_the_last_messages_count() -> None:
    turns = ("Who was Ada Lovelace?", "A mathematician.", *("What is limescale?", "Chalk.") * 6)
    assert "Ada" not in standalone("Was she a poet?", *turns)


WORDS = st.lists(
    st.sampled_from(["she", "it", "Ada", "kettle", "this", "why", "so", "여권", "그건", "언제", "The", "’s", "?"]),
    max_size=12,
).map(" ".join)


@given(question=WORDS.filter(str.strip), turns=st.lists(WORDS, max_size=9))
def test_any_conversation_gives_a_bounded_question_that_keeps_its_own_topic(question: str, turns: list[str]) -> None:
    filled = standalone(question, *turns)
    assert filled == question or len(filled) <= LONGEST_QUERY
    if not depends_on_history(question, ANALYZER):
        assert filled == question
    if len(filled) < LONGEST_QUERY - 100:
        own = {term.token for term in ANALYZER.key_terms(question)}
        assert own <= {term.token for term in ANALYZER.key_terms(filled)}


class Watched(PlainTokenizer):
    """Knows how long the longest text was."""

    longest = 0

    def tokens(self, text: str) -> list[str]:
        self.longest = max(self.longest, len(text))
        return super().tokens(text)


def test_of_an_earlier_message_no_more_is_read_than_of_a_question() -> None:
    tokenizer = Watched()
    history = [Message("user", "Who winds the Fenny clock? " * 10_000), Message("assistant", "Rosa. " * 10_000)]
    contextualize_query("And when?", history, TextAnalyzer(tokenizer, CountedTerms(())))
    assert 0 < tokenizer.longest <= MAX_QUESTION_CHARACTERS


def test_what_is_asked_is_looked_for_in_few_and_short_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = question_context.asking_part
    monkeypatch.setattr(
        question_context, "asking_part", lambda said, *args, **more: (seen.append(said), real(said, *args, **more))[1]
    )
    history = [Message("user", "- " * 10_000), Message("user", " \n")] * 100
    contextualize_question("And when?", history, ANALYZER)
    assert 0 < len(seen) <= 12
    assert max(map(len, seen)) <= MAX_QUESTION_CHARACTERS


def test_blanks_between_words_are_looked_at_once() -> None:
    text = f"Fenny{' ' * 100_000}is wound"
    began = time.process_time()
    assert phrases(text, ANALYZER.key_terms(text)) == ["Fenny", "wound"]
    assert time.process_time() - began < 5  # minutes, where each is looked at again for each


@pytest.mark.parametrize("question", ["What does that cost?", "Is that included?", "For how long?", "Since when?"])
def test_short_questions_lean_on_what_was_said(question: str) -> None:
    assert depends_on_history(question, ANALYZER)


@pytest.mark.parametrize("question", ["Is it true that kettles need acid?", "Which kettle that boils is cheap?"])
def test_that_within_a_sentence_points_nowhere(question: str) -> None:
    assert not depends_on_history(question, ANALYZER)
