"""Turns with a language model, beside the tutorial's graph and beside the bare calls: how fast, how many calls.

    python -m benchmarks.turn [--parts latency,overhead,load] [--turns 20] [--at-once 200] [--repeat 3]

The model is the scripted server, in a process of its own, over the demo's documents. ``latency``: at 300 ms a call,
turns that are right at once, ours and the tutorial's by turns. ``overhead``: at no latency, turns of two passes
against the same requests sent bare, in the same rounds, by the plain HTTP client and by the client library. ``load``:
at 500 ms, many turns at once in one process against the same requests made bare by the client library, as many at once.
"""

import argparse
import asyncio
import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.turn_peer import tutorial_graph
from benchmarks.turn_server import Counted, ModelProcess
from selfright import Selfright
from selfright.cli.commands.demo import DATA
from selfright.domain.answers import Answer
from selfright.domain.judgements import Verdict

PASSAGES = 4
PRESETS = ("crag", "full")
BARE = ("bare HTTP", "client library")
Bodies = tuple[tuple[dict[str, Any], ...], ...]
Kinds = dict[str, tuple[list[float], list[float]]]


def opened(folder: Path, url: str, **values: Any) -> Selfright:
    """Selfright over the demo's documents, which are read when the index is not there yet."""
    made = (folder / "index").exists()
    selfright = Selfright.open(
        folder / "index",
        home=folder / "home",
        pack="medical",
        llm="openai:scripted",
        base_url=url,
        top_k=PASSAGES,
        **values,
    )
    if not made:
        selfright.add([DATA / "documents"])
    return selfright


def questions() -> list[str]:
    """The demo's questions that its documents answer, without history and profile."""
    rows = map(json.loads, (DATA / "questions.jsonl").open(encoding="utf-8"))
    plain = (row for row in rows if row["answerable"] and not row.get("history") and not row.get("profile"))
    return [row["question"] for row in plain if "-web-" not in row["id"]]


def right_at_once(answer: Answer) -> bool:
    """One pass over documents that were found good, and an answer that stands."""
    return answer.verdict is Verdict.CORRECT and len(answer.iterations) == 1 and not answer.abstained


async def chosen(selfright: Selfright, preset: str, most: int) -> list[str]:
    """The first questions that are right at once."""
    found: list[str] = []
    for question in questions():
        if right_at_once(await selfright.aask(question, preset=preset)):
            found.append(question)
        if len(found) == most:
            break
    return found


def milliseconds(seconds: Sequence[float]) -> str:
    ordered = sorted(1000 * second for second in seconds)
    return f"{statistics.median(ordered):7.1f} ms (from {ordered[0]:.1f} to {ordered[-1]:.1f})"


async def timed(work: Awaitable[Any]) -> float:
    """How many seconds it takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def latency(folder: Path, turns: int) -> None:
    """Ours and the tutorial's graph, one turn each in alternation, counted by the server; no question comes twice."""
    with ModelProcess(0.0) as quick, opened(folder, quick.url) as trial:
        asked = {preset: await chosen(trial, preset, turns + 1) for preset in PRESETS}
    for preset in PRESETS:
        with ModelProcess(0.3) as model, opened(folder, model.url) as selfright:
            graph = tutorial_graph(model.url, selfright.as_retriever(PASSAGES))
            await selfright.aask(asked[preset][0], preset=preset)
            await asyncio.to_thread(graph.invoke, {"question": asked[preset][0]})
            ours, theirs, counts, peers = [], [], [], []
            for question in asked[preset][1:]:
                model.forget()
                ours.append(await Spent.on(selfright.aask(question, preset=preset)))
                counts.append(model.counted())
                model.forget()
                theirs.append(await Spent.on(asyncio.to_thread(graph.invoke, {"question": question})))
                peers.append(model.counted())
        print(f"{preset}: {len(ours)} turns that are right at once, 300 ms a call, {PASSAGES} passages")
        for name, spent, counted in (("ours", ours, counts), ("tutorial", theirs, peers)):
            cpu = statistics.median(one.cpu for one in spent)
            print(
                f"   {name:10}{milliseconds([one.wall for one in spent])}; processor {1000 * cpu:.0f} ms;"
                f" calls/rounds {tally(counted)}"
            )
        ratio = statistics.median(one.wall for one in theirs) / statistics.median(one.wall for one in ours)
        print(f"   {ratio:.2f} times as fast", flush=True)


