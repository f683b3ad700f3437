"""A language model on 100 questions: what each preset makes of it beside ``full`` without it, and what that costs.

    python -m benchmarks.capable_model --documents DIR [--model 1.5b | 0.5b | local:FILE | provider:NAME]
        [--systems basic full offline …] [--sets demo fastapi …] [--questions 100] [--minutes 60] [--work DIR]
        [--models DIR] [--set NAME=VALUE …] [--table]

Half of the questions are Korean, a fifth cannot be answered; they are of the demo and of the field sets that are for
tuning. DIR has a folder of documents for each field set, named as the set (``benchmarks/field`` says where they come
from). ``1.5b`` and ``0.5b`` are fetched as wheels, into the folder ``--models``.

``basic``, ``crag``, ``self_refine``, ``self_correcting`` and ``full`` are presets with the model, ``offline`` is
``full`` without it, and ``writing`` (if asked for) ``full`` with the model as writer and offline judges. Each question
and system is one line of ``turns.jsonl`` in ``--work``, where the indexes are, too: a run that was broken off, or whose
minutes were over, goes on there. Use one folder for one group of settings. A table follows the run; ``--table``
prints it alone.
"""

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.field_sets import FIELD
from benchmarks.model_files import WEIGHTS, fetch
from selfright import Selfright, SelfrightError
from selfright.cli.commands.demo import DATA
from selfright.domain.text import has_hangul
from selfright.evals.reading import Question, load
from selfright.evals.words import gold_in

SYSTEMS: dict[str, tuple[str, bool, dict[str, object]]] = {
    "basic": ("basic", True, {}),
    "crag": ("crag", True, {}),
    "self_refine": ("self_refine", True, {}),
    "self_correcting": ("self_correcting", True, {}),
    "full": ("full", True, {}),
    "offline": ("full", False, {}),
    "writing": ("full", True, {"llm_judging": "never"}),
}
"""Preset, whether the model takes part, and flags."""

QUOTAS = {
    "demo": {"en": 8, "ko": 8, "no-en": 2, "no-ko": 2},
    "fastapi": {"en": 8, "ko": 8, "no-en": 2, "no-ko": 2},
    "handbook": {"en": 8, "ko": 8, "no-en": 2, "no-ko": 2},
    "manual_en": {"en": 16, "no-en": 4},
    "office_ko": {"ko": 16, "no-ko": 4},
}
"""Questions by set and kind; Korean ones that are answered in English only count as Korean."""

PATIENT = {"deadline_s": "3600", "llm_timeout_s": "900"}
"""What a model can do is measured, not what it does within the seconds of a turn on this machine."""


@dataclass(frozen=True)
class Asked:
    set: str
    kind: str
    question: Question

    @property
    def id(self) -> str:
        return f"{self.set}/{self.question.id}"


def chosen(sets: Sequence[str]) -> list[Asked]:
    """The sets' questions by quota, always the same ones in the same order, all sets and kinds mixed."""
    found: list[Asked] = []
    for name in sets:
        path = DATA if name == "demo" else FIELD / name
        questions = load(path / "questions.jsonl").questions
        for kind, count in QUOTAS[name].items():
            of_kind = [question for question in questions if kind_of(question) == kind]
            found += [Asked(name, kind, one) for one in random.Random(7).sample(of_kind, count)]
    random.Random(7).shuffle(found)
    return found


def kind_of(question: Question) -> str:
    """Its language, after ``no-`` if it cannot be answered."""
    return f"{'' if question.answerable else 'no-'}{'ko' if has_hangul(question.question) else 'en'}"


