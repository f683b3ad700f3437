"""Many users at the service, for minutes: errors, latency against an ideal turn, memory over time; then too many.

python -m benchmarks.service_load --users 200 --seconds 300 --latency 0.5 --pause 30 --out docs/benchmarks

The service (``--workers`` processes) and a scripted model run as processes of their own. Every user has a key and a
session and asks one question after the other, with a pause in between that is drawn anew each time (exponential). The
ideal turn is that of one user alone, just before; ``latency alone`` is the model's part of it. The bare client makes
the same calls in the same rounds without the service. Then more is sent at once than the service takes, and at the
end SIGTERM comes while turns are under way.

python -m benchmarks.service_load --curve 1 10 50 100 200 400 --seconds 20 --pause 0 --workers 2 --out docs/benchmarks

With ``--curve`` so many users ask one after the other of one service, each time beside as many bare clients.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.turn import Bodies, Library, replayed
from benchmarks.turn_server import ModelProcess
from selfright import Selfright
from selfright.evals.report.charts import line_plot
from selfright.server.keys import KeyRing

QUESTIONS = (
    "How is FxStore installed?",
    "Which Java version does FxStore need?",
    "How do I make a backup of a store?",
    "What does the error code FX-104 mean?",
    "How large may a value be?",
    "How do transactions work in FxStore?",
    "How is a store encrypted?",
    "What does compaction do?",
)
DOCUMENTS = Path("src/selfright/demo/documents/fxstore/en")


@dataclass
class Seen:
    """What the users met: seconds of each answered turn with the time it ended, and what else came."""

    turns: list[tuple[float, float]] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    refused: list[float] = field(default_factory=list)

    def seconds(self) -> list[float]:
        return sorted(seconds for _, seconds in self.turns)


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as place, ModelProcess(options.latency) as model:
        folder = Path(place)
        keys = prepare(folder, max([options.users, *(options.curve or ())]))
        with served(folder, model.url, options) as (process, url):
            if options.curve:
                return _told(asyncio.run(_curve(url, keys, process.pid, model, options)), options)
            report = asyncio.run(_phases(url, keys, process, model, options))
            report["ended by SIGTERM"]["exit code"] = process.wait(120)
    # Single turns are in the picture: half an hour of them would be 50,000 lines.
    told = json.dumps({name: value for name, value in report.items() if name not in ("memory", "turns")}, indent=1)
    print(told)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "service-load.json").write_text(told + "\n", encoding="utf-8")
        for name, drawing in _drawn(report).items():
            (options.out / name).write_text(drawing, encoding="utf-8")
    return 0 if not report["load"]["errors"] and not report["recovery"]["errors"] else 1


def _told(report: dict[str, Any], options: argparse.Namespace) -> int:
    print(json.dumps(report, indent=1))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "service-curve.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        for name, drawing in drawn_curve(report).items():
            (options.out / name).write_text(drawing, encoding="utf-8")
    return 0


async def _curve(
    url: str, keys: list[str], pid: int, model: ModelProcess, options: argparse.Namespace
) -> dict[str, Any]:
    """One row for each number of users; a user alone comes first."""
    rows = []
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits, trust_env=False) as http:
        await _alone(http, keys[0], 5 * options.workers)  # warm
        ideal = await _alone(http, keys[0], options.alone)
        plan = await _plan(http, keys[0], model)
        alone = options.latency * statistics.mean(map(len, plan))
        for users in options.curve:
            bare = await _bare(model.url, plan, users, options)
            load, lasted, shares = await _load(http, keys[:users], (pid, model.pid), options)
            seconds = load.seconds()
            possible = users / (options.pause + alone)
            rows.append(
                {
                    "users": users,
                    **_figures(load),
                    "refused": len(load.refused),
                    "seconds": round(lasted, 1),
                    "turns a second": round(len(seconds) / lasted, 2),
                    "of latency alone": round(len(seconds) / lasted / possible, 3),
                    "of the bare client": round(len(seconds) / lasted / bare["turns a second"], 3) if bare else None,
                    "p99 against the ideal turn": round(_share(seconds, 0.99) / statistics.median(ideal.seconds()), 2),
                    "memory (MB)": round(_rss(pid), 1),
                    **shares,
                    "bare client": bare,
                }
            )
    machine = {"cores": os.cpu_count(), "load average": [round(each, 1) for each in os.getloadavg()]}
    return {
        "pause between questions (s, mean)": options.pause,
        "model latency (s)": options.latency,
        "workers": options.workers,
        "ideal": {**_figures(ideal), "latency alone (s, mean)": round(alone, 3)},
        "rows": rows,
        "machine": machine,
    }


async def _load(
    http: httpx.AsyncClient, keys: list[str], pids: tuple[int, int], options: argparse.Namespace
) -> tuple[Seen, float, dict[str, float]]:
    """What the users met, for how long, and the cores that service, model and users took."""
    service, model, client = _cpu(pids[0]), _cpu(pids[1]), time.process_time()
    seen, at = Seen(), time.monotonic()
    await asyncio.gather(*(_user(http, key, n, options, at + options.seconds, seen) for n, key in enumerate(keys)))
    lasted = time.monotonic() - at
    service, model, client = _cpu(pids[0]) - service, _cpu(pids[1]) - model, time.process_time() - client
    return (
        seen,
        lasted,
        {
            "CPU of the service (cores)": round(service / lasted, 2),
            "CPU of a turn (ms)": round(1000 * service / max(1, len(seen.turns)), 1),
            "CPU of the model (cores)": round(model / lasted, 2),
            "CPU of the users (cores)": round(client / lasted, 2),
        },
    )


async def _phases(
    url: str, keys: list[str], process: "subprocess.Popen[str]", model: ModelProcess, options: argparse.Namespace
) -> dict[str, Any]:
    pid = process.pid
    memory: list[tuple[float, float]] = []
    began = time.monotonic()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits, trust_env=False) as http:
        await _alone(http, keys[0], 5 * options.workers)  # warm
        ideal = await _alone(http, keys[0], options.alone)
        plan = await _plan(http, keys[0], model)
        bare = await _bare(model.url, plan, options.users, options)
        watch = asyncio.create_task(_watch(pid, began, memory))
        at = time.monotonic()
        load, lasted, shares = await _load(http, keys, (pid, model.pid), options)
        flood = await _flood(http, keys, options.flood)
        await asyncio.sleep(2)
        after = await _alone(http, keys[0], options.alone)
        watch.cancel()
        ended = await _ended(http, keys, process, options)
    best = statistics.median(ideal.seconds())
    alone = options.latency * statistics.mean(map(len, plan))
    rate, possible = len(load.turns) / lasted, options.users / (options.pause + alone)
    settled = [
        rss for at_s, rss in memory if at_s - (at - began) > 0.2 * options.seconds and at_s < at - began + lasted
    ]
    return {
        "users": options.users,
        "pause between questions (s, mean)": options.pause,
        "model latency (s)": options.latency,
        "workers": options.workers,
        "ideal": {
            **_figures(ideal),
            "ideal turn (s)": round(best, 3),
            "latency alone (s, mean)": round(alone, 3),
            "calls of a turn": round(statistics.mean(sum(map(len, bodies)) for bodies in plan), 2),
        },
        "bare client": bare,
        "load": {
            **_figures(load),
            "seconds": round(lasted, 1),
            "turns a second": round(rate, 2),
            "share of latency alone": round(rate / possible, 3),
            "share of the bare client": round(rate / bare["turns a second"], 3) if bare else None,
            "p99 against the ideal turn": round(_share(load.seconds(), 0.99) / best, 2),
            "p99 against the ideal p99": round(_share(load.seconds(), 0.99) / _share(ideal.seconds(), 0.99), 2),
            "refused": _refusals(load),
            **shares,
        },
        "memory of the service (MB)": {
            "at the beginning of the load": round(memory[0][1], 1) if memory else None,
            "after a fifth of it": round(settled[0], 1) if settled else None,
            "at its end": round(settled[-1], 1) if settled else None,
            "most": round(max(rss for _, rss in memory), 1) if memory else None,
        },
        "overload": {"sent at once": options.flood, **_figures(flood), "refused": _refusals(flood)},
        "recovery": _figures(after),
        "ended by SIGTERM": {"turns under way": options.under_way, **_figures(ended), "refused": _refusals(ended)},
        "machine": {"cores": os.cpu_count(), "load average": [round(each, 1) for each in os.getloadavg()]},
        "memory": [(round(at_s, 1), round(rss, 1)) for at_s, rss in memory],
        "turns": [(round(at_s - began, 1), round(seconds, 3)) for at_s, seconds in load.turns],
        "began": round(at - began, 1),
    }


async def _alone(http: httpx.AsyncClient, key: str, turns: int) -> Seen:
    seen = Seen()
    for n in range(turns):
        await _ask(http, key, f"alone {n}", QUESTIONS[n % len(QUESTIONS)], seen)
    return seen


async def _plan(http: httpx.AsyncClient, key: str, model: ModelProcess) -> list[Bodies]:
    """The calls of a model in a turn of each question, in a session as the users have them."""
    plan = []
    for question in QUESTIONS:
        model.forget()
        await _ask(http, key, "plan", question, Seen())
        plan.append(model.counted().bodies)
    model.forget()
    return plan


async def _bare(url: str, plan: list[Bodies], users: int, options: argparse.Namespace) -> dict[str, Any]:
    """As many users with the same pauses, whose turns are the calls alone, by the client library."""
    if not options.bare:
        return {}
    library, seconds = Library(url), list[float]()
    began = time.monotonic()
    until = began + options.bare

    async def user(number: int) -> None:
        chance = random.Random(number)
        await asyncio.sleep(min(chance.uniform(0, options.pause), options.bare))
        while time.monotonic() < until:
            at = time.monotonic()
            await replayed(chance.choice(plan), library.call)
            seconds.append(time.monotonic() - at)
            await _rest(chance, options.pause, until)

    busy = time.process_time()
    await asyncio.gather(*map(user, range(users)))
    lasted, busy = time.monotonic() - began, time.process_time() - busy
    return {
        "turns a second": round(len(seconds) / lasted, 2),
        "p50 (s)": round(_share(sorted(seconds), 0.5), 3),
        "p99 (s)": round(_share(sorted(seconds), 0.99), 3),
        "CPU of a turn (ms)": round(1000 * busy / max(1, len(seconds)), 1),
    }


async def _user(
    http: httpx.AsyncClient, key: str, number: int, options: argparse.Namespace, until: float, seen: Seen
) -> None:
    chance = random.Random(number)
    await asyncio.sleep(min(chance.uniform(0, options.pause), options.seconds))
    while time.monotonic() < until:
        await asyncio.sleep(await _ask(http, key, "session", chance.choice(QUESTIONS), seen))
        await _rest(chance, options.pause, until)


async def _rest(chance: random.Random, mean: float, until: float) -> None:
    """A pause between two questions, no longer than what is left."""
    pause = chance.expovariate(1 / mean) if mean else 0.0
    await asyncio.sleep(min(pause, max(0.0, until - time.monotonic())))


async def _flood(http: httpx.AsyncClient, keys: list[str], count: int) -> Seen:
    seen = Seen()
    asked = (_ask(http, keys[n % len(keys)], f"flood {n}", QUESTIONS[n % len(QUESTIONS)], seen) for n in range(count))
    await asyncio.gather(*asked)
    return seen


async def _ended(
    http: httpx.AsyncClient, keys: list[str], process: "subprocess.Popen[str]", options: argparse.Namespace
) -> Seen:
    """Turns that are under way when SIGTERM comes."""
    seen, keyed = Seen(), [keys[n % len(keys)] for n in range(options.under_way)]
    asked = [asyncio.create_task(_ask(http, key, f"end {n}", QUESTIONS[0], seen)) for n, key in enumerate(keyed)]
    await asyncio.sleep(options.latency / 2)
    process.send_signal(signal.SIGTERM)
    await asyncio.gather(*asked)
    return seen


async def _ask(http: httpx.AsyncClient, key: str, session: str, question: str, seen: Seen) -> float:
    """Asks once; gives back how many seconds the service says to wait, where it refuses."""
    began = time.monotonic()
    body = {"question": question, "session": session}
    try:
        reply = await http.post("/v1/ask", json=body, headers={"Authorization": f"Bearer {key}"})
    except httpx.HTTPError as error:
        seen.others[type(error).__name__] += 1
        return 1.0
    now = time.monotonic()
    if reply.status_code == 200:
        seen.turns.append((now, now - began))
        seen.others["degraded"] += reply.json()["degraded"]
        return 0.0
    seen.others[f"{reply.status_code} {reply.json()['error']['code']}"] += 1
    seen.refused.append(now - began)
    return float(reply.headers.get("Retry-After", 1.0))


def _figures(seen: Seen) -> dict[str, Any]:
    seconds = seen.seconds()
    others = {name: count for name, count in seen.others.items() if count}
    return {
        "answered": len(seconds),
        "errors": sum(others.values()),
        "what came instead": others,
        "p50 (s)": round(_share(seconds, 0.5), 3),
        "p99 (s)": round(_share(seconds, 0.99), 3),
        "slowest (s)": round(seconds[-1], 3) if seconds else None,
    }


def _refusals(seen: Seen) -> dict[str, Any]:
    waited = sorted(seen.refused)
    return {"count": len(waited), "p50 (s)": round(_share(waited, 0.5), 3), "p99 (s)": round(_share(waited, 0.99), 3)}


def _share(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


async def _watch(pid: int, began: float, memory: list[tuple[float, float]]) -> None:
    while True:
        memory.append((time.monotonic() - began, _rss(pid)))
        await asyncio.sleep(1)


def processes_of(pid: int) -> list[int]:
    """The process and its workers."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split())]