def tally(counts: Sequence[Counted]) -> str:
    found = Counter(f"{count.calls}/{count.rounds}" for count in counts)
    return ", ".join(f"{name} ×{times}" for name, times in sorted(found.items()))


async def overhead(folder: Path, turns: int) -> None:
    """Turns of two passes at no latency, and the same requests bare; as it judges by default, and with every judge."""
    for judging in ("cascade", "always"):
        with ModelProcess(twice=True) as model, opened(folder, model.url, llm_judging=judging) as selfright:
            question, bodies = await two_passes(selfright, model)
            kinds = await alternated(selfright, model.url, question, bodies, turns)
        calls, rounds = sum(map(len, bodies)), len(bodies)
        print(f"overhead, {judging}: full, two passes, {calls} calls in {rounds} rounds, no latency, {turns} turns")
        for name, (wall, cpu) in kinds.items():
            print(f"   {name:15}{milliseconds(wall)}; processor {milliseconds(cpu)}")
        turn, *bare = (statistics.median(wall) for wall, _ in kinds.values())
        less = [f"{1000 * (turn - seconds):.1f} ms over the {name}" for name, seconds in zip(BARE, bare, strict=True)]
        print(f"   own: {', '.join(less)}", flush=True)


async def alternated(selfright: Selfright, url: str, question: str, bodies: Bodies, turns: int) -> Kinds:
    """Wall and processor seconds of each turn, and of its requests sent bare in two ways; the first three left out."""
    kinds: Kinds = {name: ([], []) for name in ("turn", *BARE)}
    library = Library(url)
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": "Bearer none"}) as client:
        for turn in range(turns + 3):
            works: tuple[Callable[[], Awaitable[Any]], ...] = (
                lambda: selfright.aask(question, preset="full"),
                lambda: replayed(bodies, lambda body: client.post("/chat/completions", json=body)),
                lambda: replayed(bodies, library.call),
            )
            for (wall, cpu), work in zip(kinds.values(), works, strict=True):
                busy = time.process_time()
                seconds = await timed(work())
                if turn >= 3:
                    wall.append(seconds)
                    cpu.append(time.process_time() - busy)
    return kinds


async def two_passes(selfright: Selfright, model: ModelProcess) -> tuple[str, Bodies]:
    """A question whose turn takes two passes each time, and the requests of that turn."""
    for question in questions():
        seen = []
        for _ in range(3):
            model.forget()
            answer = await selfright.aask(question, preset="full")
            seen.append((len(answer.iterations), model.counted()))
        if all(passes == 2 and counted.calls == seen[0][1].calls for passes, counted in seen):
            return question, seen[-1][1].bodies
    raise SystemExit("no question of the demo took two passes; the scripted answers do not work as meant")


