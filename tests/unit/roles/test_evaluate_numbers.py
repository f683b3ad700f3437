"""A number put in the place of another one that stands elsewhere in the evidence."""

import asyncio

import pytest

from selfright.domain.answers import Draft, EvaluationRequest, Sentence
from selfright.domain.judgements import ClaimStatus
from selfright.domain.text import language_of
from selfright.roles.evaluate.claims import ClaimFacts, claim_facts
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.visible_text import sources
from tests.support.texts import analyzer, hits, passage

CROWN = passage("The prince was named heir in 1263 and died before the king in 1285. His son took the throne in 1294.")
KETTLE = passage("주전자 K7은 물을 12분 동안 끓입니다. 석회는 24분 동안 제거합니다.", "ko.md", "주전자")
TOTALS = passage("The mill ground 1,200 sacks of barley in spring. In autumn it ground 950 sacks of wheat.", "m.md")


def status(evidence: str, claim: str) -> ClaimStatus:
    found = {"crown": CROWN, "kettle": KETTLE, "totals": TOTALS}[evidence]
    draft = Draft(claim, (Sentence(claim),))
    request = EvaluationRequest(claim, draft, language_of(claim), hits=hits(found))
    judged = asyncio.run(LocalEvaluator(analyzer(CROWN.text, KETTLE.text, TOTALS.text)).evaluate(request))
    return judged.claims[0].status


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("crown", "The prince was named heir in 1263 and died before the king in 1294."),
        ("kettle", "주전자 K7은 물을 24분 동안 끓입니다."),
        ("totals", "The mill ground 950 sacks of barley in spring."),
    ],
)
def test_a_number_of_another_sentence_is_noticed(evidence: str, claim: str) -> None:
    assert status(evidence, claim) is ClaimStatus.UNSUPPORTED


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("crown", "The prince died before the king, in 1285."),
        ("crown", "In 1263 the prince was named heir."),
        ("totals", "In spring the mill ground 1200 sacks of barley."),
        ("totals", "In autumn it ground 950 sacks of wheat."),
    ],
)
def test_the_right_number_in_other_words_is_not(evidence: str, claim: str) -> None:
    assert status(evidence, claim) is ClaimStatus.SUPPORTED


def facts(evidence: str, claim: str, title: str = "") -> ClaimFacts:
    return claim_facts(claim, sources((), hits(passage(evidence, "e.md", title))), analyzer(evidence, claim))


@pytest.mark.parametrize(("claim", "conflict"), [("for 30 minutes", True), ("at 30 kg", False)])
def test_only_a_number_of_the_same_unit_is_another(claim: str, conflict: bool) -> None:
    pump = "The old red pump beside the water mill of the northern village runs all day"
    assert facts(f"{pump} for 12 minutes.", f"{pump} {claim}.").number_conflict is conflict


def test_a_number_of_the_heading_is_none_of_another_sentence() -> None:
    said, claim = "In its third year, the 3rd, the mill ground 950 sacks.", "In 2019 the mill ground 950 sacks."
    assert not facts(said, claim, "Report of 2019").number_conflict
    assert facts(said, claim, "Report").number_conflict


@pytest.mark.parametrize(
    ("evidence", "claim", "denied"),
    [
        ("The gate is not open on Sunday.", "The gate is open on Sunday.", True),
        ("The gate is open on Sunday. The gate is not open on Sunday in May.", "On Sunday the gate is open.", False),
        ("The gate is open on Sunday.", "No bananas, figs or dates grow beside the gate.", False),
    ],
    ids=["denied", "said both ways", "something else"],
)
def test_what_denies_a_claim(evidence: str, claim: str, denied: bool) -> None:
    assert facts(evidence, claim).negation_conflict is denied
