"""What is repeated of the prompt is no answer; what merely resembles it is one."""

import asyncio

import pytest

from selfright.domain.answers import Draft, GenerationRequest
from selfright.domain.judgements import QueryClass
from selfright.domain.text import language_of
from selfright.evals.models.checking import NoWriter
from selfright.roles.generate.answer_parsing import parse_answer
from selfright.roles.generate.citation_check import CitationChecker
from selfright.roles.generate.llm import ModelGenerator, without_echo
from selfright.roles.prompts import SYSTEM
from tests.support.chat import ScriptedChat
from tests.support.texts import analyzer, passage, strip

QUESTION = "Who serves the coffee?"
RULES = SYSTEM["answer"]["en"]


def left(text: str, question: str = QUESTION, rules: str = RULES) -> list[str]:
    return [said.text for said in without_echo(question, parse_answer(text), rules)]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            QUESTION,
            [
                "Who serves the coffee?", "who serves the coffee", "Question: Who serves the coffee?",
                "The answer is:", "Answer", "The passage-f1751f20 n", "<|im_start|>assistant",
                "[INST] The coffee is served. [/INST]", "Coffee? Coffee? Coffee?",
            ],
        ),
        (
            "누가 커피를 내리나요?",
            ["누가 커피를 내리나요?", "질문: 누가 커피를 내리나요?", "답변:", "정답은 다음과 같습니다"],
        ),
    ],
)  # fmt: skip
def test_an_echo_is_nothing(question: str, texts: list[str]) -> None:
    assert [text for text in texts if left(text, question)] == []


def test_the_rules_are_not_said_whole_or_in_part() -> None:
    assert left(RULES) == []
    sentence = next(part for part in RULES.split(". ") if "first sentence" in part or len(part) > 60).splitlines()[0]
    assert left(f"{sentence}. Ada serves the coffee.") == ["Ada serves the coffee."]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (QUESTION, "Ada serves the coffee."),
        (QUESTION, "Nobody serves the coffee."),
        ("Is it tea or coffee?", "Coffee."),
        ("Is the pump on?", "The pump is on."),
        ("What is the password policy?", "The answer is in section 4: twelve letters."),
        ("커피는 누가 내리나요?", "커피는 아다가 내립니다."),
        ("What is FX-1007?", "FX-1007 means that the cache folder is not writable."),
        ("What does passage A-12 say?", "Passage A-12 says that dogs need a ticket."),
    ],
)
def test_an_answer_in_the_questions_words_is_one(question: str, text: str) -> None:
    assert left(text, question) == [text]


def test_of_a_list_that_counts_on_and_says_the_same_its_first_item_stays() -> None:
    loop = "\n".join(f"{n}. When not to use it" for n in range(1, 9))
    assert left(f"The list:\n{loop}") == ["The list:", "1. When not to use it"]
    assert len(left("1. Ada serves the coffee.\n2. Bo bakes the bread.\n3. Cy sells both.")) == 3


def test_a_step_that_is_done_again_stays() -> None:
    steps = ["1. Rinse the kettle.", "2. Boil water with citric acid.", "3. Rinse the kettle."]
    assert left("\n".join(steps)) == steps


@pytest.mark.parametrize(
    "steps",
    [
        ["Fold the dough.", "Rest it.", "Fold the dough.", "Turn it.", "Fold the dough."],
        ["Stretch the dough.", *["Fold the dough.", "Rest it."] * 3, "Bake it."],
        [
            "세제를 넣습니다.", "물로 헹굽니다.", "식초를 넣습니다.", "물로 헹굽니다.", "뚜껑을 닫습니다.",
            "물로 헹굽니다.",
        ],
    ],
)  # fmt: skip
def test_a_step_that_is_done_three_times_stays(steps: list[str]) -> None:
    listed = [f"{n}. {step}" for n, step in enumerate(steps, start=1)]
    assert left("\n".join(listed)) == listed


@pytest.mark.parametrize("cut", [0, 5])
def test_of_a_list_that_goes_round_each_step_stays_once(cut: int) -> None:
    steps = ["Stretch the dough.", *["Fold the dough.", "Rest it in a bowl."] * 4]
    listed = [f"{n}. {step}" for n, step in enumerate(steps, start=1)]
    said = "\n".join(listed)
    assert left(said[: len(said) - cut])[:3] == listed[:3]
    assert len(left(said[: len(said) - cut])) <= 3 + bool(cut)


def test_a_step_done_twice_stays_before_an_end_without_words() -> None:
    steps = ["1. Fold the dough.", "2. Fold the dough."]
    assert left("\n".join([*steps, "3. ..."])) == steps
    looped = "\n".join(f"{n}. Fold the dough." for n in range(1, 9))
    assert left(f"{looped}\n9. ...") == steps[:1]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The city lies on the river. " * 30, ["The city lies on the river."]),
        ("1. 1. 1. 1. 1. 1.", []),
        ("Who serves the coffee? Ada serves it.", ["Ada serves it."]),
    ],
    ids=["of a loop its first sentence", "of a loop of nothing nothing", "what follows an echo"],
)
def test_what_stays(text: str, kept: list[str]) -> None:
    assert left(text) == kept


SOURCE = passage("Ada serves the coffee at nine.", "bar.md", "Bar")


def write(reply: str, kind: QueryClass = QueryClass.QUESTION) -> Draft:
    generator = ModelGenerator(ScriptedChat([reply]), NoWriter(), CitationChecker(analyzer(SOURCE.text)))
    asked = GenerationRequest(QUESTION, language_of(QUESTION), kind, (strip(SOURCE),), RULES, "data")
    return asyncio.run(generator.generate(asked))


def test_the_writer_gives_nothing_for_an_echo_and_says_that_it_stands_in() -> None:
    draft = write("Who serves the coffee?")
    assert (draft.text, draft.stands_in) == ("", True)
    assert write("Ada serves the coffee at nine. [1]").stands_in is False


def test_in_small_talk_a_greeting_may_come_back() -> None:
    assert write(QUESTION, QueryClass.CHITCHAT).text