async def replayed(bodies: Bodies, send: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
    """The requests of each round together, the rounds one after the other."""
    for group in bodies:
        if len(group) == 1:
            await send(group[0])
        else:
            await asyncio.gather(*(send(body) for body in group))


class Library:
    """The client library on its own: LangChain's model for OpenAI's interface."""

    def __init__(self, url: str) -> None:
        from langchain_openai import ChatOpenAI
        from pydantic import SecretStr

        self._model = ChatOpenAI(model="scripted", base_url=url, api_key=SecretStr("none"), max_retries=0)

    async def call(self, body: dict[str, Any]) -> Any:
        """Makes the request that ``body`` was sent with."""
        rest = {name: value for name, value in body.items() if name not in ("model", "messages", "stream")}
        return await self._model.ainvoke(body["messages"], **rest)


async def load(folder: Path, at_once: int, repeat: int) -> None:
    """Many turns at once, with and without sessions."""
    with ModelProcess(0.5) as model, opened(folder, model.url) as selfright:
        asked = await chosen(selfright, "full", 20)
        plan = await plans(selfright, model, asked, at_once)
        library = Library(model.url)
        calls, rounds = sum(len(group) for bodies in plan for group in bodies), max(map(len, plan))
        print(
            f"load: {at_once} turns at once, 500 ms a call, {calls / at_once:.2f} calls a turn, at most {rounds} rounds"
        )
        for number in range(repeat):
            bare = await Spent.on(asyncio.gather(*(replayed(bodies, library.call) for bodies in plan)))
            ours = await Spent.on(many(selfright, asked, at_once))
            before = resident()
            kept = await Spent.on(many(selfright, asked, at_once, sessions=f"round {number}"))
            gc.collect()
            print(f"   latency alone  {at_once / rounds / 0.5:7.1f} turns/s")
            for name, spent in (("bare", bare), ("ours", ours), ("with sessions", kept)):
                failed = "" if spent is bare else f"; {spent.result} failed or degraded"
                print(
                    f"   {name:15}{at_once / spent.wall:7.1f} turns/s, {bare.wall / spent.wall:4.0%} of bare,"
                    f" {rounds * 0.5 / spent.wall:4.0%} of latency alone;"
                    f" processor {1000 * spent.cpu / at_once:.1f} ms a turn{failed}"
                )
            print(f"   {(resident() - before) / at_once / 1024:.1f} KB a session", flush=True)
        await selfright.aclose()


@dataclass(frozen=True)
class Spent:
    """What some work took, in seconds, and what came of it."""

    wall: float
    cpu: float
    result: Any

    @classmethod
    async def on(cls, work: Awaitable[Any]) -> "Spent":
        began, busy = time.perf_counter(), time.process_time()
        result = await work
        return cls(time.perf_counter() - began, time.process_time() - busy, result)


async def plans(selfright: Selfright, model: ModelProcess, asked: Sequence[str], at_once: int) -> list[Bodies]:
    """The requests of as many turns."""
    found = []
    for question in asked:
        model.forget()
        await selfright.aask(question, preset="full")
        found.append(model.counted().bodies)
    return [found[turn % len(found)] for turn in range(at_once)]


async def many(selfright: Selfright, asked: Sequence[str], at_once: int, sessions: str = "") -> int:
    """Makes the turns, each in a session of its own where that is wanted; how many failed or were degraded."""
    options: list[dict[str, Any]] = [{"session": f"{sessions}, {n}"} if sessions else {} for n in range(at_once)]
    turns = (selfright.aask(asked[n % len(asked)], preset="full", **options[n]) for n in range(at_once))
    answers = await asyncio.gather(*turns, return_exceptions=True)
    return sum(isinstance(answer, BaseException) or answer.degraded for answer in answers)


def resident() -> int:
    """Bytes of this process in memory, by Linux."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def pace() -> str:
    """How fast this machine is just now, by a fixed piece of Python: some 60 ms on a free core of a 2023 desktop."""
    began, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number * number % 7
    return f"a million rounds of a loop in {1000 * (time.perf_counter() - began):.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="latency,overhead,load")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    parts = options.parts.split(",")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {pace()}")
    with tempfile.TemporaryDirectory() as place:
        if "latency" in parts:
            asyncio.run(latency(Path(place), options.turns))
        if "overhead" in parts:
            asyncio.run(overhead(Path(place), options.turns))
        if "load" in parts:
            asyncio.run(load(Path(place), options.at_once, options.repeat))
    return 0


if __name__ == "__main__":
    sys.exit(main())
