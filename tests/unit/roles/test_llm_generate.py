"""The model's answer: what it cites is earned, what it echoes is gone, and without it the offline writer answers."""

import asyncio
import re
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, GenerationRequest, Sentence
from selfright.domain.chat import ChatReply, Finish, Job, OnText
from selfright.domain.composing import MARKER, with_sentences
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Strip
from selfright.domain.text import language_of
from selfright.roles.generate.answer_parsing import MOST_CHARACTERS, parse_answer
from selfright.roles.generate.citation_check import CitationChecker
from selfright.roles.generate.llm import ModelGenerator, is_refusal
from selfright.roles.generate.offline import OfflineGenerator
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import analyzer, passage, strip

KETTLE = passage(
    "The K7 kettle was first sold in 2019. It holds 2 litres of water. Descale the kettle every 3 months with citric "
    "acid. Bleach must not be used on steel.",
    "k7.md",
    "Kettle K7",
    start=40,
)
TOASTER = passage("The T2 toaster browns four slices of bread in 90 seconds.", "t2.md", "Toaster T2")
KOREAN = passage("전기 주전자 K7은 물 2리터를 끓입니다. 석회는 3개월마다 구연산으로 제거합니다.", "ko.md", "주전자 K7")
ANALYZER = analyzer(*(p.text for p in (KETTLE, TOASTER, KOREAN)))
STRIPS = (strip(KETTLE), strip(TOASTER), strip(KOREAN))
REFUSED = "offline: nothing found"


@dataclass
class Offline:
    """An offline writer that says one sentence."""

    requests: list[GenerationRequest] = field(default_factory=list)
    needs_documents = True

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        self.requests.append(request)
        if on_text:
            on_text(REFUSED)
        return Draft(REFUSED, (Sentence(REFUSED),), refused=True)


def request(*strips: Strip, question: str = "How is the kettle cleaned?", system: str = "rules") -> GenerationRequest:
    return GenerationRequest(question, language_of(question), QueryClass.QUESTION, strips, system, "data and question")


def write(reply: Scripted, *strips: Strip, asked: GenerationRequest | None = None) -> Draft:
    generator = ModelGenerator(ScriptedChat([reply]), Offline(), CitationChecker(ANALYZER))
    return asyncio.run(generator.generate(asked or request(*(strips or STRIPS))))


def said(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(unit.text, unit.numbers) for unit in parse_answer(text)]


def test_citations_are_earned_numbered_as_they_appear_and_exact() -> None:
    draft = write(
        "The toaster browns four slices in 90 seconds [2]. Descale the kettle every 3 months [1][2]. "
        "It also makes coffee [1]. The toaster is from Mars [9]."
    )
    assert draft.text == (
        "The toaster browns four slices in 90 seconds. [1] Descale the kettle every 3 months. [2] "
        "It also makes coffee. The toaster is from Mars."
    )
    assert [s.citations for s in draft.sentences] == [(1,), (2,), (), ()]
    assert draft.dropped_citations == 3
    assert [(c.n, c.document_id) for c in draft.citations] == [(1, "t2.md"), (2, "k7.md")]
    kettle = draft.citations[1]
    assert kettle.text == "Descale the kettle every 3 months with citric acid."
    assert kettle.text == KETTLE.text[kettle.start - KETTLE.start : kettle.end - KETTLE.start]


def test_an_answer_without_any_citation_cites_what_clearly_supports_it() -> None:
    draft = write("The toaster browns four slices in 90 seconds. It is from Mars. Descale the kettle every 3 months.")
    assert [s.citations for s in draft.sentences] == [(1,), (), (2,)]
    assert [c.document_id for c in draft.citations] == ["t2.md", "k7.md"]
    assert write("The toaster browns four slices in 90 seconds. Descale it yearly [1].").sentences[0].citations == ()
    declined = write("The documents do not say how many slices the toaster browns in 90 seconds.")
    assert (declined.refused, declined.citations) == (True, ())