class Systems:
    """Selfright over each set, with the model and without, opened when first asked."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self._options = options
        self._stack = stack
        self.over = cache(self._open)

    def _open(self, name: str, asks: bool) -> Selfright:
        work: Path = self._options.work
        documents = DATA / "documents" if name == "demo" else self._options.documents / name
        given = PATIENT | {"home": work / "home"} | dict(pair.partition("=")[::2] for pair in self._options.set)
        if name == "demo":
            given |= {"pack": "medical", "web_provider": "static", "web_folder": str(DATA / "web")}
        if asks:
            given["llm"] = model_named(self._options)
        index = work / f"index-{name}"
        fresh = not index.exists()
        selfright = self._stack.enter_context(Selfright.open(index, **given))
        if fresh:
            selfright.add([documents])
        return selfright


def model_named(options: argparse.Namespace) -> str:
    """The model as the setting ``llm`` names it, fetched if it is one of ours."""
    weights = WEIGHTS.get(options.model)
    return f"local:{fetch(weights, options.models)}" if weights else options.model


def turn(selfright: Selfright, system: str, asked: Asked) -> dict[str, Any]:
    """What came of one turn; an error is a row, too."""
    preset, _, flags = SYSTEMS[system]
    question, began = asked.question, time.perf_counter()
    try:
        answer = selfright.ask(
            question.question, preset=preset, flags=flags, history=question.history, profile=question.profile or None
        )
    except SelfrightError as error:
        return {"outcome": "lost", "error": repr(error), "seconds": round(time.perf_counter() - began, 2)}
    cost, judged = answer.cost, answer.evaluation
    return {
        "question": question.question,
        "outcome": "refused" if answer.abstained else outcome_of(question, answer.answer),
        "seconds": round(time.perf_counter() - began, 2),
        "calls": cost.llm_calls,
        "read": cost.prompt_tokens,
        "written": cost.completion_tokens,
        "verdict": answer.verdict and answer.verdict.value,
        "stop": answer.stop_reason.value,
        "passes": len(answer.iterations),
        "verified": bool(judged and judged.verified),
        "grounding": judged and judged.grounding,
        "unsupported": [claim.text for claim in judged.claims if claim.status == "unsupported"] if judged else [],
        "degraded": answer.degraded,
        "marks": len(answer.citations),
        "answer": answer.answer,
        "notes": list(answer.notes),
    }


def outcome_of(question: Question, answer: str) -> str:
    """``right`` or ``wrong`` of what was said, where nothing was refused."""
    return "right" if question.answerable and gold_in(answer, question) else "wrong"


def rows_in(path: Path) -> list[dict[str, Any]]:
    """What was done before, looked at again with the gold as it is now; a line that was broken off goes."""
    questions = {asked.id: asked.question for asked in chosen(list(QUOTAS))}
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            print("a line that was broken off is left out", file=sys.stderr)
    for row in rows:
        if row["outcome"] in ("right", "wrong"):
            row["outcome"] = outcome_of(questions[row["id"]], row["answer"])
    return rows


def run(options: argparse.Namespace, rows: list[dict[str, Any]], out: Path) -> None:
    """Asks what is not answered yet, question by question, until the minutes are over."""
    done = {(row["model"], row["system"], row["id"]) for row in rows}
    until = time.monotonic() + 60 * options.minutes
    with ExitStack() as stack, out.open("a", encoding="utf-8") as file:
        systems = Systems(options, stack)
        for n, asked in enumerate(chosen(options.sets)[: options.questions], start=1):
            for system in options.systems:
                model = options.model if SYSTEMS[system][1] else "none"
                if (model, system, asked.id) in done:
                    continue
                if time.monotonic() > until:
                    return
                row = {"model": model, "system": system, "id": asked.id, "kind": asked.kind}
                row |= turn(systems.over(asked.set, SYSTEMS[system][1]), system, asked)
                rows.append(row)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()
                print(n, asked.id, system, row["outcome"], f"{row['seconds']:.0f} s", file=sys.stderr, flush=True)


def table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each system's figures, then those of its English and its Korean questions."""
    yield (
        f"{'':18}{'n':>4}{'right':>7}{'wrong':>7}{'refused':>9}{'lost':>6}{'absent refused':>16}{'unmarked':>10}"
        f"{'calls':>7}{'read':>8}{'written':>9}{'median s':>10}{'p90 s':>8}"
    )
    done = list(rows)
    for system in SYSTEMS:
        of_system = [row for row in done if row["system"] == system]
        for title, ending in ((system, ""), ("  English", "en"), ("  Korean", "ko")):
            if group := [row for row in of_system if row["kind"].endswith(ending)]:
                yield f"{title:18}{_figures(group)}"


def _figures(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(row["outcome"] for row in rows)
    absent = [row for row in rows if row["kind"].startswith("no-")]
    refused = f"{sum(row['outcome'] == 'refused' for row in absent)} of {len(absent)}"
    unmarked = sum(row["outcome"] in ("right", "wrong") and not row["marks"] for row in rows)
    calls, read, written = (fmean(row.get(name, 0) for row in rows) for name in ("calls", "read", "written"))
    seconds = sorted(row["seconds"] for row in rows)
    return (
        f"{len(rows):>4}{counts['right']:>7}{counts['wrong']:>7}{counts['refused']:>9}{counts['lost']:>6}"
        f"{refused:>16}{unmarked:>10}{calls:>7.1f}{read:>8,.0f}{written:>9,.0f}"
        f"{median(seconds):>10.1f}{seconds[math.ceil(0.9 * len(seconds)) - 1]:>8.1f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="1.5b", help=f"{', '.join(WEIGHTS)}, or as in the setting llm")
    parser.add_argument("--models", type=Path, default=Path.home() / ".cache" / "selfright-benchmarks")
    parser.add_argument("--documents", type=Path, default=Path(), help="folder with the field sets' documents")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS)[:-1])
    parser.add_argument("--sets", nargs="+", choices=QUOTAS, default=list(QUOTAS))
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--work", type=Path, default=Path("capable-model"))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--table", action="store_true", help="ask nothing")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    out = options.work / "turns.jsonl"
    rows = rows_in(out)
    if not options.table:
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        run(options, rows, out)
    print(*table(row for row in rows if row["model"] in (options.model, "none")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
