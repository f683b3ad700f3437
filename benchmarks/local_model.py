"""A small model in the house: does correcting keep its wrong answers back, and is less lost than it cannot do itself?

    python -m benchmarks.local_model [--llm local:smollm2] [--questions 100] [--minutes 20] [--work DIR]
        [--systems basic full offline writing] [--flags NAME=VALUE …]

The demo's English questions one by one: ``basic`` and ``full`` with the model, ``full`` offline, and (``writing``, if
asked for) ``full`` with the model as writer whatever a check found, and the offline judges. What is done stands in DIR,
with the index; a run that was broken off, or whose minutes were over, goes on there. Says how many turns ended, how
many within the turn's bounds, and what is right, wrong and refused.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.demo_answers import kind_of, outcome_of
from selfright import Selfright, SelfrightError
from selfright.domain.text import language_of
from selfright.entrypoints.commands.demo import DATA

SYSTEMS: dict[str, tuple[str, bool, dict[str, object]]] = {
    "basic": ("basic", True, {}),
    "full": ("full", True, {}),
    "offline": ("full", False, {}),
    "writing": ("full", True, {"llm_judging": "never"}),
}
"""Preset, whether the model takes part, and flags."""
SPARE_S = 5.0
"""What a turn may take beyond its deadline: what is under way is not broken off in the middle of a file."""


def chosen(count: int) -> list[dict[str, Any]]:
    """So many of the English questions, of all kinds, always the same ones in the same order."""
    lines = (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    english = [row for row in map(json.loads, lines) if language_of(row["question"]) == "en"]
    return random.Random(7).sample(english, min(count, len(english)))


def turn(selfright: Selfright, preset: str, given: Mapping[str, object], question: Mapping[str, Any]) -> dict[str, Any]:
    """What came of one turn; an error is a row, too."""
    began = time.perf_counter()
    try:
        answer = selfright.ask(
            question["question"],
            preset=preset,
            flags=given,
            history=question.get("history", ()),
            profile=question.get("profile"),
        )
    except SelfrightError as error:
        return {"outcome": "lost", "error": repr(error), "seconds": time.perf_counter() - began}
    seconds, flags = time.perf_counter() - began, selfright.flags(preset)
    cost, judged = answer.cost, answer.evaluation
    within = seconds <= flags.deadline_s + SPARE_S and cost.llm_calls <= flags.max_llm_calls
    return {
        "outcome": outcome_of(dict(question), answer),
        "within": within,
        "seconds": round(seconds, 1),
        "calls": cost.llm_calls,
        "tokens": [cost.prompt_tokens, cost.completion_tokens],
        "stop": answer.stop_reason.value,
        "verified": bool(judged and judged.verified),
        "grounding": judged and judged.grounding,
        "unsupported": sum(claim.status.value == "unsupported" for claim in judged.claims) if judged else 0,
        "answer": answer.answer,
        "notes": list(answer.notes),
    }


def summed(rows: Iterable[Mapping[str, Any]]) -> None:
    """One line a system, and what holds between them."""
    done = list(rows)
    right: dict[str, int] = {}
    wrong: dict[str, int] = {}
    for name in SYSTEMS:
        turns = [row["turns"][name] for row in done if name in row["turns"]]
        if not turns:
            continue
        counts = Counter(one["outcome"] for one in turns)
        right[name], wrong[name] = counts["right"], counts["wrong"]
        seconds = sorted(one["seconds"] for one in turns)
        print(
            f"{name:<8} {len(turns):>3} turns: right {counts['right']}, wrong {counts['wrong']}, refused"
            f" {counts['refused']}, without a gold answer {counts['answered']}, lost {counts['lost']}, beyond its"
            f" bounds {sum(not one.get('within') for one in turns)}; median {seconds[len(seconds) // 2]:.0f} s, longest"
            f" {seconds[-1]:.0f} s, {sum(one.get('calls', 0) for one in turns) / len(turns):.1f} calls a turn"
        )
    answerable = sum(row["answerable"] for row in done)
    if {"basic", "full", "offline"} <= right.keys():
        print(f"wrong answers: {wrong['full']} in full, {wrong['basic']} in basic (at most a third is wanted)")
        print(
            f"right answers: {right['full']} in full, {right['offline']} offline, of {answerable} that have an answer"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm", default="local:smollm2")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=["basic", "full", "offline"])
    parser.add_argument("--flags", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--work", type=Path, default=Path("local-model"))
    options = parser.parse_args()
    flags: dict[str, Any] = dict(flag.split("=", 1) for flag in options.flags)
    out, index = options.work / "turns.json", options.work / "index"
    rows = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    known = {row["id"]: row for row in rows}
    until = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_ones:
        given = {"home": Path(folder) / "home", "web_provider": "static", "web_folder": str(DATA / "web"), **flags}
        offline = open_ones.enter_context(Selfright.open(index, **given))
        offline.add([DATA / "documents"])  # what is there already is passed over
        model = open_ones.enter_context(Selfright.open(index, llm=options.llm, **given))
        for question in chosen(options.questions):
            turns = known.get(question["id"], {}).get("turns", {})
            wanted = [
                name for name in options.systems if name not in turns
            ]  # a system may be taken out of DIR to ask it anew
            if not wanted:
                continue
            if time.monotonic() > until:
                break
            for name in wanted:
                preset, asks, more = SYSTEMS[name]
                turns[name] = turn(model if asks else offline, preset, more, question)
            if question["id"] not in known:
                row = {name: question[name] for name in ("id", "question", "answers", "answerable")}
                rows.append({**row, "kind": kind_of(question), "turns": turns})
            out.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
            said = (f"{name}: {turns[name]['outcome']} {turns[name]['seconds']} s" for name in wanted)
            print(len(rows), question["id"], *said, flush=True)
    summed(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