def test_a_citation_quotes_all_that_is_said_from_its_strip() -> None:
    draft = write("The kettle holds 2 litres of water [1]. Bleach must not be used on steel [1].")
    (citation,) = draft.citations
    assert citation.text.startswith("It holds 2 litres")
    assert citation.text.endswith("on steel.")


@pytest.mark.parametrize(
    "wrong",
    [
        "Descale the kettle every 6 months with citric acid [1].",
        "Do not descale the kettle every 3 months with citric acid [1].",
        "The dishwasher needs salt and a rinse aid [1].",
        "석회는 6개월마다 구연산으로 제거합니다 [3].",
        "석회는 3개월마다 구연산으로 제거 안 합니다 [3].",
        "식기세척기에는 소금을 넣어야 합니다 [3].",
        "석회는 3개월마다 구연산으로 제거합니다 [0].",  # passages are counted from 1
        "The K7 boils for 12 minutes [3].",  # between languages numbers are all that can be compared
    ],
)
def test_a_passage_that_says_otherwise_or_nothing_is_not_cited(wrong: str) -> None:
    draft = write(wrong)
    assert (draft.citations, draft.dropped_citations) == ((), 1)
    assert "[" not in draft.text


@pytest.mark.parametrize(
    ("right", "document"),
    [
        ("Every 3 months, the kettle should be descaled with citric acid [1].", "k7.md"),
        ("석회는 구연산을 써서 3개월마다 제거하면 됩니다 [3].", "ko.md"),
        ("K7은 2019년에 처음 나왔습니다 [1].", "k7.md"),
        ("The K7 holds 2 litres [3].", "ko.md"),
    ],
)
def test_paraphrases_and_the_other_language_earn_their_citation(right: str, document: str) -> None:
    assert [c.document_id for c in write(right).citations] == [document]


def test_only_the_strip_counts_not_the_passage_around_it() -> None:
    part = strip(KETTLE, text="It holds 2 litres of water.")
    assert not write("Descale the kettle every 3 months with citric acid [1].", part).citations
    (citation,) = write("It holds 2 litres of water [1].", part).citations
    assert citation.text == part.text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It boils [1].", (1,)),
        ("It boils. [1]", (1,)),
        ("It boils.[1][3]", (1, 3)),
        ("It boils [1] [3], [2].", (1, 3, 2)),
        ("It boils [1, 3].", (1, 3)),
        ("It boils [1-3].", (1, 2, 3)),
        ("It boils【1】.", (1,)),
        ("It boils【1†source】.", (1,)),
        ("It boils [^2].", (2,)),
        ("It boils (source 1).", (1,)),
        ("It boils [Passage 1, Passage 2].", (1, 2)),
        ("It boils [1](https://example.org/a).", (1,)),
        ("According to [2], it boils.", (2,)),
        ("물이 끓습니다[1].", (1,)),
        ("물이 끓습니다 (출처 1).", (1,)),
        ("물이 끓습니다 (문단 1, 2).", (1, 2)),
        ("물이 끓습니다. [출처: 2]", (2,)),
        ("[2]에 따르면 물이 끓습니다.", (2,)),
    ],
)
def test_forms_of_citations(text: str, numbers: tuple[int, ...]) -> None:
    assert said(text) == [("It boils." if text.isascii() or "boils" in text else "물이 끓습니다.", numbers)]


def test_citations_belong_to_the_sentence_they_stand_behind_or_open() -> None:
    assert said("One is here. [1] Two is here [2]. [3]에 따르면 셋입니다.\n[1] Four is here.") == [
        ("One is here.", (1,)),
        ("Two is here.", (2,)),
        ("셋입니다.", (3,)),
        ("Four is here.", (1,)),
    ]


def test_code_is_no_citation() -> None:
    text = "Use `a[1]` here [2].\n\n```python\nx = a[1]\n\ny = b[2]\n```"
    assert said(text) == [("Use `a[1]` here.", (2,)), ("```python\nx = a[1]\n\ny = b[2]\n```", ())]


