"""Rows → what a system did on the whole: means with intervals, counts, quantiles, and how well it knew its limits."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from selfright.domain.traces import Examined
from selfright.evals.intervals import estimate, quantiles
from selfright.evals.measures import Metric, Sample
from selfright.evals.reading import Question
from selfright.evals.results import Abstention, CurvePoint, Quantiles, Retrieved, Row, RunResult
from selfright.evals.words import gold_in, has_gold, spoken_text

RIGHT = "right"


def retrieved_gold(examined: Examined, question: Question) -> Retrieved | None:
    """Which steps of a watched turn had a gold answer; None for a question without one."""
    if question.answerable is False or not has_gold(question):
        return None
    passes = examined.passes

    def has_texts(texts: Iterable[str]) -> bool:
        return any(gold_in(text, question) for text in dict.fromkeys(texts))

    return Retrieved(
        found=has_texts(passage.text for one in passes for passage in one.found),
        looked=has_texts(passage.text for one in passes for passage in (*one.passages, *one.graded)),
        strips=has_texts(strip for one in passes for strip in one.strips),
        draft=has_texts(spoken_text(one.draft) for one in passes),
        final=has_texts([spoken_text(examined.final)]),
    )


_SPREAD = ("seconds", "tokens", "llm_calls")
_MOST_POINTS = 200


def measure_row(row: Row, question: Question, flags: Mapping[str, Any], metrics: Sequence[Metric]) -> Row:
    """The row with the values of all metrics. Raises ``ValueError`` for a metric that gives no finite number."""
    if row.turn is None:
        return row
    sample = Sample(question, row.turn, flags)
    found = {metric.name: metric.measure(sample) for metric in metrics}
    for name, value in found.items():
        if value.value is not None and not math.isfinite(value.value):
            raise ValueError(f"a metric gives a finite number or None, but '{name}' gave {value.value!r}")
    return replace(row, metrics=found)


def aggregate(run: RunResult, names: Sequence[str], seed: int) -> RunResult:
    """The run with all that follows from its rows."""
    turns = [row.turn for row in run.rows if row.turn is not None]
    values = {name: [v for row in run.rows if (v := row.value(name)) is not None] for name in names}
    spread = {name: values[name] for name in _SPREAD if values.get(name)}
    return replace(
        run,
        summary={name: estimate(found, seed, f"{name} {run.system}") for name, found in values.items()},
        verdicts=_count(turn.verdict or "none" for turn in turns),
        stop_reasons=_count(turn.stop_reason for turn in turns),
        qualities=_count(turn.judged.answer_quality if turn.judged else "not judged" for turn in turns),
        quantiles={name: Quantiles(*quantiles(found)) for name, found in spread.items()},
        abstention=abstention(run.rows),
    )


def abstention(rows: Sequence[Row]) -> Abstention | None:
    """How well a system knew what it could not answer; None where nothing can be right or wrong."""
    told = [row for row in rows if row.turn and row.value(RIGHT) is not None]
    if not told:
        return None
    turns = [(row.turn, row.value(RIGHT) == 1.0) for row in told if row.turn and not row.turn.abstained]
    answered = [(turn.judged.overall if turn.judged else None, right) for turn, right in turns]
    risk = sum(not right for _, right in answered) / len(answered) if answered else None
    area, curve = _curve(answered, len(told))
    counts = Counter((row.turn.abstained, row.value(RIGHT) == 1.0) for row in told if row.turn)
    return Abstention(
        answered_right=counts[False, True],
        answered_wrong=counts[False, False],
        refused_rightly=counts[True, True],
        refused_wrongly=counts[True, False],
        coverage=len(answered) / len(told),
        risk=risk,
        aurc=area,
        aurc_ratio=area / risk if area is not None and risk else None,
        curve=curve,
    )


def _curve(answered: Sequence[tuple[float | None, bool]], of: int) -> tuple[float | None, tuple[CurvePoint, ...]]:
    from selfright.roles.calibration.measures import aurc, risk_coverage

    sure = [(surety, right) for surety, right in answered if surety is not None]
    if not sure or len(sure) < len(answered):  # without a judge there is no order
        return None, ()
    scores, wrong = [surety for surety, _ in sure], [float(not right) for _, right in sure]
    share, curve = len(answered) / of, risk_coverage(scores, wrong)
    points = [CurvePoint(round(point.coverage * share, 6), round(point.risk, 6)) for point in curve]
    step = math.ceil(len(points) / _MOST_POINTS)
    return aurc(scores, wrong), (*points[:-1:step], points[-1])


def _count(items: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(items).items(), key=lambda item: (-item[1], item[0])))
