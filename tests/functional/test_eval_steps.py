"""Rows of ``eval answers``: an index where each step of a turn loses a question that is known beforehand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.answers import Attempt, Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.chat import OnText
from selfright.domain.flags import Flags
from selfright.domain.judgements import Claim, ClaimStatus, Evaluation, Grading, QueryClass
from selfright.domain.passages import Hit, Language, Refinement
from selfright.domain.tools import Tools
from selfright.evals.results import Retrieved
from selfright.flow.evidence import whole
from selfright.flow.strategies import CorrectiveRAGStrategy
from selfright.wiring.engine import Engine
from tests.functional.conftest import Cli
from tests.support.studies import read_study
from tests.support.turns import Scripted, evaluation

PLACES = {
    "strips": ("Aldbury", "Tobias Fern"),
    "draft": ("Brixton", "Maud Quill"),
    "final": ("Corfe", "Ivo Larch"),
    "right": ("Dalby", "Nell Sparrow"),
    "through": ("Eyam", "Jonas Teal"),
}
"""Where each question asks about, and who winds the clock there: the question is lost at the step of its name."""
TEXTS = {f"{place.lower()}.md": f"The clock of {place} is wound by {who}." for place, who in PLACES.values()}
# The better match comes first and does not say who it is, so with top_k=1 the one that does is found and not looked at.
TEXTS |= {
    "fenny-1.md": "The clock of Fenny, who winds the clock of Fenny: the clock of Fenny is old.",
    "fenny-2.md": "Every week Rosa Pike takes the key, climbs up sixty steps and winds the clock of Fenny for a year.",
    "goring.md": "The clock of Goring stands still.",
}


@dataclass(frozen=True)
class Leaky:
    """Each role loses the answer for the one question that is named after its step."""

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        strips = whole(hits)
        if PLACES["strips"][0] in question:
            strips = tuple(replace(strip, text="The clock is wound.") for strip in strips)
        return Refinement(strips, 0.0)

    @property
    def needs_documents(self) -> bool:
        return True

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        said = [strip.text for strip in request.strips]
        if PLACES["draft"][0] in request.question:
            said = ["Somebody winds it."]
        said.append("It is a clock.")
        return Draft(" ".join(said), tuple(map(Sentence, said)))

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        lost = [s.text for s in request.draft.sentences if PLACES["final"][1] in s.text]
        return evaluation(0.9, claims=[Claim(text, ClaimStatus.UNSUPPORTED) for text in lost])

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        return PLACES["right"][0] in question

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        return Draft("I cannot tell.", refused=True)


def leaking(tools: Tools) -> Tools:
    leaky = Leaky()
    strategy = CorrectiveRAGStrategy(tools.flags, leaky, (leaky,), "both")
    return replace(
        tools,
        classifier=Scripted(),
        grader=Scripted(),
        refiner=leaky,
        generator=leaky,
        strategy=strategy,
        abstainer=leaky,
    )


def test_each_step_loses_the_question_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "none")
    folder, index, out = tmp_path / "clocks", tmp_path / "index", tmp_path / "out"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert cli("index", "add", folder, "--index", index).code == 0
    rows: list[dict[str, Any]] = [
        {"id": name, "question": f"Who winds the clock of {place}?", "answers": [who]}
        for name, (place, who) in PLACES.items()
    ]
    rows += [
        {"id": "looked", "question": "Who winds the clock of Fenny?", "patterns": [r"rosa\s+pi(k|c)e"]},
        {"id": "found", "question": "Who winds the clock of Goring?", "answers": ["Ada Brook"]},
        {"id": "none", "question": "What does the clock of Dalby weigh?", "answerable": False},
        {"id": "unknown", "question": "Is the clock of Eyam pretty?"},
    ]
    path = tmp_path / "clocks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    turn = Engine.turn
    with monkeypatch.context() as patched:
        patched.setattr(Engine, "turn", lambda *a, **k: replace(t := turn(*a, **k), tools=leaking(t.tools)))
        command = ("eval", "answers", path, "--index", index, "--preset", "full", "--set", "top_k=1", "--workers", 1)
        done = cli(*command, "--out", out)
        assert done.code == 0, done.err
    assert "answered right 1, wrong 5; refused rightly 1, wrongly 1" in done.out

    held = {row.question_id: row.turn and row.turn.held for row in read_study(out / "study.json").runs[0].rows}
    steps = [field.name for field in fields(Retrieved)]
    for name in PLACES.keys() | {"looked", "found"}:
        one = held[name]
        assert one is not None
        had = [getattr(one, step) for step in steps]
        assert had == [step < (steps.index(name) if name in steps else len(steps)) for step in range(len(steps))]
    assert held["none"] is held["unknown"] is None
