"""Evidence put together: languages, sources, passes."""

from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.answers import Attempt, Citation, Draft
from selfright.domain.judgements import Grading, Verdict, WithheldReason
from selfright.domain.passages import FilteredHits, Hit, Ranked, Strip, WebFinding, web_id
from selfright.flow.evidence import carry_strips, cited_strips, merge_strips, prefer_language, refine_hits, with_strips
from selfright.flow.nodes.search import grade_hits
from selfright.flow.presets import PRESETS
from selfright.flow.state import AgentState
from tests.support.loops import run
from tests.support.turns import (
    Everything,
    Judge,
    Library,
    Scripted,
    Web,
    answer_of,
    evaluation,
    hit,
    passage,
    run_turn,
    tools_of,
)


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
    assert [{h.passage.origin for h in asked.hits} for asked in judge.requests] == [{"index", "web"}] * 2


def test_what_a_pass_found_on_the_web_is_forgotten_in_the_next_and_judged_by_the_first_question() -> None:
    class Changing(Scripted):
        async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
            self.calls.append(question)
            self.verdict = Verdict.CORRECT if any(h.passage.document_id == "d2" for h in hits) else Verdict.AMBIGUOUS
            return await super().grade(question, hits)

    role = Changing()
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.3), evaluation(0.9)), role=role, web=Web(role))
    assert [one.documents for one in turn.state["iterations"]] == [("d1", "https://web0"), ("d2",)]
    assert [one.query for one in turn.state["iterations"]] == ["What is alpha?", "What is alpha? 1"]
    assert {call for call in role.calls if "?" in call} == {"What is alpha?"}


def test_a_strip_that_another_contains_is_not_added() -> None:
    whole = strip_of("a")
    inside = replace(whole, start=2, end=6, text=whole.text[2:6])
    assert with_strips((whole,), (whole, inside, strip_of("b"))) == (whole, strip_of("b"))
    assert with_strips((inside,), (whole,)) == (inside, whole)


def test_a_cited_page_of_the_web_stays_one() -> None:
    cited = (Citation(n, name, name, "T", "", 0, 4, "text") for n, name in enumerate((web_id("page"), "own#0"), 1))
    assert [strip.passage.origin for strip in cited_strips(tuple(cited))] == ["web", "index"]


class Strict(Everything):
    """Leaves out a passage, and all strips as being about something else."""

    async def hits(self, question: str, hits: Sequence[Hit]) -> FilteredHits:
        return FilteredHits.of(tuple(hits), {"b#0": WithheldReason.NAMED_THING})

    def on_subject(self, question: str, strips: Sequence[Strip]) -> tuple[Strip, ...]:
        return ()


def test_strips_on_something_else_alone_are_none_that_help() -> None:
    tools = replace(tools_of(PRESETS["crag"], Judge()), evidence_filter=Strict())
    refinement, _ = run(refine_hits(tools, "q", (hit("a", "x"),), None, "en"))
    assert (refinement.strips, refinement.fell_back) == ((), True)


def test_what_is_withheld_is_graded_with_the_reason() -> None:
    tools = replace(tools_of(PRESETS["crag"], Judge()), evidence_filter=Strict())
    state: AgentState = {"question": "q", "language": "en"}  # all that is read
    found = run(tools.evidence_filter.hits("q", (hit("a", "x"), hit("b", "y"))))
    grading, _ = run(grade_hits(state, tools, found))
    assert [(one.passage_id, one.probability, one.withheld) for one in grading.grades] == [
        ("a#0", 0.9, None),
        ("b#0", 0.0, WithheldReason.NAMED_THING),
    ]


def test_what_the_web_did_for_an_answer() -> None:
    """Rescued where the index has no answer and only the web is cited; in a refusal it did nothing."""
    for chances, abstain, effect in (
        ({}, False, "rescued"),
        ({"probability": 0.2, "web_probability": 0.1}, False, "added"),
        ({}, True, "unused"),
    ):
        role = Scripted(verdict=Verdict.INCORRECT, abstain=abstain, **chances)
        tools = tools_of(PRESETS["full"], Judge(evaluation(0.9)), role=role, web=NamedWeb(role))
        answer = answer_of(PRESETS["full"], tools)
        assert answer.web is not None
        assert answer.web.effect == effect
        assert answer.cost.web_requests == 1


class NamedWeb(Web):
    """A web whose passages have ids of the web."""

    async def search(self, query: str, k: int) -> WebFinding:
        found = await super().search(query, k)
        return replace(found, passages=tuple(replace(one, id=web_id(one.id)) for one in found.passages))


class Naming(Scripted):
    """Refuses, and notes the sources that it is to name."""

    named: tuple[str, ...] = ()

    def refusal(self, question: str, language: str, best: Attempt, hits: Sequence[Hit]) -> Draft:
        self.named = tuple(dict.fromkeys(one.passage.document_id for one in hits))
        return super().refusal(question, language, best, hits)


def test_a_refusal_names_no_source_that_only_meaning_found_where_the_index_cannot_answer() -> None:
    place = Ranked(1, 1.0)
    found = replace(hit("worded", "x"), bm25=place, dense=place), replace(hit("meant", "y"), dense=place)
    for verdict, named in ((Verdict.INCORRECT, ("worded",)), (Verdict.CORRECT, ("worded", "meant"))):
        role = Naming(verdict=verdict, abstain=True)
        run_turn(PRESETS["full"], Judge(evaluation(0.9)), role=role, retriever=Library(found))
        assert role.named == named
