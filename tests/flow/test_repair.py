"""Claims that nothing supports: one search for them, then they are cited or removed."""

from dataclasses import replace
from typing import Any

from selfright.domain.answers import Attempt, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.chat import OnText
from selfright.domain.composing import cite
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource
from selfright.flow.attempts import repair
from selfright.flow.presets import PRESETS
from tests.support.turns import Library, Scripted, hit, run_turn

KNOWN, LATE = "The kettle holds two litres.", "It was made in Ulsan."
FIRST = (hit("manual", f"{KNOWN} It is red."),)
SECOND = (hit("factory", f"{LATE} Forty people work there."),)


class Writer(Scripted):
    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        return Draft(f"{KNOWN} {LATE}", (Sentence(KNOWN), Sentence(LATE)))


class ByPassages:
    """A judge for whom a claim is supported when a passage that it is shown holds it."""

    def __init__(self) -> None:
        self.asked = 0

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        self.asked += 1
        claims = []
        for sentence in request.draft.sentences:
            names = tuple(s.passage.id for s in request.strips if sentence.text in s.passage.text)
            status = ClaimStatus.SUPPORTED if names else ClaimStatus.UNSUPPORTED
            claims.append(Claim(sentence.text, status, names, 1.0))
        share = sum(claim.status is ClaimStatus.SUPPORTED for claim in claims) / len(claims)
        return Evaluation(share, 1.0, 1.0, AnswerQuality.ADEQUATE, 0.9, EvaluationSource.LOCAL, claims=tuple(claims))


def turn(*results: Any, **flags: Any) -> tuple[dict[str, Any], Library, ByPassages]:
    library, judge = Library(*results), ByPassages()
    state = run_turn(PRESETS["full"], judge, role=Writer(), retriever=library, **flags).state
    return dict(state), library, judge


def test_a_claim_that_a_search_for_it_supports_is_cited() -> None:
    state, library, judge = turn(FIRST, SECOND)
    assert library.queries[-1] == LATE
    assert judge.asked == 2
    assert state["repaired_claims"] == (LATE,)
    assert state["removed_claims"] == ()
    assert state["answer"] == f"{KNOWN} [1] {LATE} [2]"
    assert [citation.document_id for citation in state["draft"].citations] == ["manual", "factory"]
    assert state["evaluation"].grounding == 1.0


def test_supported_sentences_without_citations_get_them_and_the_layout_stays() -> None:
    class Listing(Scripted):
        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            return Draft(f"* {KNOWN}\n* It is red.", (Sentence(KNOWN), Sentence("It is red.")))

    state = run_turn(PRESETS["full"], ByPassages(), role=Listing(), retriever=Library(FIRST)).state
    assert state["answer"] == f"* {KNOWN} [1]\n* It is red. [1]"
    assert [citation.document_id for citation in state["draft"].citations] == ["manual"]


def test_an_answer_of_which_nothing_stands_in_the_documents_says_so() -> None:
    class Silent(ByPassages):
        async def evaluate(self, request: EvaluationRequest) -> Evaluation:
            judged = await super().evaluate(request)
            claims = tuple(replace(claim, status=ClaimStatus.UNKNOWN, passage_ids=()) for claim in judged.claims)
            return replace(judged, claims=claims, grounding=1.0)

    state = run_turn(PRESETS["full"], Silent(), role=Writer(), retriever=Library(FIRST)).state
    assert state["answer"] == f"{KNOWN} {LATE}"
    assert any(note.startswith("no citations") for note in state["notes"])


def test_a_claim_that_no_search_supports_is_removed_and_listed() -> None:
    for found, asked in ((hit("other", "Something else."),), 2), (FIRST, 1):  # what is known already is not read again
        state, _, judge = turn(FIRST, found)
        assert state["repaired_claims"] == ()
        assert state["removed_claims"] == (LATE,)
        assert LATE not in state["answer"]
        assert judge.asked == asked


def test_what_is_merely_unsure_stays_and_a_citation_is_not_doubled() -> None:
    class Unsure(ByPassages):
        async def evaluate(self, request: EvaluationRequest) -> Evaluation:
            judged = await super().evaluate(request)
            first, second = judged.claims
            return replace(judged, claims=(first, replace(second, status=ClaimStatus.UNKNOWN)))

    class Citing(Scripted):
        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            cited = cite(1, FIRST[0].passage, 0, len(KNOWN))
            return Draft(f"{KNOWN} [1] {LATE}", (Sentence(KNOWN, (1,)), Sentence(LATE)), (cited,))

    state = run_turn(PRESETS["full"], Unsure(), role=Citing(), retriever=Library(FIRST)).state
    assert state["answer"] == f"{KNOWN} [1] {LATE}"
    assert state["removed_claims"] == ()


def test_a_search_that_costs_another_claim_its_support_changes_nothing() -> None:
    def judged(known: ClaimStatus, late: ClaimStatus) -> Evaluation:
        claims = (Claim(KNOWN, known, (SECOND[0].passage.id,), 1.0), Claim(LATE, late, (SECOND[0].passage.id,), 1.0))
        return Evaluation(0.5, 1.0, 1.0, AnswerQuality.ADEQUATE, 0.9, EvaluationSource.LOCAL, claims=claims)

    yes, no = ClaimStatus.SUPPORTED, ClaimStatus.UNSUPPORTED
    best = Attempt(Draft(f"{KNOWN} {LATE}", (Sentence(KNOWN), Sentence(LATE))), judged(yes, no), 0.5, 0, None, ())
    assert repair(best, judged(no, yes), SECOND) == (best, ())
    assert repair(best, judged(yes, yes), SECOND)[1] == (LATE,)
    # Only another judge may lower the score, and one that looked at nothing supports nothing.
    better = judged(yes, yes)
    assert repair(replace(best, score=0.95), better, SECOND)[0].score == 0.95
    by_model = replace(better, source=EvaluationSource.LLM)
    assert repair(replace(best, score=0.95), by_model, SECOND)[0].score == by_model.overall
    assert repair(best, replace(better, source=EvaluationSource.HEURISTIC), SECOND) == (best, ())


def test_without_budget_or_by_flag_nothing_is_searched_for() -> None:
    for flags in ({"claim_repair_enabled": False}, {"max_llm_calls": 1}):
        state, library, judge = turn(FIRST, SECOND, **flags)
        assert LATE not in library.queries
        assert judge.asked == 1
        assert state["removed_claims"] == (LATE,)


def test_an_answer_that_holds_up_costs_no_search() -> None:
    state, library, judge = turn((*FIRST, *SECOND))
    assert len(library.queries) == 1
    assert judge.asked == 1
    assert state["removed_claims"] == ()
