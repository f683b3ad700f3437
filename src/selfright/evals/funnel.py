"""Where answers get lost on their way through a turn: which step still had a gold answer, and which did not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields

from selfright.domain.examining import Examined
from selfright.evals.measures.words import gold_in, has_gold
from selfright.evals.overlap import said
from selfright.evals.questions import Question
from selfright.evals.results import Funnel, Held, Row

RIGHT = "right"
STEPS: Sequence[str] = (*(field.name for field in fields(Held)), RIGHT)
"""The steps of a turn, in their order."""


def held(examined: Examined, question: Question) -> Held | None:
    """Which steps of a watched turn had a gold answer; None for a question without one."""
    if question.answerable is False or not has_gold(question):
        return None
    passes = examined.passes

    def told(texts: Iterable[str]) -> bool:
        return any(gold_in(text, question) for text in dict.fromkeys(texts))

    return Held(
        found=told(passage.text for one in passes for passage in one.found),
        looked=told(passage.text for one in passes for passage in (*one.passages, *one.graded)),
        strips=told(strip for one in passes for strip in one.strips),
        draft=told(said(one.draft) for one in passes),
        final=told([said(examined.final)]),
    )


def reached(row: Row) -> int | None:
    """How many of ``STEPS`` a question got through; None where that is not known.

    A step counts when it or a later one had a gold answer: what stands in the draft has been found, in whatever words.
    """
    if row.turn is None or row.turn.held is None:
        return None
    steps = (*astuple(row.turn.held), _value(row) == 1.0)
    return max((number for number, had in enumerate(steps, start=1) if had), default=0)


def funnels(rows: Sequence[Row]) -> tuple[Funnel, ...]:
    """One for each language in which something was asked that can be right or wrong, ordered by name."""
    known = [row for row in rows if row.turn and _value(row) is not None]
    languages = sorted({row.turn.language for row in known if row.turn})
    return tuple(_funnel(name, [row for row in known if row.turn and row.turn.language == name]) for name in languages)


def _funnel(language: str, rows: Sequence[Row]) -> Funnel:
    got = [(row.question_id, steps) for row in rows if (steps := reached(row)) is not None]
    counts = _outcomes(rows)
    return Funnel(
        language=language,
        asked=len(got),
        kept={step: sum(steps >= number for _, steps in got) for number, step in enumerate(STEPS, start=1)},
        lost={
            step: tuple(name for name, steps in got if steps == number - 1)
            for number, step in enumerate(STEPS, start=1)
        },
        answered_right=counts[False, True],
        answered_wrong=counts[False, False],
        refused_rightly=counts[True, True],
        refused_wrongly=counts[True, False],
    )


def _outcomes(rows: Sequence[Row]) -> Mapping[tuple[bool, bool], int]:
    """How many rows there are by whether they refused and whether that was right."""
    said = [(row.turn.abstained, _value(row) == 1.0) for row in rows if row.turn]
    return {(refused, right): said.count((refused, right)) for refused in (True, False) for right in (True, False)}


def _value(row: Row) -> float | None:
    found = row.metrics.get(RIGHT)
    return found.value if found else None
