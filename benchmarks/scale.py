"""What 10⁸ and 10¹⁰ passages and 10⁴ turns a second would need, on paper, from constants that were measured.

    python -m benchmarks.scale                        the plan, from what was measured before
    python -m benchmarks.scale --measure --data DIR   measures anew what it can here (minutes), then plans
    python -m benchmarks.scale --write docs/scale.md  puts the tables into the page

Growth is taken from the results of ``benchmarks.hybrid`` in docs/benchmarks; ``DIR`` holds BEIR-layout folders. Nothing
here says that such an installation was run: it says where arithmetic puts the first bottleneck.
"""

import argparse
import itertools
import json
import math
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.queueing import Load, Outcome, Service, Simulation, Work, lognormal

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "docs" / "benchmarks"
MEASURED = RESULTS / "scale.json"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# A machine to count in, and how full a core may be planned.
CORES, MEMORY, DISK, FULL = 16, 128e9, 4e12, 0.7
SHARD = 5_000_000  # passages; what one search of a shard costs is linear in it

# Of docs/figures.md, "Turns with a model, in time" and "With a scripted model".
TURN_CORE_S = 0.045
TURNS = {"with a model": TURN_CORE_S, "… and sessions kept": 1 / 11.5, "with none (`full` offline)": 0.159}
CALLS = {"basic": 1.04, "full, cascade": 2.40, "full, always": 6.53}
# The mean of these is the cascade's 2.4; most turns need a call or two, a few need many.
DRAWN_CALLS = (1, 1, 1, 1, 2, 2, 3, 3, 4, 6)


@dataclass(frozen=True)
class Growth:
    """What a passage costs beyond a fixed part, from two sizes: bytes, and seconds of a search."""

    disk: float
    memory: float
    search_fixed_s: float
    search_s: float
    build_s: float


def growth(small: dict[str, Any], large: dict[str, Any]) -> Growth:
    """The slopes between two results of ``benchmarks.hybrid``."""
    more: int = large["passages"] - small["passages"]

    def slope(name: str, unit: float) -> float:
        return float(large[name] - small[name]) * unit / more

    search = slope("sync_p50_ms", 1e-3)
    return Growth(
        slope("disk_mb", 1e6),
        slope("rss_mb", 1e6),
        large["sync_p50_ms"] * 1e-3 - search * large["passages"],
        search,
        large["build_s"] / large["passages"],
    )


def load_growth() -> Growth:
    small, large = (
        json.loads((RESULTS / f"hybrid-selfright-{size}.json").read_text(encoding="utf-8"))
        for size in (100_000, 1_000_000)
    )
    return growth(small, large)


# Measuring


