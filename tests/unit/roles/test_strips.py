"""Decompose, filter, recompose: what is kept, where it stands, and what happens when nothing fits."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import Passage, Refinement
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from selfright.roles.strips import strip_spans
from tests.support.texts import analyzer, hits

DOCUMENT = """# Maintenance

The project began as a weekend experiment of two friends in a small flat near the harbour of their home town.

Compaction runs every night at two and rewrites the log of each partition from the first to the last segment.

The mascot of the project is a red fox that was drawn by a colleague who has since moved on to other things.

| option | default |
|---|---|
| compaction.hour | 2 |

Compaction needs three things:
- free disk space
- a quiet hour
- write access
"""


def whole(text: str, start: int = 0, name: str = "d#0", document: str = "d") -> Passage:
    return Passage(name, document, "Maintenance", text[start:], start, len(text))


def refine(question: str, *passages: Passage, grading: Grading | None = None) -> Refinement:
    refiner = OfflineRefiner(
        UnitScorer(analyzer(*(p.text for p in passages), "other words", "more words", "still more"))
    )
    return asyncio.run(refiner.refine(question, hits(*passages), grading))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in strip_spans(text)]


def test_lists_tables_and_headings_hold_together() -> None:
    strips = cut(DOCUMENT)
    assert strips[0].startswith("# Maintenance\n\nThe project")
    assert "| option | default |\n|---|---|\n| compaction.hour | 2 |" in strips
    assert "Compaction needs three things:\n- free disk space\n- a quiet hour\n- write access" in strips


def test_a_sentence_that_leans_on_the_one_before_stays_with_it() -> None:
    text = (
        "압축은 매일 밤 두 시에 실행되며 각 파티션의 로그를 처음부터 끝까지 다시 쓰는 작업이다. "
        "이는 디스크 공간을 돌려준다. "
        "백업은 별도의 명령으로 실행하며 실행 중에도 읽기와 쓰기가 멈추지 않고 계속된다는 점이 다르다."
    )
    assert [strip.count("다.") for strip in cut(text)] == [2, 1]


@given(st.text(alphabet="ab .\n#-|가다?`:", max_size=300))
def test_strips_lose_nothing_but_white_space(text: str) -> None:
    spans = strip_spans(text)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert "".join("".join(cut(text)).split()) == "".join(text.split())


def test_what_helps_stays_and_the_rest_goes() -> None:
    refinement = refine("When does compaction run and rewrite the log?", whole(DOCUMENT))
    kept = "\n".join(strip.text for strip in refinement.strips)
    assert "runs every night at two" in kept
    assert "red fox" not in kept
    assert not refinement.fell_back
    assert refinement.removed_share == pytest.approx(1 - sum(len(s.text) for s in refinement.strips) / len(DOCUMENT))


def test_strips_know_where_they_stand_in_the_document() -> None:
    late = whole(DOCUMENT, DOCUMENT.index("Compaction runs"))
    strips = refine("When does compaction run?", late).strips
    assert strips
    for strip in strips:
        assert DOCUMENT[strip.start : strip.end] == strip.text
        assert strip.passage is late


def test_overlapping_passages_give_each_stretch_once_and_in_order() -> None:
    late = whole(DOCUMENT, DOCUMENT.index("runs every night"), "d#1")
    strips = refine("When does compaction run and rewrite the log?", late, whole(DOCUMENT)).strips
    assert strips
    assert all(a.end <= b.start for a, b in pairwise(strips))
    assert all(DOCUMENT[s.start : s.end] == s.text for s in strips)


def test_the_document_of_the_most_probable_passage_comes_first() -> None:
    first, second = whole(DOCUMENT, name="d#0"), whole(DOCUMENT, name="e#0", document="e")
    grading = Grading(Verdict.CORRECT, 0.9, (Grade("d#0", 0.4), Grade("e#0", 0.8)))
    strips = refine("When does compaction run?", first, second, grading=grading).strips
    assert [s.passage.document_id for s in strips] == sorted((s.passage.document_id for s in strips), reverse=True)


def test_a_passage_graded_irrelevant_contributes_nothing_unless_all_are() -> None:
    first, second = whole(DOCUMENT, name="d#0"), whole(DOCUMENT, name="e#0", document="e")
    one = Grading(Verdict.AMBIGUOUS, 0.5, (Grade("d#0", 0.6), Grade("e#0", 0.0)))
    none = Grading(Verdict.INCORRECT, 0.0, (Grade("d#0", 0.0), Grade("e#0", 0.0)))
    question = "When does compaction run?"
    assert {s.passage.document_id for s in refine(question, first, second, grading=one).strips} == {"d"}
    assert {s.passage.document_id for s in refine(question, first, second, grading=none).strips} == {"d"}  # says it all


def test_when_nothing_fits_the_best_strip_stays() -> None:
    refinement = refine("How tall is the Eiffel tower?", whole(DOCUMENT))
    assert refinement.fell_back
    assert len(refinement.strips) == 1


def test_no_hits_no_strips() -> None:
    assert refine("Anything?") == Refinement((), 0.0)


@given(st.text(alphabet="ab c.\n가 다?", max_size=200), st.text(max_size=40))
def test_any_passage_can_be_refined(text: str, question: str) -> None:
    passage = whole(text)
    refinement = refine(question, passage, replace(passage, id="d#1"))
    assert 0.0 <= refinement.removed_share <= 1.0
    assert all(text[s.start : s.end] == s.text and 0.0 <= s.score <= 1.0 for s in refinement.strips)
