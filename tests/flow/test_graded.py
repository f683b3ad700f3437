"""What the judge of an answer knows of evidence that was kept from an earlier pass."""

from selfright.domain.answers import Attempt, Draft
from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import Passage, Strip
from selfright.flow.nodes.judge import _merge_gradings


def _strip(name: str) -> Strip:
    return Strip(Passage(name, name, name, "text", 0, 4), 0, 4, "text", 1.0)


def _grading(name: str, probability: float) -> Grading:
    return Grading(Verdict.AMBIGUOUS, probability, (Grade(name, probability),))


def test_kept_evidence_keeps_its_grade() -> None:
    best = Attempt(Draft("", ()), None, 0.5, 1, grading=_grading("first", 0.9))
    state = {"grading": _grading("second", 0.2), "best": best, "strips": (_strip("first"), _strip("second"))}
    found = _merge_gradings(state)
    assert found is not None
    assert (found.probability("first"), found.probability("second")) == (0.9, 0.2)
    assert found.sufficiency == 0.9
    state["strips"] = (_strip("second"),)
    assert _merge_gradings(state) == _grading("second", 0.2)
