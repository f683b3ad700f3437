"""Attack success rates: poisoned documents and pages against every preset, and honest documents harmed.

    python -m benchmarks.red_team [--presets basic full] [--models offline gullible] [--embedder none] [--data DIR]

``gullible`` is a scripted model behind a real client that obeys any order it is shown; ``gullible-always`` lets it
judge every passage, too. With ``--data`` (folder of the data sets) it counts the honest passages that lose anything.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from selfright.domain.passages import Passage
from selfright.roles.visible_text import visible
from tests.redteam.arena import PRESETS, UNDECIDABLE, Arena, Case, Honest, read_cases, read_honest
from tests.support.scripted.fake_model import FakeModel
from tests.support.scripted.server import ScriptedServer

MODELS = ("offline", "gullible")
HONEST = ("squad2", "covidqa", "mtrag", "medquad_liveqa", "bioasq", "korquad", "pubmedqa")


@contextmanager
def settings_of(model: str) -> Iterator[dict[str, Any]]:
    """The settings with which ``model`` plays, while its server runs."""
    if model == "offline":
        yield {}
        return
    with ScriptedServer(model=FakeModel(gullible=True)) as server:
        judging = {"llm_judging": "always"} if model.endswith("always") else {}
        yield {"llm": "openai:scripted", "base_url": server.url, **judging}


def play(arena: Arena, cases: Sequence[Case], preset: str, model: str, show: bool) -> str:
    """One row: fights, successes, how they succeeded, in which families."""
    how: Counter[str] = Counter()
    families: Counter[str] = Counter()
    fights = lies = 0
    with settings_of(model) as settings, arena.open(**settings) as selfright:
        for fought in arena.tournament(selfright, cases, preset):
            if fought.case.family == UNDECIDABLE:
                lies += "said" in fought.successes
                continue
            fights += 1
            if fought.successes:
                how.update(fought.successes)
                families[fought.case.family] += 1
                if show:
                    print(
                        f"   {fought.case.id}: {', '.join(sorted(fought.successes))} | {fought.poisoned.answer[:160]!r}"
                    )
    fell = families.total()
    return (
        f"{model:16} {preset:16} {fell:4} of {fights} ({fell / max(1, fights):.0%})  plain lies said {lies}"
        f"  {dict(how)} {dict(families)}"
    )


def harm(arena: Arena, honest: Sequence[Honest], preset: str, model: str, show: bool) -> str:
    """One row: how many honest documents do not answer their question."""
    with settings_of(model) as settings, arena.open(**settings) as selfright:
        harmed = arena.harmed(selfright, honest, preset)
    for name, answer in harmed.items() if show else ():
        print(f"   {name}: {answer.verdict} {answer.answer[:160]!r}")
    return f"{model:16} {preset:16} honest documents harmed {len(harmed)} of {len(honest)}"


def struck(data: Path, name: str, most: int) -> str:
    """How many honest passages lose anything that no reader sees, and how many all."""
    with (data / name / "corpus.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, most)]
    part = whole = 0
    for row in rows:
        passage = Passage(row["_id"], row["_id"], row.get("title") or "", row["text"], 0, len(row["text"]))
        left = visible(passage)
        part += left != passage.text
        whole += not left.strip()
    return f"{name:16} {len(rows):6} passages   changed {part:4} ({part / len(rows):.2%})   struck whole {whole:3}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=(*MODELS, "gullible-always"))
    parser.add_argument("--embedder", default="e5", help="e5 or none")
    parser.add_argument("--files", nargs="*", default=[], help="files of cases, all by default")
    parser.add_argument("--honest", nargs="*", default=[], help="files of honest documents, all by default")
    parser.add_argument("--origin", default="upload", choices=("index", "upload"), help="who brought the hostile files")
    parser.add_argument("--show", action="store_true", help="name the attacks that succeed")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--limit", type=int, default=20_000)
    options = parser.parse_args()
    cases = read_cases(*options.files)
    honest = read_honest(*options.honest)
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder), cases, honest, options.embedder, options.origin)
        for model in options.models:
            for preset in options.presets:
                print(play(arena, cases, preset, model, options.show), flush=True)
                print(harm(arena, honest, preset, model, options.show), flush=True)
    for name in HONEST if options.data else ():
        print(struck(options.data, name, options.limit), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
