"""Evidence put together: languages, sources, passes."""

from dataclasses import replace

from selfright.domain.answers import Attempt, Citation, Draft
from selfright.domain.judgements import Verdict
from selfright.domain.passages import Hit, Strip
from selfright.flow.evidence import carry_strips, merge_strips, prefer_language
from selfright.flow.presets import PRESETS
from tests.support.turns import Judge, Library, Scripted, Web, evaluation, hit, passage, run_turn


def korean(document: str, rank: int) -> Hit:
    return replace(hit(document, document, rank), passage=passage(document, document, language="ko"))


def strip_of(document: str, score: float = 0.5) -> Strip:
    cut = passage(document, f"text of {document}")
    return Strip(cut, cut.start, cut.end, cut.text, score)


def test_of_near_places_the_question_s_language_wins_and_a_far_one_does_not() -> None:
    hits = (hit("en1", "a", 1), korean("ko1", 2), hit("en2", "b", 3), korean("ko2", 4), hit("en3", "c", 5))
    assert [h.passage.document_id for h in prefer_language(hits, "ko", 3)] == ["en1", "ko1", "ko2"]
    assert [h.passage.document_id for h in prefer_language(hits, "en", 3)] == ["en1", "en2", "ko1"]


def test_one_language_alone_keeps_its_order() -> None:
    hits = tuple(hit(f"d{n}", "x", n) for n in range(1, 9))
    assert prefer_language(hits, "en", 5) == prefer_language(hits, "ko", 5) == hits[:5]


def test_the_source_with_the_better_strip_comes_first() -> None:
    index, web = (strip_of("a", 0.4), strip_of("b", 0.3)), (strip_of("w", 0.9),)
    assert [s.passage.document_id for s in merge_strips(index, web)] == ["w", "a", "b"]


def test_what_the_best_draft_cites_is_carried_and_the_rest_is_not() -> None:
    kept, dropped = strip_of("kept"), strip_of("dropped")
    cut = kept.passage
    citation = Citation(1, cut.id, cut.document_id, cut.title, "", cut.start, cut.end, cut.text)
    best = Attempt(Draft("x [1]", (), (citation,)), None, 0.5, 0, strips=(kept, dropped))
    assert carry_strips(best, ()) == (kept,)
    assert carry_strips(best, (kept,)) == ()
    assert carry_strips(None, ()) == ()


def test_a_second_pass_adds_to_what_the_first_found() -> None:
    library = Library((hit("first", "one"),), (hit("second", "two"),))
    role = Scripted()
    turn = run_turn(PRESETS["self_refine"], Judge(evaluation(0.3), evaluation(0.9)), retriever=library, role=role)
    assert [s.passage.document_id for s in turn.state["strips"]] == ["first", "second"]


def test_web_and_index_are_both_carried_and_nothing_comes_twice() -> None:
    role = Scripted(verdict=Verdict.AMBIGUOUS)
    judge = Judge(evaluation(0.3), evaluation(0.9))
    turn = run_turn(PRESETS["full"], judge, role=role, web=Web(role))
    documents = [s.passage.document_id for s in turn.state["strips"]]
    assert sorted(documents) == ["d1", "d2", "https://web0"]
