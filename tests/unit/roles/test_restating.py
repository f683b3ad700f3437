"""The answer before, in fewer words and with its sources."""

import pytest

from selfright.domain.answers import Citation, Message
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.restating import again, restate, was_answered
from tests.support.texts import CountedTerms, PlainTokenizer

CITATIONS = (
    Citation(1, "p1", "kettle.md", "Kettle", "", 0, 34, "Limescale is removed with an acid."),
    Citation(2, "p2", "bleach.md", "Bleach", "", 5, 30, "Never mix it with bleach."),
)
ANSWER = "Limescale is removed with an acid. [1] Citric acid does. Never mix it with bleach. [2]"
HISTORY = (Message("user", "And the kettle?"), Message("assistant", ANSWER, CITATIONS, "How do I descale the kettle?"))


@pytest.mark.parametrize(
    "text",
    [
        "그걸 한 문장으로 줄여줘", "더 짧게 말해줘", "쉽게 설명해줘", "한 줄로 요약해줘",
        "간단히 다시 말해 주세요", "짧게 정리해줘",
        "say that more simply", "Shorter please", "Can you sum that up in one sentence?", "in plain words please",
        "make it brief", "summarize your answer",
    ],
)  # fmt: skip
def test_the_same_in_fewer_words(text: str) -> None:
    found = restate(text, HISTORY)
    assert found is not None
    assert found.question == "How do I descale the kettle?"
    assert found.draft.text == "Limescale is removed with an acid. [1]"
    assert found.draft.citations == CITATIONS[:1]


@pytest.mark.parametrize(
    "text",
    [
        "한 문장으로 비밀번호 정책을 알려줘", "요약해줘 백업 문서", "summarize the release notes",
        "more simply: what is bleach?",
        "tell me more", "더 자세히 설명해줘", "영어로 번역해줘", "그럼 부작용은?", "why?", "",
    ],
)  # fmt: skip
def test_what_asks_for_anything_else_is_looked_up(text: str) -> None:
    assert again(text) != "less"
    assert restate(text, HISTORY) is None


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("in Korean, please", "ko"), ("한국어로 다시 설명해 주세요", "ko"), ("영어로 번역해줘", "en"),
        ("say it in English", "en"),
        ("tell me more", "more"), ("더 설명해줘", "more"), ("explain in more detail", "more"), ("이해가 안 돼", "more"),
        ("what do you mean?", "more"), ("더 자세히 알려줘", "more"), ("more simply", "less"),
        ("더 쉽게 설명해줘", "less"),
        ("tell me more about dogs", None), ("더 자세한 환불 규정은?", None), ("What is the English name?", None),
        ("말해 줘", None), ("where is it?", None), ("그거 어디야?", None),
        ("영어 교재는?", None), ("더 내야 하나요?", None), ("What more do I need?", None), ("설명서는?", None),
    ],
)  # fmt: skip
def test_how_the_same_is_wanted_once_more(text: str, how: str | None) -> None:
    assert again(text) == how


def test_sources_are_numbered_anew_and_as_many_sentences_as_are_asked_for() -> None:
    found = restate("두 문장으로 줄여줘", HISTORY)
    assert found is not None
    assert found.draft.text == "Limescale is removed with an acid. [1] Never mix it with bleach. [2]"
    other = (Message("assistant", "No idea. Never mix it with bleach. [2]", CITATIONS, "?"),)
    assert restate("shorter", other).draft.citations[0].document_id == "bleach.md"


def test_what_leads_in_stays_with_its_sentence() -> None:
    text = "Opening hours. From April to September the hut is open."
    cited = Citation(1, "p3", "hut.md", "Hut", "", 0, len(text), text)
    found = restate("shorter please", [Message("assistant", f"{text} [1]", (cited,), "When is it open?")])
    assert found is not None
    assert found.draft.text == f"{text} [1]"


@pytest.mark.parametrize("text", ["what did you say?", "방금 뭐라고 했지?", "다시 말해 줘", "where is that from?"])
def test_the_same_as_it_was(text: str) -> None:
    found = restate(text, HISTORY)
    assert found is not None
    assert found.draft.text == "Limescale is removed with an acid. [1] Never mix it with bleach. [2]"


def test_without_sources_there_is_nothing_to_say_again() -> None:
    assert restate("shorter please", (Message("assistant", ANSWER),)) is None
    assert restate("shorter please", ()) is None


class ReadLetters(PlainTokenizer):
    """Counts the letters that it is given."""

    letters = 0

    def tokens(self, text: str) -> list[str]:
        self.letters += len(text)
        return super().tokens(text)


def test_a_question_about_what_several_answers_said_together() -> None:
    said = ["The boiler is serviced every October.", "Its filter is rinsed with cold water."]
    history = [Message("assistant", each) for each in said]
    analyzer = TextAnalyzer(PlainTokenizer(), CountedTerms(said))
    assert was_answered("Is the boiler filter rinsed in October?", history, analyzer)
    assert not was_answered("Is the boiler filter rinsed in October?", history[:1], analyzer)


def test_a_long_conversation_is_not_read_anew_in_every_turn() -> None:
    tokenizer = ReadLetters()
    analyzer = TextAnalyzer(tokenizer, CountedTerms([]))
    answers = [f"Room {n} is painted in colour number {n}." for n in range(40)]
    history: list[Message] = []
    for answer in answers:
        history.append(Message("assistant", answer))
        was_answered("Which wall was painted by the carpenter?", history, analyzer)
    assert tokenizer.letters < 2 * sum(map(len, answers))
