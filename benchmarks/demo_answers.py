"""The demo questions, by preset: answers that contain a gold string, refusals, right and wrong, and calls of a model.

    python -m benchmarks.demo_answers [--presets basic full] [--llm scripted | provider:model] [--base-url URL]
        [--flags llm_judging=always …] [--out FILE.json]

``--llm scripted`` starts the scripted server, whose fake model counts shared words: its calls mean something, and
how good its answers are says little about a real model.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.cli.commands.demo import DATA
from selfright.domain.answers import Answer

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
                "calls": answer.cost.llm_calls,
                "degraded": answer.degraded,
                "web": answer.web.effect if answer.web else "not asked",
                "requests": answer.cost.web_requests,
                "seconds": time.perf_counter() - began,
                "missing": answer.evaluation.missing_info if answer.evaluation else (),
                "question": question["question"],
                "answer": answer.answer,
                "gold": question["answers"],
            }
        )
    return rows


def table(preset: str, rows: list[dict[str, Any]]) -> None:
    seconds = sorted(row["seconds"] for row in rows)
    passes, calls = (sum(row[name] for row in rows) / len(rows) for name in ("passes", "calls"))
    print(
        f"{preset:<16} p50 {1000 * seconds[len(seconds) // 2]:.0f} ms, {passes:.2f} passes, {calls:.2f} calls of a"
        f" model a turn (at most {max(row['calls'] for row in rows)}), {sum(row['degraded'] for row in rows)} degraded"
    )
    for kind in KINDS:
        chosen = [row for row in rows if row["kind"] == kind]
        counts = Counter(row["outcome"] for row in chosen)
        shares = ", ".join(f"{name} {n} ({n / len(chosen):.0%})" for name, n in sorted(counts.items()))
        print(f"   {kind:<8} {len(chosen):>3}: {shares}")
    for name in ("verdict", "stop"):
        print(f"   {name}: {dict(Counter(row[name] for row in rows))}")


def corrected(rows: list[dict[str, Any]], base: list[dict[str, Any]]) -> None:
    """What the preset made of the first one's answers: rescued (not right before), harmed (right before)."""
    for kind in KINDS[:2]:
        pairs = [(a["outcome"], b) for a, b in zip(base, rows, strict=True) if a["kind"] == kind and a["gold"]]
        rescued = [b["id"] for before, b in pairs if before != "right" and b["outcome"] == "right"]
        harmed = [b for before, b in pairs if before == "right" and b["outcome"] != "right"]
        lost = sum(before != "right" for before, _ in pairs)
        print(
            f"   {kind:<8} against the first preset: rescued {len(rescued)} of {lost}, harmed {len(harmed)} of"
            f" {len(pairs) - lost} ({sum(b['outcome'] == 'refused' for b in harmed)} refused),"
            f" harmed with the web in the answer {sum(b['web'] in ('rescued', 'added') for b in harmed)}"
        )
    print(f"   web: {dict(Counter(row['web'] for row in rows))}, {sum(row['requests'] for row in rows)} requests")


@contextmanager
def model(name: str | None, base_url: str | None) -> Iterator[dict[str, Any]]:
    """The settings of the model that is wanted; none for offline."""
    if name != "scripted":
        yield {key: value for key, value in (("llm", name), ("base_url", base_url)) if value}
        return
    from tests.support.scripted.server import ScriptedServer

    with ScriptedServer() as server:
        yield {"llm": "openai:scripted", "base_url": server.url}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--llm", help="'scripted', or provider:model; offline without it")
    parser.add_argument("--base-url", help="where an OpenAI-compatible server listens")
    parser.add_argument("--flags", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    flags: dict[str, Any] = dict(flag.split("=", 1) for flag in options.flags)
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    everything = {}
    with (
        model(options.llm, options.base_url) as chosen,
        tempfile.TemporaryDirectory() as folder,
        Selfright.open(
            Path(folder) / "index",
            home=Path(folder) / "home",
            pack="medical",
            web_provider="static",
            web_folder=str(DATA / "web"),
            **chosen,
            **flags,
        ) as selfright,
    ):
        selfright.add([DATA / "documents"])
        for preset in options.presets:
            everything[preset] = run(preset, questions, selfright)
            table(preset, everything[preset])
            if preset != options.presets[0]:
                corrected(everything[preset], everything[options.presets[0]])
    if options.out:
        options.out.write_text(json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