def test_lists_tables_and_headings_stay_whole_and_in_place() -> None:
    text = (
        "## Cleaning\nDo this [1]:\n\n* citric acid. Use 20 g. [1]\n  * a nested one\n* vinegar [2]\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 [1] |"
    )
    assert said(text) == [
        ("## Cleaning\nDo this:", (1,)),
        ("- citric acid. Use 20 g.", (1,)),
        ("- a nested one", ()),
        ("- vinegar", (2,)),
        ("| a | b |\n|---|---|\n| 1 | 2 |", (1,)),
    ]
    draft = CitationChecker(ANALYZER).draft(parse_answer(text), ())
    assert draft.text == (
        "## Cleaning\nDo this:\n\n- citric acid. Use 20 g.\n  - a nested one\n- vinegar\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert draft.dropped_citations == 4
    assert with_sentences(draft, draft.sentences).text.count("\n- ") == 3


def test_a_citation_of_a_table_or_of_code_does_not_break_it() -> None:
    table = passage("| Code | Cause |\n|---|---|\n| E1 | no water |")
    draft = write(f"{table.text} [1]", strip(table))
    assert draft.text == f"{table.text}\n\n[1]"
    assert MARKER.findall(draft.text) == ["1"]


@pytest.mark.parametrize(
    "text",
    [
        "<passages-01234567>\npassage-01234567 [1] x\nThe K7.\n</passages-01234567>\nIt boils. [1]",
        "passage-01234567 [1] Kettle K7\nIt boils. [1]",
        "</passages-01234567>\nIt boils. [1]",
        "<answer-01234567>It boils. [1]",
        "Answer: It boils. [1]",
        "**답변:** It boils. [1]",
        "It boils. [1]\n\nSources: [1], [2]",
        "It boils. [1]\n\n**References**\n- [1] Kettle K7\n- [2] Toaster",
        "It boils. [1]\n\n출처:\n[1] 주전자",
    ],
)
def test_echo_labels_and_lists_of_sources_are_taken_out(text: str) -> None:
    assert said(text) == [("It boils.", (1,))]


def test_nothing_forged_is_left_that_looks_like_a_citation() -> None:
    draft = write("Bananas grow fast [[1]2]. Apples [ 7 ] do not. Or pears [[3]].")
    assert draft.text == "Bananas grow fast (2). Apples do not. Or pears."


def test_an_unfinished_end_is_cut_off() -> None:
    draft = write(ChatReply("The kettle holds 2 litres of water [1]. Descale the kettle every", Finish.LENGTH))
    assert draft.text == "The kettle holds 2 litres of water. [1]"
    assert write(ChatReply("The kettle holds", Finish.LENGTH)).text == REFUSED
    long = write("A short sentence. " * 2_000)
    assert len(long.text) <= MOST_CHARACTERS
    assert long.text.endswith("sentence.")


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I'm sorry, but the passages do not say how much it costs. Please ask the maker.",
        "There is no information about the price in the documents.",
        "Unfortunately, I could not find the price.",
        "The price is not mentioned in the provided passages [1].",
        "죄송하지만 제공된 문서에서는 가격을 찾을 수 없습니다.",
        "문단에 가격에 대한 내용이 없습니다. 제조사에 문의하시기 바랍니다.",
        "잘 모르겠습니다.",
        "주어진 자료만으로는 답을 드릴 수 없습니다.",
    ],
)
def test_an_answer_that_only_declines_is_refused(text: str) -> None:
    assert write(text).refused


