"""Passages cut where strips and citations begin and end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.flow.state import texts_in
from selfright.schemas import NodeOutcome
from selfright.ui.answers import link_citations, weakness, whole
from selfright.ui.evidence import MOST_CHARACTERS, Piece, passages, pieces, section
from selfright.ui.state import Turn
from selfright.ui.words import WORDS, Language
from selfright.wire.answers import NodeFinished
from tests.support.answers import EVALUATION, cited, passage, reply

SPANS = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=6)


@given(st.text(min_size=1, max_size=30), st.integers(0, 10), SPANS, SPANS)
def test_pieces_put_together_are_the_passage(
    said: str, start: int, strips: list[tuple[int, int]], citations: list[tuple[int, int]]
) -> None:
    whole_passage = passage(said, *strips, start=start)
    cut = pieces(whole_passage, [cited(n, *span) for n, span in enumerate(citations, start=1) if span[0] <= span[1]])
    assert "".join(piece.text for piece in cut) == said
    at = start
    for piece in cut:
        inside = any(first <= at and at + len(piece.text) <= last for first, last in strips)
        assert piece.kept == (inside or bool(piece.cited))
        at += len(piece.text)


def test_kept_and_cited_parts_are_told_apart() -> None:
    cut = pieces(passage("aaabbbccc", (10, 16), start=10), [cited(2, 13, 16)])
    assert cut == [Piece("aaa", True, ()), Piece("bbb", True, (2,)), Piece("ccc", False, ())]


def test_cited_passages_come_first_and_a_homeless_citation_brings_its_own() -> None:
    first, second = passage("x" * 20, document="a"), passage("x" * 20, document="b")
    found = passages([first, second], [cited(1, 3, 6, "b"), cited(2, 100, 103, "b")])
    assert [(each.document_id, [citation.n for citation in inside]) for each, inside in found] == [
        ("b", [1]), ("b", [2]), ("a", []),
    ]  # fmt: skip


def test_every_citation_has_one_place_to_jump_to() -> None:
    citations = [cited(1, 0, 6), cited(2, 3, 9), cited(3, 50, 60)]
    markup = section("turn-4", [passage("x" * 20, (0, 9))], citations, WORDS["en"])
    for n in (1, 2, 3):
        assert markup.count(f'id="turn-4-source-{n}"') == 1


def test_a_passage_of_any_length_is_shown_in_part() -> None:
    markup = section("t", [passage("x" * (3 * MOST_CHARACTERS), (0, 5))], [], WORDS["en"])
    assert len(markup) < 2 * MOST_CHARACTERS
    assert "…" in markup


def test_markers_are_linked_by_number_and_by_source() -> None:
    citations = [cited(1, 0, 3, "folder/api.md"), cited(2, 0, 3, "b", url="https://example.org/x")]
    markup = link_citations(
        "A. [1] B. [Source: api.md] C. [Source: https://example.org/x] D. [3] [12]", citations, "t", WORDS["en"]
    )
    assert markup.count('href="#t-source-1"') == 2
    assert markup.count('href="#t-source-2"') == 1
    assert "D. [3] [12]" in markup


def test_rows_that_an_answer_says_are_a_table() -> None:
    said = "Prices:\n- Boat: Kayak; Per day: <b> [1]\n- Boat: Raft; Per day: 20 [1]\n\nBring a towel."
    markup = link_citations(said, [cited(1, 0, 3)], "t", WORDS["en"])
    assert '<th scope="col">Boat</th><th scope="col">Per day</th>' in markup
    assert markup.count("<tr>") == 3
    assert "<td>Kayak</td><td>&lt;b&gt;</td><td><a href=" in markup
    assert markup.endswith("</div>\nBring a towel.")


def test_removed_claims_are_listed_and_struck_out() -> None:
    markup = whole(Turn("?", answer=reply("x", removed_claims=["One.", "Two."])), "t", "en")
    assert WORDS["en"]["removed"] in markup
    assert "<del>One.</del>" in markup
    assert "<del>Two.</del>" in markup


def test_marks_of_an_answer_are_said_in_words() -> None:
    turn = Turn("?", answer=reply("x", degraded=True, evaluation={**EVALUATION, "source": "heuristic"}))
    for language, words in WORDS.items():
        markup = whole(turn, "t", language)
        assert words["degraded"] in markup
        assert words["unverified"] in markup
        assert words["abstained_more"] not in markup
    abstained = whole(Turn("?", answer=reply("x", abstained=True), evidence=[passage("abc")]), "t", "ko")
    assert WORDS["ko"]["abstained_more"] in abstained
    assert WORDS["ko"]["nearest"] in abstained


@pytest.mark.parametrize("language", ["en", "ko"])
def test_that_a_model_was_missing_is_said_once(language: Language) -> None:
    notes = [texts_in(language)["notes"]["degraded"], "another"]
    markup = whole(Turn("?", answer=reply("x", degraded=True, notes=notes)), "t", language)
    assert (markup.casefold().count(notes[0]), markup.count(notes[1])) == (1, 1)


def test_a_refusal_lists_the_nearest_passages_without_speaking_of_citations() -> None:
    refused = reply("x", abstained=True, verdict="incorrect", citations=[])
    for language, words in WORDS.items():
        markup = whole(Turn("?", answer=refused, evidence=[passage("abc", (0, 3))]), "t", language)
        assert words["nearest"] in markup
        assert words["kept"] in markup
        for said in (words["framed"], words["uncited"], words["cited_many"].format(count=0)):
            assert said not in markup
    answer = reply("x [1]", citations=[cited(1, 0, 3).model_dump()])
    answered = whole(Turn("?", answer=answer, evidence=[passage("xxx", (0, 3))]), "t", "en")
    assert WORDS["en"]["framed"] in answered


def test_an_answer_is_weak_by_its_label_whatever_its_score() -> None:
    for label, how in (("needs_docs", "part"), ("adequate", "")):
        answer = reply("x", verdict="ambiguous", evaluation={**EVALUATION, "answer_quality": label, "overall": 0.7})
        assert weakness(answer) == how


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_weak_answer_looks_weak_without_unfolding_anything(language: Language) -> None:
    words = WORDS[language]
    lacking = {**EVALUATION, "missing_info": ["the price"]}
    part = whole(Turn("?", answer=reply("x", verdict="ambiguous", evaluation=lacking)), "t", language)
    assert words["weak_part"] in part
    assert 'class="selfright weak"' in part
    none = whole(Turn("?", answer=reply("x", verdict="incorrect")), "t", language)
    assert words["weak_none"] in none
    by_the_web = reply("x", verdict="incorrect", citations=[cited(1, 0, 3, from_web=True)])
    assert words["weak_none"] not in whole(Turn("?", answer=by_the_web), "t", language)
    for strong in (reply("x", verdict="correct", evaluation=lacking), reply("x", verdict="incorrect", abstained=True)):
        markup = whole(Turn("?", answer=strong), "t", language)
        assert words["weak"] not in markup


def test_steps_name_no_nodes() -> None:
    found, stopped = NodeOutcome(passages=12), NodeOutcome(stop="adequate")
    steps = [NodeFinished("retrieve", 0.1, found), NodeFinished("quality_check", 0.1, stopped)]
    turn = Turn("?", answer=reply("x"), steps=steps)
    markup = whole(turn, "t", "en")
    assert "found 12 passages" in markup
    assert "quality_check" not in markup


def test_what_is_left_out_is_said_once() -> None:
    """By itself, and not among the notes, whose first one says it, too."""
    lacking = {**EVALUATION, "missing_info": ["the price", "the weight"]}
    notes = ["not covered: the weight", "the index is old: the weight"]
    fields = {"verdict": "correct", "evaluation": lacking, "notes": notes}
    markup = whole(Turn("?", answer=reply("x", uncovered=["the weight"], **fields)), "t", "en")
    assert "<li>the weight</li>" in markup
    assert "not covered" not in markup
    assert "the index is old: the weight" in markup
    assert markup.count("the price") == 1  # among what the judge said
    assert "not covered: the weight" in whole(Turn("?", answer=reply("x", **fields)), "t", "en")


def test_a_refusal_has_no_list_of_what_is_missing_beside_it() -> None:
    """Its text names it."""
    lacking = {**EVALUATION, "missing_info": ["the price"]}
    refusal = reply("No answer. Missing: the price.", abstained=True, evaluation=lacking)
    assert "notice uncovered" not in whole(Turn("?", answer=refusal), "t", "en")


TABLE = "Fees:\n\n| season | fee |\n|---|---:|\n| summer | 14 \\| 16 <b> |\n| winter | 9 |\n\nBy night."


def test_a_table_is_one_and_its_rows_are_marked() -> None:
    at = TABLE.index("| winter")
    markup = section("t", [passage(TABLE, (at, at + 14))], [cited(1, at, at + 14)], WORDS["en"])
    rows = re.findall(r"<tr>(.*?)</tr>", markup)
    assert [re.sub(r"<[^>]+>", "", row) for row in rows] == ["seasonfee", "summer14 | 16 &lt;b&gt;", "[1]winter9"]
    assert ["<mark" in row for row in rows] == [False, False, True]
    assert "---" not in markup
    assert markup.index("Fees:") < markup.index("<table") < markup.index("</table>") < markup.index("By night.")


@given(st.lists(st.sampled_from(["| a | b |", "|---|---|", "|", "text", "| x", ""]), max_size=9), SPANS)
def test_no_word_of_a_passage_is_lost_in_a_table(lines: list[str], strips: list[tuple[int, int]]) -> None:
    said = "\n".join(["begin", *lines, "end"])
    markup = section("t", [passage(said, *strips)], [], WORDS["en"]).partition('class="passage">')[2]
    shown = re.sub(r"<[^>]+>", "", markup)
    assert re.sub(r"[\s|-]", "", shown) == re.sub(r"[\s|-]", "", said)
