"""Turns and rows for tests, with what matters said and the rest made up."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfright.evals.measures import Sample
from selfright.evals.reading import Question
from selfright.evals.results import Judgement, Pass, Row, Study, Turn, Value, adapter

FLAGS = {"max_refine_iterations": 2}


def read_study(path: Path) -> Study:
    found: Study = adapter(Study).validate_json(path.read_bytes())
    return found


def judgement(overall: float = 0.8, grounding: float = 0.9) -> Judgement:
    return Judgement(overall, grounding, 0.7, 0.8, "adequate", 0.9, "local")


def one_pass(*documents: str, overall: float | None = None, **given: Any) -> Pass:
    return Pass("query", None, overall, None, documents, **given)


def turn(answer: str = "It is Orla. [1]", **given: Any) -> Turn:
    made = Turn(
        answer=answer, abstained=False, language="en", verdict="correct", stop_reason="adequate", degraded=False,
        evaluation=None, judged=judgement(), passes=(one_pass("a", "b"),), path=(), citations=(), removed_claims=(),
        notes=(), llm_calls=2, prompt_tokens=100, completion_tokens=20, web_requests=0, seconds=0.5,
    )  # fmt: skip
    return replace(made, **given)


def sample(question: Question | None = None, made: Turn | None = None) -> Sample:
    return Sample(question or Question("q", "who?", ("Orla",), True, ("a",)), made or turn(), FLAGS)


def row(name: str, values: Mapping[str, float | None], made: Turn | None = None) -> Row:
    return Row(name, "?", turn=made or turn(), metrics={key: Value(value, "") for key, value in values.items()})


def numbers(study: Study) -> Any:
    """All of a study but times."""
    runs = []
    for run in study.runs:
        rows = [
            replace(
                row,
                turn=row.turn and replace(row.turn, seconds=0.0),
                metrics={name: value for name, value in row.metrics.items() if name != "seconds"},
            )
            for row in run.rows
        ]
        summary = {name: value for name, value in run.summary.items() if name != "seconds"}
        runs.append((run.system, rows, summary, run.abstention, run.verdicts, run.stop_reasons))
    comparisons = [
        replace(one, differences={name: d for name, d in one.differences.items() if name != "seconds"})
        for one in study.comparisons
    ]
    return runs, comparisons
