"""The demo questions, by preset: answers that contain a gold string, and refusals, right and wrong.

python -m benchmarks.demo_answers [--presets basic full] [--out FILE.json]
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.domain.answers import Answer
from selfright.entrypoints.commands.demo import DATA

PRESETS = ("basic", "crag", "self_refine", "self_correcting", "full")
KINDS = ("normal", "web", "none")


def kind_of(question: dict[str, Any]) -> str:
    return next((kind for kind in ("web", "none") if f"-{kind}-" in question["id"]), "normal")


def outcome_of(question: dict[str, Any], answer: Answer) -> str:
    """``right``, ``wrong`` or ``refused``; questions without gold strings are ``answered`` or ``refused``."""
    if answer.abstained:
        return "refused"
    if not question["answerable"]:
        return "wrong"
    if not question["answers"]:
        return "answered"
    said = " ".join(answer.answer.split()).casefold()
    cited = " ".join(" ".join(c.text for c in answer.citations).split()).casefold()
    gold = [" ".join(g.split()).casefold() for g in question["answers"]]
    return "right" if any(g in said or g in cited for g in gold) else "wrong"


def run(preset: str, questions: list[dict[str, Any]], selfright: Selfright) -> list[dict[str, Any]]:
    rows = []
    for question in questions:
        began = time.perf_counter()
        answer = selfright.ask(
            question["question"],
            preset=preset,
            history=question.get("history", ()),
            profile=question.get("profile"),
        )
        rows.append(
            {
                "id": question["id"],
                "kind": kind_of(question),
                "outcome": outcome_of(question, answer),
                "verdict": answer.verdict and answer.verdict.value,
                "stop": answer.stop_reason.value,
                "overall": answer.evaluation and answer.evaluation.overall,
                "passes": len(answer.iterations),
                "seconds": time.perf_counter() - began,
                "question": question["question"],
                "answer": answer.answer,
                "gold": question["answers"],
            }
        )
    return rows


def table(preset: str, rows: list[dict[str, Any]]) -> None:
    seconds = sorted(row["seconds"] for row in rows)
    passes = sum(row["passes"] for row in rows) / len(rows)
    print(f"{preset:<16} p50 {1000 * seconds[len(seconds) // 2]:.0f} ms, {passes:.2f} passes")
    for kind in KINDS:
        chosen = [row for row in rows if row["kind"] == kind]
        counts = Counter(row["outcome"] for row in chosen)
        shares = ", ".join(f"{name} {n} ({n / len(chosen):.0%})" for name, n in sorted(counts.items()))
        print(f"   {kind:<8} {len(chosen):>3}: {shares}")
    for name in ("verdict", "stop"):
        print(f"   {name}: {dict(Counter(row[name] for row in rows))}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    everything = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Selfright.open(Path(folder) / "index", web_provider="static", web_folder=str(DATA / "web")) as selfright,
    ):
        selfright.add([DATA / "documents"])
        for preset in options.presets:
            everything[preset] = run(preset, questions, selfright)
            table(preset, everything[preset])
    if options.out:
        options.out.write_text(json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
