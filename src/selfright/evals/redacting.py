"""A study without the words of its data: ids, figures and decisions stay."""

from dataclasses import replace

from selfright.evals.results import Pass, Row, Study, Turn, Value


def redacted(study: Study) -> Study:
    """Questions, gold answers, answers, citations' texts, queries and reasons emptied; everything else as it was."""
    return replace(study, runs=tuple(replace(run, rows=tuple(map(_row, run.rows))) for run in study.runs))


def _row(row: Row) -> Row:
    metrics = {name: Value(value.value, "") for name, value in row.metrics.items()}
    return replace(row, question="", answers=(), metrics=metrics, turn=row.turn and _turn(row.turn))


def _turn(turn: Turn) -> Turn:
    return replace(
        turn,
        answer="",
        citations=tuple(replace(cited, text="") for cited in turn.citations),
        passes=tuple(map(_pass, turn.passes)),
        removed_claims=("",) * len(turn.removed_claims),
        notes=(),
    )


def _pass(one: Pass) -> Pass:
    missing, brought, new = (("",) * len(items) for items in (one.missing_info, one.brought, one.new))
    return replace(one, query="", missing_info=missing, brought=brought, new=new)