def measure(data: Path) -> dict[str, Any]:
    """What an embedding and a turn's tokens cost here; seconds are of one core."""
    from benchmarks.retrieval_quality import documents
    from selfright.ingest.splitting import split
    from selfright.models.encoder import E5
    from selfright.retrieval.preparing import text_to_index

    sources = itertools.islice(documents(data / "bioasq" / "corpus.jsonl", "scale"), 400)
    texts = [text_to_index(passage) for source in sources for passage in split(source)]
    encoder = E5()
    encoder.embed(texts[:8])
    began = time.process_time()
    encoder.embed(texts[8:])
    each = (time.process_time() - began) / (len(texts) - 8)
    found: dict[str, Any] = {
        "embed_core_s": each,
        "embed_characters": sum(map(len, texts)) / len(texts),
        "turns": {
            name: tokens(judging) for name, judging in (("full, cascade", "cascade"), ("full, always", "always"))
        },
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    MEASURED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return found


def tokens(judging: str, count: int = 24) -> dict[str, float]:
    """Calls, tokens and searches a turn, over every n-th demo question with the scripted model."""
    from benchmarks.demo_answers import model
    from selfright import Selfright
    from selfright.cli.commands.demo import DATA

    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    chosen = questions[:: max(1, len(questions) // count)][:count]
    with (
        model("scripted", None) as named,
        tempfile.TemporaryDirectory() as folder,
        Selfright.open(f"{folder}/index", home=f"{folder}/home", llm_judging=judging, **named) as selfright,
    ):
        selfright.add([DATA / "documents"])
        answers = [selfright.ask(question["question"], preset="full") for question in chosen]
    return {
        "questions": len(answers),
        "calls": sum(answer.cost.llm_calls for answer in answers) / len(answers),
        "prompt": sum(answer.cost.prompt_tokens for answer in answers) / len(answers),
        "completion": sum(answer.cost.completion_tokens for answer in answers) / len(answers),
        "searches": sum(len(answer.iterations) for answer in answers) / len(answers),
    }


# The plan


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head(*cells: str) -> str:
    return f"{row(*cells)}\n|{'---|' * len(cells)}"


def index_table(costs: Growth, measured: dict[str, Any], sizes: Sequence[float]) -> Iterator[str]:
    held = f"machines of {CORES} cores, {MEMORY / 1e9:.0f} GB and {DISK / 1e12:.0f} TB to hold it"
    yield head("passages", "disk", "memory", held, "shards", "a search of all", "embedding", "building")
    for size in sizes:
        shards = math.ceil(size / SHARD)
        disk, memory = size * costs.disk, size * costs.memory
        yield row(
            power(size),
            f"{amount(disk)}B",
            f"{amount(memory)}B",
            f"{max(math.ceil(disk / DISK), math.ceil(memory / (0.8 * MEMORY))):,}",
            f"{shards:,}",
            f"{shards * shard_search(costs):,.1f} s of a core",
            core_time(size * measured["embed_core_s"]),
            core_time(size * costs.build_s),
        )


def shard_search(costs: Growth) -> float:
    """Seconds of a core for one search of a full shard."""
    return costs.search_fixed_s + costs.search_s * SHARD


def turn_table(costs: Growth, measured: dict[str, Any], turns: float, sizes: Sequence[float]) -> Iterator[str]:
    passes = measured["turns"]["full, cascade"]["searches"]
    searches = turns * passes
    yield head(f"what {turns:,.0f} turns a second need", "by", "figure")
    for name, seconds in TURNS.items():
        yield row(f"cores for the turns, {name}", f"{seconds * 1e3:.0f} ms a turn", cores(turns * seconds))
    for size in sizes:
        busy = searches * math.ceil(size / SHARD) * shard_search(costs)
        yield row(
            f"cores for searching {power(size)} passages, all shards", f"{passes:.2f} searches a turn", cores(busy)
        )
    yield row("… two shards, as routing by collection allows", "the same", cores(searches * shard_search(costs) * 2))
    for name, calls in CALLS.items():
        yield row(f"calls of a model, `{name}`", f"{calls:.2f} a turn", f"{turns * calls:,.0f} a second")
    for name, told in measured["turns"].items():
        read, written = turns * told["prompt"] / 1e6, turns * told["completion"] / 1e6
        each = f"{told['prompt']:,.0f} in, {told['completion']:,.0f} out a turn"
        yield row(f"tokens, `{name}`", each, f"{read:.1f} million in, {written:.2f} million out a second")


def judging_table(measured: dict[str, Any], prices: Sequence[float]) -> Iterator[str]:
    prompt, completion, core_hour = prices
    yield head("a million turns", "tokens in, billion", "out, billion", "dollars, at the prices assumed")
    for name, told in measured["turns"].items():
        cost = told["prompt"] * prompt + told["completion"] * completion  # prices and turns are by the million
        yield row(f"`{name}`", f"{told['prompt'] / 1e3:.2f}", f"{told['completion'] / 1e3:.3f}", f"{cost:,.0f}")
    yield row("own processes", "", "", f"{1e6 * TURN_CORE_S / FULL / 3600 * core_hour:,.2f}")


# The queue


@dataclass(frozen=True)
class Scenario:
    name: str
    load: Load
    service: Service
    work: Work


def scenarios(processes: int) -> list[Scenario]:
    """The share of the load that falls to some processes, so that a run takes seconds."""
    rate = FULL / TURN_CORE_S * processes
    calm = Service(processes)
    work = Work(lognormal(TURN_CORE_S, 0.5), DRAWN_CALLS, lognormal(0.8, 0.6))
    slow = Work(work.core, DRAWN_CALLS, lognormal(2.4, 0.6))
    failing = Work(work.core, DRAWN_CALLS, work.call, call_fails=0.05)
    dying = Service(processes, mtbf_s=600.0, restart_s=15.0)
    return [
        Scenario("steady", Load(rate), calm, work),
        Scenario("half as much", Load(rate / 2), calm, work),
        Scenario("bursts: 1.3 times as much for 10 s a minute", Load(rate, 1.3), calm, work),
        Scenario("bursts: twice as much for 10 s a minute", Load(rate, 2.0), calm, work),
        Scenario("the model three times as slow", Load(rate), calm, slow),
        Scenario("one call in twenty fails", Load(rate), calm, failing),
        Scenario("each process dies every ten minutes", Load(rate), dying, work),
    ]


def queue_table(processes: int, seconds: float, seed: int) -> Iterator[str]:
    yield head(
        "case", "turns", "busy", "p50 s", "p95 s", "p99 s", "refused", "waited too long", "lost", "degraded"
    )  # fmt: skip
    for case in scenarios(processes):
        found = Simulation(case.load, case.service, case.work, seconds, seed, warm_s=30.0).run()
        busy = found.busy_s / (processes * case.service.cores * seconds)
        ends = (found.refused, found.expired, found.lost)
        shares = [f"{end / found.arrived:.2%}" for end in ends]
        degraded = f"{found.degraded / max(1, found.served):.2%}"
        yield row(case.name, f"{found.arrived:,}", f"{busy:.0%}", *times(found), *shares, degraded)


def times(found: Outcome) -> list[str]:
    return [f"{found.time(share):.1f}" for share in (0.5, 0.95, 0.99)]


# Writing


def amount(value: float) -> str:
    for unit, size in (("P", 1e15), ("T", 1e12), ("G", 1e9)):
        if value >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value / 1e6:,.1f} M"


def power(size: float) -> str:
    return f"10{str(round(math.log10(size))).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def core_time(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:,.0f} core hours" if hours < 20_000 else f"{hours / 24 / 365:,.0f} core years"


def cores(busy: float) -> str:
    return f"{busy / FULL:,.0f} ({math.ceil(busy / FULL / CORES):,} machines)"


def report(options: argparse.Namespace) -> str:
    costs = load_growth()
    measured = measure(options.data) if options.measure else json.loads(MEASURED.read_text(encoding="utf-8"))
    constants = (
        f"A passage beyond the first 100,000: {costs.disk:,.0f} bytes of disk, {costs.memory:,.0f} of memory, "
        f"{costs.search_s * 1e9:.1f} ns of each search, {costs.build_s * 1e6:,.0f} µs to build; embedding "
        f"{measured['embed_core_s'] * 1e3:.1f} ms of a core, for {measured['embed_characters']:,.0f} characters."
    )
    parts = [
        constants,
        "\n".join(index_table(costs, measured, options.passages)),
        "\n".join(turn_table(costs, measured, options.turns, options.passages)),
        "\n".join(judging_table(measured, options.prices)),
        "\n".join(queue_table(options.processes, options.seconds, options.seed)),
    ]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=float, nargs="+", default=[1e8, 1e10])
    parser.add_argument("--turns", type=float, default=1e4, help="a second")
    parser.add_argument("--processes", type=int, default=16, help="simulated, with their share of the turns")
    parser.add_argument("--seconds", type=float, default=240.0, help="of the simulation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--prices", type=float, nargs=3, default=[0.15, 0.60, 0.04], metavar=("IN", "OUT", "HOUR"),
        help="dollars for a million tokens read and written, and for an hour of a core: assumptions, put in your own",
    )  # fmt: skip
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--data", type=Path, help="folder of the data sets, for --measure")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    if options.measure and not options.data:
        parser.error("--measure needs --data")
    text = report(options)
    print(text)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        options.write.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
