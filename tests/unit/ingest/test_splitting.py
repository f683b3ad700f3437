"""Splitting: exact spans, full cover, bounded size, and cuts where a reader would cut."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from selfright.domain.passages import Document, Passage
from selfright.ingest.splitting import size_of, split

ENGLISH = "The valve opens when the pressure in the line falls under two bar. "
KOREAN = "관의 압력이 2 bar 아래로 내려가면 밸브가 저절로 열립니다. "


def document(text: str, title: str = "") -> Document:
    return Document("doc", title, text)


def words(passage: Passage) -> int:
    return len(passage.text.split())


lines = st.one_of(
    st.sampled_from(
        ["", " ", "```", "| a | b |", "|---|---|", "- item one", "  more of it", "1. first", "# Top", "## Low"]
    ),
    st.sampled_from(
        [ENGLISH * 3, KOREAN * 3, "x" * 700, "단어 " * 90, "\ufeff", "\u2028", "\x1c", "Dr. Kim said 3.5 mg."]
    ),
    st.text(max_size=60),
)


@given(st.lists(lines, max_size=40).map("\n".join), st.integers(5, 60), st.integers(0, 40))
@example("|---|---|\n|---|---|\n|---|---|", 5, 0)
def test_passages_are_exact_ordered_bounded_and_cover_the_text(text: str, size: int, overlap: int) -> None:
    passages = split(document(text), words=size, overlap=overlap)
    stays_whole = len(text.split()) <= 1.1 * size and len(text) <= 11 * size  # bars of tables are no words here
    covered = 0
    for n, passage in enumerate(passages):
        assert passage.id == f"doc#{n}"
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        assert not text[covered : passage.start].strip()
        assert passage.end > covered
        assert stays_whole or size_of(passage.text) <= max(2.6 * size, 2.0)
        covered = passage.end
    assert not text[covered:].strip()


def test_a_short_document_stays_whole() -> None:
    text = "\n# Valve\n\nShort.\n\n## Opening\n\n" + ENGLISH * 5 + "\n\n## Closing\n\n" + ENGLISH * 5
    (passage,) = split(document(text, title="Valve"))
    assert passage.text == text.strip()
    assert passage.section == ""


@pytest.mark.parametrize("row", ["word " * 220, "단어를 " * 220])
def test_a_row_of_220_words_stays_whole_in_both_languages(row: str) -> None:
    assert len(split(document(row))) == 1


@pytest.mark.parametrize("text", ["", " \n\n\t", "\u2003\n"])
def test_blank_text_has_no_passages(text: str) -> None:
    assert split(document(text)) == []


def test_long_prose_is_cut_at_sentence_ends_and_repeats_a_sentence() -> None:
    passages = split(document("".join(f"Sentence {n}: {ENGLISH}" for n in range(100))))
    assert all(150 <= words(passage) <= 220 for passage in passages)
    assert all(passage.text.endswith("bar.") and passage.text.startswith("Sentence") for passage in passages)
    for one, two in pairwise(passages):
        assert len(two.text[: one.end - two.start].split()) == 30


def test_korean_passages_have_fewer_words() -> None:
    passages = split(document(KOREAN * 200))
    assert all(110 <= words(passage) <= 150 for passage in passages)
    assert all(passage.text.endswith("다.") for passage in passages)


def test_a_section_begins_a_new_passage_and_names_its_path() -> None:
    headings = ("# Guide", "## Setup", "### Linux", "## Use")
    text = "".join(f"{heading}\n\n{ENGLISH * 7}\n\n" for heading in headings)
    passages = split(document(text, title="Guide"))
    assert [passage.section for passage in passages] == ["", "Setup", "Setup > Linux", "Use"]
    assert [passage.text.split("\n")[0] for passage in passages] == list(headings)
    assert split(document(text, title="Other"))[2].section == "Guide > Setup > Linux"


def test_a_line_in_bold_letters_over_text_begins_a_section() -> None:
    names = ("## Use", "**On call**", "**Closed.**", "**By car: left**", "__Keys__")
    text = "".join(f"{name}\n\n{ENGLISH * 7}\n\n" for name in names)
    sections = [passage.section for passage in split(document(text, title="Guide"))]
    assert list(dict.fromkeys(sections)) == ["Use", "Use > On call", "Use > Keys"]


def test_tiny_neighbouring_sections_share_a_passage() -> None:
    tiny = "".join(f"## Flag {n}\n\n{ENGLISH}\n\n" for n in range(40))
    passages = split(document(f"# Flags\n\n{tiny}"))
    assert all(100 <= words(passage) <= 220 for passage in passages[:-1])
    assert {passage.section for passage in passages[:-1]} == {"Flags"}
    assert all(passage.text.startswith("#") for passage in passages)


@pytest.mark.parametrize("repeats", [1, 40])
def test_a_passage_of_a_document_in_two_languages_is_in_one_of_them(repeats: int) -> None:
    english = f"# Valve\n\n## Opening\n\n{ENGLISH * 2 * repeats}\n\n## Help\n\nCall us."
    text = f"{english}\n\n# 밸브\n\n## 열림\n\n{KOREAN * 2 * repeats}"
    passages = split(document(text, title="Valve"))
    cut = next(n for n, passage in enumerate(passages) if "밸브" in passage.text)
    assert [passage.language for passage in passages] == ["en"] * cut + ["ko"] * (len(passages) - cut)
    assert passages[cut].text.startswith("# 밸브")
    assert passages[cut - 1].text.endswith("Call us.")


@pytest.mark.parametrize(
    "section",
    [
        "```\nvalve --open --pressure 2 --line a --wait 30 --retry 5 --verbose --log all\n```",
        "The `valve` 명령의 options: --open, --pressure, --line, --wait, --retry, --verbose, --log, --version, --help",
    ],
)
def test_code_and_terms_are_no_other_language(section: str) -> None:
    text = f"# 밸브\n\n{KOREAN * 2}\n\n## 명령\n\n{section}\n\n## 닫힘\n\n{KOREAN * 2}"
    (passage,) = split(replace(document(text), language="ko"))
    assert passage.language == "ko"


def test_a_document_in_one_language_keeps_the_one_it_names() -> None:
    passages = split(replace(document(f"# Valve\n\n{ENGLISH * 2}"), language="ko"))
    assert [passage.language for passage in passages] == ["ko"]


def test_a_heading_without_text_goes_with_what_follows() -> None:
    text = f"{ENGLISH * 15}\n\n# Part\n\n## Chapter\n\n{ENGLISH * 15}"
    one, two, *_ = split(document(text))
    assert one.text == (ENGLISH * 15).strip()
    assert two.text.startswith("# Part\n\n## Chapter\n\nThe valve")
    assert two.section == "Part > Chapter"


@pytest.mark.parametrize(
    "row", ["| left cell | right cell |\n", "- one item of a list\n", "call(left, right)  # three\n"]
)
def test_a_table_list_or_code_block_stays_whole_up_to_twice_the_size(row: str) -> None:
    block = row * 50 if "call" not in row else f"```\n{row * 50}```\n"
    passages = split(document(f"{ENGLISH * 12}\n\n{block}\n{ENGLISH * 12}"))
    assert block.strip() in [passage.text for passage in passages]


def test_a_long_table_is_cut_between_rows() -> None:
    row = "| left cell | right cell |"
    passages = split(document("\n".join([row] * 500)))
    assert len(passages) > 5
    assert all(set(passage.text.split("\n")) == {row} for passage in passages)
    assert sum(passage.text.count(row) for passage in passages) == 500  # only sentences are repeated
    assert {passage.head for passage in passages} == {""}  # no line of dashes says that its first row is one


def test_a_sentence_without_an_end_is_cut_at_white_space() -> None:
    passages = split(document("unending " * 2500))
    assert all(words(passage) <= 240 for passage in passages)
    assert all(set(passage.text.split()) == {"unending"} for passage in passages)


@pytest.mark.parametrize("text", ["x" * 20_000, f"word{' ' * 900}" * 40], ids=["no blanks", "mostly blanks"])
def test_text_without_words_in_sight_is_cut_all_the_same(text: str) -> None:
    passages = split(document(text))
    assert all(len(passage.text) <= 2_400 for passage in passages)


def test_sizes_are_in_english_words() -> None:
    texts = ("the valve opens", "밸브가 열립니다", "|valve|opens|", "x" * 50)
    assert [size_of(text) for text in texts] == [3, 3, 5, 5]


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH * 75_000,
        (KOREAN * 9 + "\n\n") * 3_000,
        "." * 1_000_000 + "x",
        "unending " * 200_000,
        "# a\n" * 250_000,
        "```\n" * 250_000,
        "| a | b |\n" * 100_000,
        " " * 2_000_000 + "x" + "\n" * 2_000_000 + "y",
        "| " * 500_000 + "x",
    ],
    ids=["one line", "korean", "dots", "no sentence end", "headings", "fences", "table", "blanks", "bars"],
)
def test_megabytes_are_split_in_seconds(text: str) -> None:
    started = time.process_time()
    assert split(document(text))
    assert time.process_time() - started < 10 + 10 * len(text.encode()) / 1e6  # what is quadratic takes minutes


def table(rows: int, header: str = "| model | list_eur | dealer_eur |") -> str:
    return "\n".join([header, "|---|---|---|", *(f"| MX-{n} | {n + 100} | {n + 70} |" for n in range(rows))])


def test_every_passage_of_a_table_has_its_head() -> None:
    text = f"# Prices\n\n{ENGLISH}\n\n{table(300)}\n\n{ENGLISH * 40}"
    passages = split(document(text))
    rows = [passage for passage in passages if "| MX-" in passage.text]
    assert len(rows) > 3
    assert {passage.head for passage in rows} == {"model | list_eur | dealer_eur"}
    assert [passage.head for passage in passages if passage not in rows] == [""] * (len(passages) - len(rows))
    assert [passage.context.count("dealer_eur") for passage in rows] == [0] + [1] * (len(rows) - 1)


def test_a_passage_with_rows_of_two_tables_begins_with_the_first_ones_head() -> None:
    text = f"{table(60)}\n\nOthers:\n\n{table(4, '| town | metres | people |')}"
    passages = split(document(text))
    assert "town" in passages[-1].text
    assert passages[-1].head == "model | list_eur | dealer_eur"


def test_a_header_is_never_cut_from_its_first_row() -> None:
    wide = "| " + " | ".join(f"column {n}" for n in range(15)) + " |"
    for text, size in (*((table(100), size) for size in range(20, 60)), *((table(n, wide), 80) for n in range(14, 20))):
        for passage in split(document(text), words=size, overlap=0):
            last = passage.text.rsplit("\n", 1)[-1]
            assert "MX-" in last


def test_no_row_is_lost_where_each_fills_a_passage() -> None:
    header = f"| {' | '.join(f'column number {n}' for n in range(4))} |\n|---|---|---|---|"
    rows = [f"| row{n} | {'word ' * 12}| {'word ' * 3}| x |" for n in range(6)]
    passages = split(document("\n".join([header, *rows])), words=20, overlap=0)
    assert [n for n in range(6) if f"row{n}" not in " ".join(passage.text for passage in passages)] == []


@given(st.lists(lines, max_size=20).map("\n".join))
def test_a_head_is_a_line_of_the_document(text: str) -> None:
    for passage in split(document(text), words=10, overlap=0):
        assert passage.head in text


def test_sections_under_codes_and_versions_stand_alone() -> None:
    notes = "# Notes\n\n## v2.3.1\n\nFixes it.\n\n## v2.3.10\n\nAdds it.\n\n## About\n\nShort.\n\n## Help\n\nAsk."
    assert [passage.section for passage in split(document(notes, "Notes"))] == ["v2.3.1", "v2.3.10", ""]
    errors = "# Codes\n\n## ORA-01555\n\n### Cause\n\nToo old.\n\n### Cure\n\nMore.\n\n## 0x80070057\n\nInvalid."
    assert [passage.section for passage in split(document(errors, "Codes"))] == ["ORA-01555", "0x80070057"]