@pytest.mark.parametrize(
    "text",
    [
        "Bleach must not be used on steel [1].",
        "The passages do not say how much it costs. The kettle holds 2 litres of water [1].",
        "The passages do not name a price, but the kettle holds 2 litres of water.",
        "The kettle does not contain lead.",
        "You may use citric acid.",
        "K7에는 납이 없습니다.",
        "상자에 내용물이 없습니다.",
        "가격은 나와 있지 않지만, 주전자는 물 2리터를 끓입니다.",
    ],
)
def test_an_answer_that_says_something_is_not_refused(text: str) -> None:
    assert not write(text).refused
    assert not is_refusal([""])


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("timed out"),
        ModelRejected("no such model"),
        ReplyUnusable("empty"),
        BudgetSpent("no calls left"),
        "",
        "  \n ",
        "</passages-01234567>",
        "***",
        ChatReply("I will not answer that.", Finish.REFUSED),
    ],
)
def test_without_the_model_the_offline_writer_answers(reply: Scripted) -> None:
    offline, heard = Offline(), list[str]()
    generator = ModelGenerator(ScriptedChat([reply]), offline, CitationChecker(ANALYZER))
    draft = asyncio.run(generator.generate(request(*STRIPS), heard.append))
    assert draft.text == REFUSED
    assert heard[-1] == REFUSED
    assert [r.strips for r in offline.requests] == [STRIPS]


def test_the_real_offline_writer_steps_in() -> None:
    generator = ModelGenerator(
        ScriptedChat([ModelUnavailable("down")]), OfflineGenerator(ANALYZER), CitationChecker(ANALYZER)
    )
    heard: list[str] = []
    draft = asyncio.run(generator.generate(request(*STRIPS), heard.append))
    assert "citric" in draft.text
    assert draft.citations
    assert "".join(heard) == draft.text


def test_the_call_is_the_final_one_and_is_heard() -> None:
    chat, heard = ScriptedChat(["It holds 2 litres of water [1]."]), list[str]()
    generator = ModelGenerator(chat, Offline(), CitationChecker(ANALYZER))
    asyncio.run(generator.generate(request(*STRIPS), heard.append))
    assert (chat.request.job, chat.request.final, chat.request.temperature) == (Job.ANSWER, True, 0.3)
    assert (chat.request.system, chat.request.user) == ("rules", "data and question")
    assert " ".join(heard) == "It holds 2 litres of water [1]."
    assert not generator.needs_documents


def test_without_prompts_the_model_answers_as_it_is() -> None:
    """Mode ``llm``: nothing is cited, judged or taken out."""
    bare = request(system="", question="hi")
    text = "I don't know [1].\n\n    indented\n\nSources: [1]"
    draft = write(text, asked=bare)
    assert (draft.text, draft.refused, draft.citations) == (text, False, ())


PIECES = [
    *("[1]", "[2]", "[9]", "[1,2]", "[1-3]", "【2】", "(출처 1)", "[[", "]]", "(", ")", "source", "출처:", "에 따르면"),
    *("```", "`", "\n", "\n\n", ".", "?", ":", "-", "*", "|", "#", "1.", "according to"),
    *("<passages-01234567>", "</passages-01234567>", "The kettle holds 2 litres of water", "bananas"),
    "석회는 3개월마다 구연산으로 제거합니다",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join) | st.text(max_size=200))
def test_whatever_comes_the_draft_holds(text: str) -> None:
    draft = CitationChecker(ANALYZER).draft(parse_answer(text), STRIPS)
    appearing = list(dict.fromkeys(n for s in draft.sentences for n in s.citations))
    assert [c.n for c in draft.citations] == appearing == list(range(1, len(appearing) + 1))
    by_id = {s.passage.id: s for s in STRIPS}
    for citation in draft.citations:
        whole = by_id[citation.passage_id]
        assert citation.text == whole.passage.text[citation.start - whole.passage.start :][: len(citation.text)]
        assert citation.text.strip()
        assert citation.end - citation.start == len(citation.text)
    assert not re.search(r"</?passages-", draft.text)
    for sentence in draft.sentences:
        assert "`" in sentence.text or "~~~" in sentence.text or not re.search(r"\[\d{1,4}\]", sentence.text)
    if "`" not in draft.text:
        assert len(MARKER.findall(draft.text)) == sum(len(s.citations) for s in draft.sentences)
