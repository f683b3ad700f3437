"""The field sets: what they promise of their questions, and that a wrong gold pattern is found."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.field_sets import FIELD, KINDS, first_rank, kind_of, problems
from selfright.evals.reading import load
from selfright.evals.results import Retrieved
from tests.support.studies import row, turn

SETS = sorted(place.parent for place in FIELD.glob("*/questions.jsonl"))
DOCUMENTS = {"en/tea.md": "Tea is served\nat five. Biscuits are free.", "ko/차.md": "차는 다섯 시에 나옵니다."}


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_a_set_keeps_its_promises(folder: Path) -> None:
    questions = load(folder / "questions.jsonl").questions
    kinds = Counter(kind_of(question.id) for question in questions)
    count = len(questions)
    assert count >= 40
    assert set(kinds) <= set(KINDS)
    assert 0.2 <= (kinds["no-en"] + kinds["no-ko"]) / count <= 0.3
    assert 0.2 <= kinds["x"] / count <= 0.3 or kinds["en"] == 0
    assert all(question.answerable is not kind_of(question.id).startswith("no") for question in questions)
    assert all(bool(question.patterns) is question.answerable for question in questions)
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    documents = {path: "" for row in rows for path in row.get("relevant", ())}
    expected = [f"{row['id']}: none of its patterns" for row in rows for _ in row.get("relevant", ())]
    assert [
        problem[: len(start)] for problem, start in zip(problems(rows, documents), expected, strict=True)
    ] == expected


def asked(name: str, question: str, **fields: object) -> dict[str, object]:
    return {"id": name, "question": question, **fields}


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (asked("en-01", "when is tea", patterns=["served at five"], relevant=["en/tea.md"]), None),
        (
            asked("en-01", "when is tea", patterns=["at six", "at seven"], relevant=["en/tea.md"]),
            "none of its patterns",
        ),
        (asked("en-01", "when is tea", patterns=["five"], relevant=["en/cake.md"]), "no document en/cake.md"),
        (asked("x-01", "차는 언제 나와요", patterns=["five"], relevant=["en/tea.md"]), None),
        (asked("x-01", "차는 언제 나와요", patterns=["다섯"], relevant=["ko/차.md"]), "expected to be English"),
        (asked("x-01", "when is tea", patterns=["five"], relevant=["en/tea.md"]), "wrong language"),
        (asked("no-en-01", "is there coffee", absent=["coffee"]), None),
        (asked("no-en-01", "are there cakes", absent=["cake", "biscuits?"]), "'biscuits?' was to be absent"),
        (asked("tea", "when is tea", patterns=["five"], relevant=["en/tea.md"]), "an id of its own"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(question: dict[str, object], problem: str | None) -> None:
    found = list(problems([question], DOCUMENTS))
    assert [problem in one for one in found] == [True] if problem else not found


NOTHING = Retrieved(*[False] * 5)


@pytest.mark.parametrize(
    ("held", "right", "steps"),
    [
        (NOTHING, 0.0, 0),
        (replace(NOTHING, found=True), 0.0, 1),
        (replace(NOTHING, found=True, looked=True, strips=True), 0.0, 3),
        (replace(NOTHING, draft=True), 0.0, 4),  # a step counts when a later one had it
        (replace(NOTHING, final=True), 0.0, 5),
        (NOTHING, 1.0, 6),  # from a model's head, or in other words than those of the passages
        (None, 1.0, None),
    ],
)
def test_a_question_got_as_far_as_the_last_step_that_had_its_answer(
    held: Retrieved | None, right: float, steps: int | None
) -> None:
    assert first_rank(row("q", {"right": right}, turn(held=held))) == steps
