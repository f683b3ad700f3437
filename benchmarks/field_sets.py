"""Questions as people ask them over real documentation, Korean and English: what is answered, and where it gets lost.

    python -m benchmarks.field_sets NAME --documents DIR [--check] [--presets basic full] [--index DIR] [--out DIR]
        [--set FLAG=VALUE …]

``benchmarks/field/NAME`` has the questions with their gold patterns, and says in its README where the documents come
from; these are not ours and not kept here. ``--check`` asks nothing: it says which pattern stands in none of the
documents that should have it, and which question that cannot be answered is spoken of in them after all.

The beginning of an id is a question's kind: ``en`` and ``ko`` have their answer in documents of the question's
language, ``x`` is Korean and has it in English ones only, ``no`` has none.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.cli.commands.eval import lines as study_lines
from selfright.cli.progress import bar
from selfright.domain.text import has_hangul, language_of
from selfright.evals.reading import load
from selfright.evals.results import Retrieved, Row, Study
from selfright.evals.running import Plan, evaluate
from selfright.evals.systems import of_presets
from selfright.evals.writing import write, write_report

FIELD = Path(__file__).parent / "field"
KINDS = {
    "en": "English",
    "ko": "Korean",
    "x": "Korean, answered in English",
    "no-en": "unanswerable, English",
    "no-ko": "unanswerable, Korean",
}
STATED = {"correct": (0.20, False, "without the answer"), "incorrect": (0.10, True, "with the answer")}
"""The risk that the grader's thresholds state of a verdict, what makes it wrong, and how that is called."""
STEPS = (*(field.name for field in fields(Retrieved)), "right")
"""The steps of a turn, in their order."""
LOOKED = STEPS.index("looked") + 1


def kind_of(name: str) -> str:
    """The kind of a question, by its id: ``no-ko-03`` is of ``no-ko``."""
    return name.rpartition("-")[0]


def problems(questions: Sequence[Mapping[str, Any]], documents: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with a set, one sentence each; ``documents`` are texts by path."""
    lines = {path: " ".join(text.split()) for path, text in documents.items()}
    for name, count in Counter(question["id"] for question in questions).items():
        if count > 1 or kind_of(name) not in KINDS:
            yield f"{name}: an id of its own was expected, <kind>-<number> with a kind of {', '.join(KINDS)}"
    for question in questions:
        name, kind = question["id"], kind_of(question["id"])
        if has_hangul(question["question"]) != (kind in ("ko", "x", "no-ko")):
            yield f"{name}: the question is in the wrong language for its kind"
        if kind.startswith("no"):
            for term in question["absent"]:
                found = [path for path, line in lines.items() if re.search(term, line, re.IGNORECASE)]
                if found:
                    yield f"{name}: '{term}' was to be absent, but stands in {', '.join(found[:3])}"
            continue
        yield from _gold_problems(question, lines)


def _gold_problems(question: Mapping[str, Any], lines: Mapping[str, str]) -> Iterator[str]:
    for path in question["relevant"]:
        if path not in lines:
            yield f"{question['id']}: there is no document {path}; see the set's README for what to fetch"
        elif not any(re.search(pattern, lines[path], re.IGNORECASE) for pattern in question["patterns"]):
            yield f"{question['id']}: none of its patterns stands in {path}"
        elif kind_of(question["id"]) == "x" and language_of(lines[path]) != "en":
            yield f"{question['id']}: {path} was expected to be English"


def run(name: str, documents: Path, index: Path, options: argparse.Namespace) -> Study:
    """The study of one set, over an index that is made where there is none yet."""
    values = dict(pair.partition("=")[::2] for pair in options.set)
    if not index.exists():
        with Selfright.open(index, **values) as selfright:
            selfright.add([documents])
    plan = Plan(
        "answers",
        load(FIELD / name / "questions.jsonl"),
        of_presets(options.presets),
        {**values, "index": index},
        judge="none",
        workers=1,
    )
    with bar("Asking") as progress:
        return evaluate(plan, options.out, progress)


def first_rank(row: Row) -> int | None:
    """How many of ``STEPS`` a question got through; None where that is not known.

    A step counts when it or a later one had a gold answer: what stands in the draft has been found, in whatever words.
    """
    if row.turn is None or row.turn.held is None:
        return None
    steps = (*astuple(row.turn.held), row.value("right") == 1.0)
    return max((number for number, had in enumerate(steps, start=1) if had), default=0)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line for each kind: what was said, and how many questions each step still had."""
    yield f"  {'':30}{'n':>4}{'right':>7}{'wrong':>7}{'refused':>9}   " + " → ".join(STEPS)
    for kind, title in KINDS.items():
        chosen = [row for row in rows if kind_of(row.question_id) == kind and row.turn is not None]
        right = sum(row.metrics["right"].value == 1.0 for row in chosen)
        refused = sum(row.turn is not None and row.turn.abstained for row in chosen)
        wrong = len(chosen) - (refused if kind.startswith("no") else right + refused)
        got = [steps for row in chosen if (steps := first_rank(row)) is not None]
        left = (
            " → ".join(str(sum(steps >= place for steps in got)) for place in range(1, len(STEPS) + 1)) if got else ""
        )
        yield f"  {title:30}{len(chosen):>4}{right:>7}{wrong:>7}{refused:>9}   {left}"
    yield from risks(rows)


def risks(rows: Sequence[Row]) -> Iterator[str]:
    """How often a verdict is wrong, beside the risk that its threshold states; nothing for presets without grades."""
    graded = [row for row in rows if row.turn is not None and row.turn.verdict in STATED]
    for verdict, (stated, holds, what) in STATED.items():
        chosen = [row for row in graded if row.turn is not None and row.turn.verdict == verdict]
        wrong = sum(((first_rank(row) or 0) >= LOOKED) == holds for row in chosen)
        if chosen:
            share = wrong / len(chosen)
            yield f"  {verdict}: {len(chosen)}, {what} {wrong} ({share:.0%}; stated: at most {stated:.0%})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted(place.name for place in FIELD.iterdir() if place.is_dir()))
    parser.add_argument("--documents", type=Path, required=True, help="folder of the set's documents")
    parser.add_argument("--check", action="store_true", help="look at the set alone, ask nothing")
    parser.add_argument("--presets", nargs="+", default=["basic", "full"])
    parser.add_argument("--index", type=Path, help="kept there, and used again when it exists")
    parser.add_argument("--out", type=Path, help="folder for the study and its report")
    parser.add_argument("--set", action="append", default=[], metavar="FLAG=VALUE")
    options = parser.parse_args()
    lines = (FIELD / options.name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    paths = sorted(options.documents.rglob("*.md"))
    documents = {path.relative_to(options.documents).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    found = list(problems([json.loads(line) for line in lines], documents))
    print(f"{options.name}: {len(lines)} questions, {len(documents)} documents, {len(found)} problems")
    for problem in found:
        print(f"  {problem}")
    if options.check or found:
        return int(bool(found))
    with tempfile.TemporaryDirectory() as place:
        study = run(options.name, options.documents, options.index or Path(place) / "index", options)
    print(
        "\n".join(
            study_lines(study, [*write(study, options.out), write_report(study, options.out)] if options.out else [])
        )
    )
    for one in study.runs:
        print(f"\n{one.system}, by kind", *table(one.rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