def _rss(pid: int) -> float:
    kept = (Path(f"/proc/{each}/status").read_text("utf-8") for each in processes_of(pid))
    return sum(int(found[1]) / 1000 for status in kept if (found := re.search(r"VmRSS:\s+(\d+) kB", status)))


def _cpu(pid: int) -> float:
    stats = (Path(f"/proc/{each}/stat").read_text("utf-8").rpartition(")")[2].split() for each in processes_of(pid))
    return sum(int(parts[11]) + int(parts[12]) for parts in stats) / os.sysconf("SC_CLK_TCK")


def prepare(folder: Path, users: int) -> list[str]:
    with Selfright.open(folder / "index", embedder="none", home=folder / "home") as selfright:
        report = selfright.add([DOCUMENTS])
    print(f"indexed {report.added} documents", file=sys.stderr)
    ring = KeyRing(folder / "home")
    keys = [ring.add(f"user {n}")[1] for n in range(users)]
    ring.close()
    return keys


@contextmanager
def served(folder: Path, model: str, options: argparse.Namespace) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    variables = {
        "SELFRIGHT_INDEX": str(folder / "index"),
        "SELFRIGHT_HOME": str(folder / "home"),
        "SELFRIGHT_EMBEDDER": "none",
        "SELFRIGHT_LLM": "openai:scripted",
        "SELFRIGHT_BASE_URL": model,
        "SELFRIGHT_PRESET": options.preset,
        "SELFRIGHT_SERVE_TURNS": str(options.turns),
        "SELFRIGHT_SERVE_QUEUE": str(options.queue),
        "OPENAI_API_KEY": "none",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "selfright", "serve", "--port", "0", "--workers", str(options.workers)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    try:
        yield process, _url(process)
    finally:
        process.kill()
        process.wait()


def _url(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"listens on (http://\S+?);", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()  # or its pipe fills
            return found[1]
        print(line, end="", file=sys.stderr)
    raise SystemExit("the service did not start")


def _drawn(report: dict[str, Any]) -> dict[str, str]:
    """Turns and memory over time, as SVG by the name of the file."""
    across, turns = "seconds since the start", report["turns"]
    some = [tuple(turn) for turn in turns[:: 1 + len(turns) // 1_000]]
    memory = [tuple(one) for one in report["memory"]]
    return {
        "service-load.svg": line_plot("Seconds of a turn", across, "seconds", {"a turn": some}, marks="o"),
        "service-load-memory.svg": line_plot("Memory of the service", across, "MB", {"memory": memory}, marks="-"),
    }


def drawn_curve(report: dict[str, Any]) -> dict[str, str]:
    """Turns a second and seconds of a turn over the number of users, as SVG by the name of the file."""
    rows = report["rows"]

    def drawn(title: str, unit: str, lines: Mapping[str, list[float]]) -> str:
        found = {
            name: [(row["users"], value) for row, value in zip(rows, values, strict=True)]
            for name, values in lines.items()
        }
        return line_plot(title, "users at the same time", unit, found)

    bare = [row["bare client"].get("turns a second", 0.0) for row in rows]
    turns = {"service": [row["turns a second"] for row in rows], "client library alone": bare}
    seconds = {"median": [row["p50 (s)"] for row in rows], "99th percentile": [row["p99 (s)"] for row in rows]}
    return {
        "service-curve.svg": drawn("Turns answered a second", "turns a second", turns),
        "service-curve-seconds.svg": drawn("Seconds of an answered turn", "seconds", seconds),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of each call of the model")
    parser.add_argument("--pause", type=float, default=30.0, help="seconds between a user's questions, on average")
    parser.add_argument("--alone", type=int, default=16, help="turns of the one user that makes the ideal")
    parser.add_argument("--turns", type=int, default=64, help="serve_turns of the service")
    parser.add_argument("--queue", type=int, default=64, help="serve_queue of the service")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")
    parser.add_argument("--bare", type=float, default=10.0, help="seconds of the bare client; 0: without it")
    parser.add_argument("--under-way", type=int, default=30, help="turns that run when SIGTERM comes")
    parser.add_argument("--curve", type=int, nargs="*", help="numbers of users, one after the other")
    parser.add_argument("--flood", type=int, default=300, help="questions sent at once in the overload phase")
    parser.add_argument("--preset", default="full")
    parser.add_argument("--out", type=Path, help="folder for service-load.json and its pictures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
