"""Studies for reports: three systems and sixty made-up questions, the same ones at every call."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from selfright.evals.aggregation import aggregate, compare, estimate, ladder, measure_row
from selfright.evals.measures import STANDARD
from selfright.evals.reading import Question
from selfright.evals.results import DataSet, IndexFacts, Judgement, Pass, Row, RunResult, Study, Turn, Value, Visit
from tests.support import studies

SYSTEMS = ("basic", "crag", "full")
FLAGS = {"max_refine_iterations": 2, "self_refine_enabled": True, "top_k": 8}
_DATA = DataSet("harbour.jsonl", "selfright", "ab" * 32, 60, 60)
_INDEX = IndexFacts(40, 120, "multilingual-e5-small-q4", "bilingual-2", "cd" * 32)


@cache
def answers(
    questions: int = 60, systems: tuple[str, ...] = SYSTEMS, gain: float = 0.25, seed: int = 7, metrics: int = 99
) -> Study:
    """A study of answers; every further system is right by ``gain`` more often, and refuses now and then.

    Of the standard metrics the first ``metrics`` are measured: intervals over many questions take their time.
    """
    chance = random.Random(seed)
    asked = [_question(number) for number in range(questions)]
    hard = [chance.random() for _ in asked]
    names = [metric.name for metric in STANDARD[:metrics]]
    runs = []
    for place, name in enumerate(systems):
        rows = tuple(
            measure_row(_row(question, how_hard, place, gain, chance), question, FLAGS, STANDARD[:metrics])
            for question, how_hard in zip(asked, hard, strict=True)
        )
        flags = {**FLAGS, "self_refine_enabled": place > 0}
        models = {"answer": "offline", "evaluate": "offline"}
        runs.append(aggregate(RunResult(name, name, flags, models, rows, {}), names, seed))
    return study_of(runs, seed=seed)


def study_of(runs: Sequence[RunResult], kind: str = "answers", seed: int = 7) -> Study:
    """The runs as a study, each compared with the first and with the one before it."""
    pairs = ladder([run.system for run in runs]) if len(runs) > 1 else []
    data = replace(_DATA, questions=len(runs[0].rows), of=len(runs[0].rows))
    return Study(
        kind=kind,
        created="2026-01-02T03:04:05+00:00",
        data=data,
        index=_INDEX,
        judge="none" if kind == "retrieval" else "local",
        seed=seed,
        versions={"python": "3.11.7", "selfright": "0.1.0"},
        runs=tuple(runs),
        comparisons=compare(runs, pairs, seed),
    )


@cache
def retrieval(queries: int = 60, seed: int = 7) -> Study:
    """A study of rankings: words, meaning and both."""
    chance = random.Random(seed)
    runs = []
    for place, name in enumerate(("bm25", "dense", "hybrid")):
        rows = []
        for number in range(queries):
            score = min(1.0, max(0.0, chance.gauss(0.45 + 0.08 * place, 0.25)))
            values = {"nDCG@10": score, "R@100": min(1.0, score + 0.3)}
            rows.append(Row(f"q{number}", f"which boat is number {number}?", relevant=("boats",),
                            metrics={key: Value(value, "") for key, value in values.items()}))  # fmt: skip
        summary = {
            key: estimate([row.metrics[key].value or 0.0 for row in rows], seed, f"{key} {name}")
            for key in ("nDCG@10", "R@100")
        }
        runs.append(RunResult(name, None, {}, {}, tuple(rows), summary))
    pairs = [("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid")]
    return replace(study_of(runs, "retrieval", seed), comparisons=compare(runs, pairs, seed))


def of_right(before: Sequence[float], after: Sequence[float], seed: int = 7) -> Study:
    """A study of two systems of which nothing is known but which questions they got right."""
    runs = []
    for name, values in (("basic", before), ("full", after)):
        rows = tuple(studies.row(f"q{number}", {"right": value}) for number, value in enumerate(values))
        runs.append(aggregate(RunResult(name, name, {}, {}, rows, {}), ["right"], seed))
    return study_of(runs, seed=seed)


def with_text(study: Study, text: str) -> Study:
    """The study with ``text`` wherever words of data or of a model can stand."""
    return replace(
        study,
        data=replace(study.data, name=text, format=text),
        index=replace(study.index, embedder=text, tokenizer=text),
        judge=text,
        versions={text: text},
        runs=tuple(replace(run, flags={text: text, **run.flags}, models={text: text},
                           verdicts={text: 1, **run.verdicts}, stop_reasons={text: 1, **run.stop_reasons},
                           rows=tuple(_with_text(row, text) for row in run.rows))
                   for run in study.runs),
    )  # fmt: skip


def _with_text(row: Row, text: str) -> Row:
    turn = row.turn
    assert turn is not None
    passes = tuple(replace(one, query=text, verdict=text, documents=(text,)) for one in turn.passes)
    spoken = replace(turn, answer=text, verdict=text, stop_reason=text, passes=passes, notes=(text,))
    metrics: Mapping[str, Value] = {name: Value(value.value, text) for name, value in row.metrics.items()}
    return replace(row, question=text, answers=(text,), relevant=(text,), turn=spoken, metrics=metrics)


def _question(number: int) -> Question:
    if number % 6 == 5:
        return Question(f"q{number}", f"who mended the mast of boat {number}?", (), False, ())
    return Question(f"q{number}", f"who built boat {number}?", (f"Orla {number}",), True, (f"boats-{number}",))


def _row(question: Question, hard: float, place: int, gain: float, chance: random.Random) -> Row:
    knows = hard + chance.gauss(0, 0.1) < 0.45 + gain * place
    refuses = place > 0 and chance.random() < (0.1 if question.answerable else 0.2 + gain * place)
    answer = (
        "I could not find it."
        if refuses
        else f"It was {question.answers[0] if knows and question.answers else 'Finn'}. [1]"
    )
    overall = round(min(1.0, max(0.0, (0.75 if knows else 0.45) + chance.gauss(0, 0.15))), 4)
    passes = _passes(question, place, overall, chance)
    judged = Judgement(overall, overall, overall, overall, "adequate" if overall > 0.5 else "needs_docs", 0.8, "local")
    stop = "abstained" if refuses else "basic" if not place else "adequate" if overall > 0.5 else "stagnated"
    turn = Turn(
        answer=answer, abstained=refuses, language="en", verdict=passes[-1].verdict, stop_reason=stop, degraded=False,
        evaluation=judged if place else None, judged=judged, passes=passes, path=(Visit("retrieve", "8 passages"),),
        citations=(), removed_claims=(), notes=(), llm_calls=1 + 2 * place * len(passes),
        prompt_tokens=300 * (place + 1), completion_tokens=40, web_requests=0,
        seconds=round(0.2 + 0.3 * place + chance.random(), 3),
    )  # fmt: skip
    return Row(question.id, question.question, question.answers, question.answerable, question.relevant, turn)


def _passes(question: Question, place: int, overall: float, chance: random.Random) -> tuple[Pass, ...]:
    verdict = chance.choice(("correct", "ambiguous", "incorrect")) if place else None
    found = tuple(f"boats-{chance.randrange(12)}" for _ in range(3))
    first = Pass(question.question, verdict, overall if place else None, None, found)
    if not place or verdict == "correct":
        return (first,)
    again = Pass(
        f"{question.question} shipyard", "ambiguous", overall + 0.02, None, (*question.relevant, *found), 0.02, 0.5
    )
    return first, again
