"""Plain facts of text: language, blocks, sentences, and that they stay linear on hostile text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.blocks import Block, blocks, leads_in, list_entries
from selfright.domain.text import has_hangul, language_of, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The valve opens.", "en"),
        ("밸브가 열립니다.", "ko"),
        ("HbA1c 검사 결과를 설명해 주세요.", "ko"),
        ("The word 밸브 means valve in Korean, and this goes on in English for a while.", "en"),
        ("`configure_everything_in_english(please)` 를 쓰세요", "ko"),
        ("\u1112\u1161\u11ab글 문서", "ko"),
        ("123", "en"),
        ("", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language
    assert has_hangul(text) == any("\u1100" <= character <= "\ud7a3" for character in text)


def test_blocks_know_their_kind() -> None:
    text = "# Top\nText one\nText two\n\n- item\n  more\n- item\n| a |\n| b |\n```py\n# no heading\n\nx = 1\n```\nEnd"
    kinds = [(block.kind, text[block.start : block.end].partition("\n")[0]) for block in blocks(text)]
    assert kinds == [
        ("heading", "# Top"), ("paragraph", "Text one"), ("list", "- item"), ("table", "| a |"), ("code", "```py"),
        ("paragraph", "End"),
    ]  # fmt: skip


def test_a_table_needs_no_bars_at_its_sides() -> None:
    text = "Our prices:\nitem | price\n--- | ---:\napple | 3\npear | 4\nAll | included.\n\nTrue | false.\n-----\nEnd"
    assert [(block.kind, text[block.start : block.end]) for block in blocks(text)] == [
        ("paragraph", "Our prices:"),
        ("table", "item | price\n--- | ---:\napple | 3\npear | 4\nAll | included."),
        ("paragraph", "True | false.\n-----\nEnd"),
    ]


def test_code_within_one_line_opens_no_fence() -> None:
    text = "```valve open``` does it.\n\n# Next\n\nMore."
    assert [block.kind for block in blocks(text)] == ["paragraph", "heading", "paragraph"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opens. It closes! Why?", ["It opens.", "It closes!", "Why?"]),
        (
            "Dr. Kim took 3.5 mg, e.g. at 2 p.m. daily. Then more.",
            ["Dr. Kim took 3.5 mg, e.g. at 2 p.m. daily.", "Then more."],
        ),
        ("밸브가 열립니다. 닫힙니다.", ["밸브가 열립니다.", "닫힙니다."]),
        ("开了。关了。", ["开了。", "关了。"]),
        ("“It opens.” She left...  Then", ["“It opens.”", "She left...", "Then"]),
        ("**5. Pets.** None are kept.", ["**5. Pets.** None are kept."]),
        ("1. Open it. Close it.\n2. Done", ["1. Open it.", "Close it.", "2. Done"]),
        ("  12. Twelve", ["12. Twelve"]),
        ("In 1999. Then", ["In 1999.", "Then"]),
        ("2008. 8. 25.부터 직접 신청합니다. 끝.", ["2008. 8. 25.부터 직접 신청합니다.", "끝."]),
        ("2024. 3. 1. ~ 2024. 6. 30. 동안 접수합니다.", ["2024. 3. 1. ~ 2024. 6. 30. 동안 접수합니다."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.sampled_from("ab가나. !?…。\n\t|#-`1)(\"'”\u2028"), max_size=200))
def test_spans_are_exact_ordered_and_cover_the_text(text: str) -> None:
    covered = 0
    for start, end in sentence_spans(text):
        assert start < end
        assert not text[covered:start].strip()
        assert text[start:end] == text[start:end].strip()
        covered = end
    assert not text[covered:].strip()


@given(st.text(st.sampled_from("ab가. \n|#-`"), max_size=80), st.text(st.sampled_from("ab가. \n"), max_size=40))
def test_a_part_is_read_as_if_it_stood_alone(before: str, part: str) -> None:
    text = f"{before}\n{part}"
    start = len(before) + 1
    inside = [(a - start, b - start) for a, b in sentence_spans(text, start, len(text))]
    assert inside == list(sentence_spans(part))


@pytest.mark.parametrize(
    "text",
    [
        "It opens. " * 100_000, "." * 1_000_000 + "x", ".'" * 500_000 + "x", "| " * 500_000, "1. " * 300_000,
        "`" * 1_000_000, "2008. 8. 25. " * 60_000,
    ],
    ids=["one line", "dots", "quotes", "bars", "numbers", "ticks", "dates"],
)  # fmt: skip
def test_a_megabyte_takes_no_time(text: str) -> None:
    started = time.process_time()
    assert sum(1 for _ in sentence_spans(text))
    assert time.process_time() - started < 3


def test_code_that_is_never_closed_does_not_end_in_blank_lines() -> None:
    text = "```\nx = 1\n\ny = 2\n\n \n"
    assert [(b.kind, text[b.start : b.end]) for b in blocks(text)] == [("code", "```\nx = 1\n\ny = 2")]


ASKED = {
    "marks": ("Q: Open?\nA: At 9.\n\n질문: 휴무\n\n답변: 월요일.", ["Q: Open?", "질문: 휴무"]),
    "bold": ("Intro.\n\n**How?**\nHold it.\n**Where?**\nBelow.", ["**How?**", "**Where?**"]),
    "a line alone": ("Who pays?\n\nThe buyer.\n\n어디인가요?\n\n2층입니다.", ["Who pays?", "어디인가요?"]),
    "questions without answers": ("How old are you?\n\nWhere do you live?", []),
    "prose that asks": ("It is late. Is it so? Yes it is.\nAnd more?\nYes.", []),
    "items": ("1. How old?\n2. Where?\n\nAnswer both.", []),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_above_its_answer_is_a_heading(name: str) -> None:
    text, headings = ASKED[name]
    found = list(blocks(text))
    assert [text[block.start : block.end] for block in found if block.kind == "heading"] == headings
    assert " ".join(text[block.start : block.end] for block in found).split() == text.split()


def listed(text: str) -> list[list[str]]:
    """Of each list the line that leads in to it, and its entries."""
    parts = list(blocks(text))
    return [
        [text[above.start : above.end] if leads_in(text, above, block) else ""]
        + [text[start:end] for start, end in list_entries(text, block)]
        for above, block in zip([Block("heading", 0, 0), *parts], parts, strict=False)
        if block.kind == "list"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Winter:\nMonday 10 to 19\nSunday closed", [["Winter:", "Monday 10 to 19", "Sunday closed"]]),
        ("  요금:\n  어른 6천 원\n  어린이 3천 원\n\n끝", [["요금:", "어른 6천 원", "어린이 3천 원"]]),
        ("Winter:\nMonday 10 to 19", []),  # one line below is no list
        ("Winter:\nshort\n" + "so long that it is the beginning of wrapped prose, and not an entry", []),
        ("Winter hours\nMonday 10 to 19\nSunday closed", [["Winter hours", "Monday 10 to 19", "Sunday closed"]]),
        ("Adults 6 euros\nChildren 3 euros\nDogs free", []),
        ("What we sell here\nRye bread\nPlum tart", []),
        ("What we sell\nRye bread\nPlum tart", [["What we sell", "Rye bread", "Plum tart"]]),
        ("We went to the sea\nand came home\nin the rain.", []),
        ("Version 3.2 (May)\n- Dark mode.\n- A crash.", [["Version 3.2 (May)", "- Dark mode.", "- A crash."]]),
        ("Version 3.2 (May)\n\n- Dark mode.", [["", "- Dark mode."]]),
        ("We were asked for this.\n- Dark mode.", [["", "- Dark mode."]]),
        ("It was changed,\nas follows\n- Dark mode.", [["It was changed,\nas follows", "- Dark mode."]]),
        ("Allergens\nRye: gluten\nJelly: none", [["Allergens", "Rye: gluten", "Jelly: none"]]),
        ("Rye: gluten\nJelly: none\nTart: egg", [["", "Rye: gluten", "Jelly: none", "Tart: egg"]]),
        ("We bake these:\nRye: gluten", []),
        ("One line\nand another\n- Dark mode.", [["", "- Dark mode."]]),
        (f"{'A long line that may well be the end of a paragraph ' * 2}here\n- Dark mode.", [["", "- Dark mode."]]),
        ("- one\n  more of it\n- two", [["", "- one\n  more of it", "- two"]]),
    ],
)
def test_lines_and_lists_below_a_line_that_introduces_them(text: str, expected: list[list[str]]) -> None:
    assert listed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Notes\n\n2. Holidays\nEverybody has 26 days.", ["2. Holidays"]),
        ("1) 휴가\n한 해에 26일입니다.", ["1) 휴가"]),
        ("제1조 (목적)\n이 규정은 이용을 정한다.\n제1조의2(뜻)\n뜻은 다음과 같다.", ["제1조 (목적)", "제1조의2(뜻)"]),
        ("제1조(목적) 이 규정은 이용을 정한다.\n제2조(뜻)에 따른다.", []),
        ("1. Wash the rice\n2. Boil it", []),
        ("1. Wash the rice\n\nThen eat.", []),
        ("Steps\n1. Wash the rice\nwith cold water", []),  # the second line is more of the first
        ("1. Wash the rice.\nUse cold water.", []),
    ],
)
def test_a_numbered_line_above_prose_and_the_name_of_an_article_are_headings(text: str, expected: list[str]) -> None:
    assert [text[block.start : block.end] for block in blocks(text) if block.kind == "heading"] == expected
