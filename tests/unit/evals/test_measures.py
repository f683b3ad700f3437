"""Each metric on turns whose value is plain to see."""

from dataclasses import dataclass, replace

import pytest

from selfright.domain.answers import Citation
from selfright.evals.aggregation import measure_row
from selfright.evals.measures import BETTER, STANDARD, Sample, Value
from selfright.evals.reading import Question
from selfright.evals.results import Visit
from selfright.evals.systems import EXPECTED, PROFILES
from tests.support.studies import FLAGS, judgement, one_pass, row, sample, turn

BY_NAME = {metric.name: metric for metric in STANDARD}
KNOWN = Question("q", "who?", ("Orla", "Orla Keane"), True, ("a", "c"))
NONE = Question("q", "who?", (), False)
OPEN = Question("q", "who?")


def value(metric: str, question: Question = KNOWN, **given: object) -> float | None:
    return BY_NAME[metric].measure(sample(question, turn(**given))).value


def test_words() -> None:
    assert value("containment") == 1.0
    assert value("exact_match") == 0.0
    assert value("exact_match", answer="Orla Keane. [1]") == 1.0
    assert value("f1", answer="the Orla") == 1.0
    assert value("f1") == pytest.approx(0.5)  # it is orla : 1 of 3, 1 of 1
    assert value("containment", OPEN) is None


def test_squad_counts_a_refusal_as_the_answer_to_what_has_none() -> None:
    assert value("exact_match", NONE, abstained=True, answer="I found nothing on that.") == 1.0
    assert value("f1", NONE, abstained=False) == 0.0
    assert value("f1", KNOWN, abstained=True) == 0.0


@pytest.mark.parametrize(
    ("question", "abstained", "answer", "right"),
    [
        (KNOWN, False, "It is Orla. [1]", 1.0),
        (KNOWN, False, "It is Maeve.", 0.0),
        (KNOWN, True, "It might be Orla", 0.0),
        (NONE, True, "not found", 1.0),
        (NONE, False, "It is Orla", 0.0),
        (OPEN, False, "It is Orla", None),
    ],
)
def test_right_and_wrong(question: Question, abstained: bool, answer: str, right: float | None) -> None:
    assert value("right", question, abstained=abstained, answer=answer) == right


def test_a_long_gold_answer_need_not_be_said_letter_by_letter() -> None:
    gold = "one two three four five six seven eight nine ten eleven twelve thirteen"
    long = Question("q", "?", (gold,), True)
    assert value("right", long, answer="one two three four five six seven eight") == 1.0
    assert value("right", long, answer="one two three four five six seven") == 0.0
    assert value("containment", long, answer="one two three four five six seven eight") == 0.0


def test_judgements() -> None:
    assert value("quality") == 0.8
    assert value("grounding") == 0.9
    assert value("quality", abstained=True) is None
    assert value("quality", judged=None) is None
    assert value("own_quality") is None
    assert value("own_quality", evaluation=judgement(0.42)) == 0.42
    assert (value("answered"), value("answered", abstained=True)) == (1.0, 0.0)


def test_the_second_pass() -> None:
    passes = (one_pass("a", overall=0.45), one_pass("a", "c", overall=0.68), one_pass("x", overall=0.71))
    assert value("second_pass_quality", passes=passes) == 0.68
    assert value("second_pass_quality") is None
    assert value("second_pass_recall", passes=passes) == 1.0
    assert value("second_pass_precision", passes=passes) == 1.0
    assert value("second_pass_precision") is None


def test_retrieval_is_measured_on_the_last_pass() -> None:
    assert value("retrieval_precision") == 0.5
    assert value("retrieval_recall") == 0.5
    assert value("retrieval_precision", passes=(one_pass("a", "c"), one_pass("x", "y"))) == 0.0
    assert value("retrieval_precision", passes=(one_pass(),)) == 0.0
    assert value("retrieval_recall", OPEN) is None
    assert value("retrieval_recall", passes=()) is None


def test_targeted_retrieval() -> None:
    first = one_pass("a", missing_info=("side effects", "dose", "price", "colour"))
    second = one_pass("b", brought=("dose", "price", "colour"), new=("dose",))
    assert value("targeted_retrieval_rate", passes=(first, second)) == 0.75
    assert value("targeted_retrieval_new", passes=(first, second)) == 0.25
    assert value("targeted_retrieval_rate", passes=(first,)) is None


def test_citations() -> None:
    cited = tuple(Citation(1, "p", name, "", "", 0, 1, "x") for name in ("a", "b", "b"))
    assert value("citation_precision", citations=cited) == 0.5
    assert value("citation_precision") is None


def test_cost() -> None:
    assert value("iterations", passes=(one_pass(), one_pass())) == 2.0
    assert value("iterations", passes=()) == 1.0
    assert value("llm_calls") == 2.0
    assert value("tokens") == 120.0
    assert value("infinite_loop_rate", passes=(one_pass(),) * 3) == 0.0
    assert value("infinite_loop_rate", passes=(one_pass(),) * 4) == 1.0


def test_what_was_cut_short() -> None:
    stopped = (
        Visit("quality_check", "again: rewrite"),
        Visit("quality_check", "stop: max_iterations", "max_iterations"),
    )
    assert value("cut_short", path=stopped, stop_reason="abstained") == 1.0
    assert value("cut_short", path=(Visit("quality_check", "stop: stagnated", "stagnated"),)) == 0.0
    assert value("cut_short", stop_reason="deadline") == 1.0


def test_a_turn_without_a_search_avoided_it() -> None:
    assert value("retrieval_avoided", path=(Visit("generate", "1 sentences"),)) == 1.0
    assert value("retrieval_avoided", path=(Visit("generate", ""), Visit("retrieve", "3 passages"))) == 0.0


def test_each_metric_has_a_name_of_its_own_and_a_reason() -> None:
    names = [metric.name for metric in STANDARD]
    assert len(set(names)) == len(names) == len(BETTER)
    found = [metric.measure(sample()) for metric in STANDARD if metric.name != "seconds"]
    assert all(isinstance(one, Value) and (one.value is None or one.value >= 0) for one in found)
    assert all(one.reason for one in found if one.value is None)


@dataclass(frozen=True)
class Short:
    name: str = "short"
    limit: int = 10

    def measure(self, made: Sample) -> Value:
        return Value(float(len(made.turn.answer) <= self.limit), f"{len(made.turn.answer)} characters")


def test_a_metric_of_ones_own() -> None:
    found = measure_row(row("q", {}), KNOWN, FLAGS, [Short(), Short("shorter", 100)])
    assert {name: one.value for name, one in found.metrics.items()} == {"short": 0.0, "shorter": 1.0}


def test_a_metric_that_gives_no_number_is_refused() -> None:
    @dataclass(frozen=True)
    class Broken:
        name: str = "broken"

        def measure(self, made: Sample) -> Value:
            return Value(float("nan"), "")

    with pytest.raises(ValueError, match="'broken' gave nan"):
        measure_row(row("q", {}), KNOWN, FLAGS, [Broken()])


def test_a_row_without_a_turn_has_no_values() -> None:
    failed = replace(row("q", {}), turn=None, error="TimeoutError: late")
    assert measure_row(failed, KNOWN, FLAGS, STANDARD).metrics == {}


def test_the_seeds_expectations_name_what_there_is() -> None:
    names = {metric.name for metric in STANDARD}
    assert {metric for _, values in EXPECTED.values() for metric in values} <= names
    assert set(EXPECTED) <= set(PROFILES)
    assert EXPECTED["baseline"][1]["quality"] == 0.52
