"""The two branches of an ambiguous verdict, refinement and web: does the pair take longer than the slower one?

    python -m benchmarks.web_branches [--delay 0.3] [--preset crag] [--turns 40]

The demo's documents, its folder of pages as the web, which takes ``--delay`` seconds more to answer. Of each turn with
an ambiguous verdict: the time from the end of grading to the beginning of what follows both branches, beside the time
of each branch.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from selfright import Selfright
from selfright.cli.commands.demo import DATA
from selfright.domain.events import NodeFinished
from selfright.domain.passages import WebFinding
from selfright.domain.ports import WebSearch


class Slow:
    """A web that lets one wait."""

    def __init__(self, web: WebSearch, delay: float) -> None:
        self._web, self._delay = web, delay

    async def search(self, query: str, k: int) -> WebFinding:
        await asyncio.sleep(self._delay)
        return await self._web.search(query, k)


async def branches(selfright: Selfright, question: str, preset: str) -> tuple[float, float, float] | None:
    """Seconds of the pair, of the refinement and of the web; None when the first verdict was not ambiguous."""
    seen: dict[str, tuple[float, float]] = {}
    async for event in selfright.astream(question, preset=preset):
        if isinstance(event, NodeFinished) and event.node not in seen:
            seen[event.node] = (time.perf_counter(), event.seconds)
    if not {"web_search", "refine_knowledge"} <= seen.keys():
        return None
    graded, web, refined = (seen[name] for name in ("grade", "web_search", "refine_knowledge"))
    if refined[0] - refined[1] > web[0] - 0.001:  # one after the other: the web stood in for the index
        return None
    return max(web[0], refined[0]) - graded[0], refined[1], web[1]


async def measure(selfright: Selfright, preset: str, turns: int) -> None:
    lines = (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[tuple[float, float, float]] = []
    for row in map(json.loads, lines):
        if len(found) < turns and (times := await branches(selfright, row["question"], preset)):
            found.append(times)
    if not found:
        raise SystemExit("no question of the demo has an ambiguous verdict in this preset")
    shares = sorted(pair / max(refined, web) for pair, refined, web in found)
    pair, refined, web = (1000 * statistics.median(column) for column in zip(*found, strict=True))
    print(
        f"{preset}: {len(found)} ambiguous turns; medians: both {pair:.0f} ms, refinement {refined:.0f} ms,"
        f" web {web:.0f} ms; both / slower branch: median {statistics.median(shares):.2f},"
        f" ninth decile {shares[int(0.9 * (len(shares) - 1))]:.2f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.3, help="seconds")
    parser.add_argument("--preset", default="crag")
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with Selfright.open(
            folder / "index",
            home=folder / "home",
            pack="medical",
            web_provider="static",
            web_folder=str(DATA / "web"),
        ) as selfright:
            selfright.add([DATA / "documents"])
            engine = selfright._engine
            engine.__dict__["_web"] = Slow(engine._web, options.delay)  # type: ignore[arg-type]  # static is set above
            asyncio.run(measure(selfright, options.preset, options.turns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
