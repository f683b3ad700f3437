"""Hybrid search beside that of five peers: each in an environment and a process of its own, over the same collection.

    python -m benchmarks.hybrid [--passages 20000,100000,1000000] [--systems selfright,lancedb,...] [--merge]

The collection is synthetic (see ``benchmarks.peers.collection``). Environments and collections are kept in ``--envs``.
Every result is a JSON file in ``--out``; ``--merge`` measures only what has none yet, so a run that was broken off
goes on.
Then the tables and the plot are written into the page. Needs Linux, and up to 15 GB of disk for a million passages.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.peers import measures, reporting
from benchmarks.peers.collection import made, make
from benchmarks.peers.systems import ROOT, SYSTEMS, System, python_of

CACHE = Path.home() / ".cache" / "selfright-benchmarks"
REFERENCE = "references.json"
_LOOK_EVERY = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [system for system in SYSTEMS if system.name in options.systems]
    for passages in options.passages:
        data = options.envs / "data" / str(passages)
        wanted = [s for s in chosen if not (options.merge and _file(options, s, passages).exists())]
        if wanted and not made(data, passages):
            _say(f"making {passages:,} passages")
            make(data, passages)
        for system in wanted:
            _measure(system, passages, data, options)
    _report(options)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [system.name for system in SYSTEMS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=_sizes, default=[20_000, 100_000, 1_000_000], help="sizes, with commas")
    parser.add_argument("--systems", type=_names, default=names, help=f"of {','.join(names)}")
    parser.add_argument("--queries", type=int, default=200, help="at most 500")
    parser.add_argument("--depth", type=int, default=10, help="candidates of each half of a peer; ours: always 100")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=60, help="for the queries of one system, at least ten are asked"
    )
    parser.add_argument("--minutes", type=float, default=40, help="for one phase of one system")
    parser.add_argument("--memory", type=float, default=18, help="GB of a process, files not counted")
    parser.add_argument("--envs", type=Path, default=CACHE, help="folder of environments and collections")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "benchmarks")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md")
    parser.add_argument("--embeddings", choices=("synthetic",), default="synthetic")
    parser.add_argument("--merge", action="store_true", help="keep the results there are, measure the missing ones")
    options = parser.parse_args(arguments)
    options.envs, options.out = options.envs.resolve(), options.out.resolve()
    return options


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - {system.name for system in SYSTEMS}:
        raise argparse.ArgumentTypeError(f"expected names among {[s.name for s in SYSTEMS]}, but got {sorted(unknown)}")
    return names


def _measure(system: System, passages: int, data: Path, options: argparse.Namespace) -> None:
    """Builds, opens and measures one system, and keeps its record; a failure becomes a part of the record."""
    index, started = data / f"index-{system.name}", time.perf_counter()
    shutil.rmtree(index, ignore_errors=True)
    index.mkdir()
    record: dict[str, Any] = {"system": system.name, "passages": passages, "queries": options.queries}
    record |= _circumstances(system)
    try:
        python = python_of(system, options.envs / "environments")
        record |= _phase("build", system, python, passages, data, options)
        if record.get("saved") and "error" not in record:
            record |= _phase("open", system, python, passages, data, options)
    except subprocess.CalledProcessError as error:
        record["error"] = f"its environment could not be made: {error}"
    finally:
        shutil.rmtree(index, ignore_errors=True)
    record["overlap"] = _overlap(record, data)
    record.pop("hits", None)
    _file(options, system, passages).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    _say(f"{system.name} at {passages:,}: {_summary(record)}; {time.perf_counter() - started:.0f} s in all")


def _phase(
    phase: str, system: System, python: Path, passages: int, data: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """What a worker process finds out; cut short, when it takes too long or too much."""
    out = data / f"record-{system.name}-{phase}.json"
    out.unlink(missing_ok=True)
    given = {"driver": f"benchmarks.peers.{system.driver}", "lives": system.lives, "passages": passages, "out": out}
    given |= {"data": data, "index": data / f"index-{system.name}"}
    given |= {name: getattr(options, name) for name in ("queries", "depth", "threads", "seconds")}
    command = [str(python), "-m", "benchmarks.peers.worker", phase]
    command += [part for name, value in given.items() for part in (f"--{name}", str(value))]
    with (data / f"{system.name}-{phase}.log").open("w") as log:
        worker = subprocess.Popen(
            command, cwd=ROOT, env=_environment(options.threads), stdout=log, stderr=subprocess.STDOUT
        )
        problem, highest = _watch(worker, options.minutes * 60, options.memory * 1024)
    record: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    if phase == "build":
        record["building_mb"] = highest
    return record | ({"error": f"{phase}: {problem}"} if problem else {})


def _watch(worker: "subprocess.Popen[bytes]", seconds: float, limit: float) -> tuple[str, float]:
    """Waits for the worker. Gives what went wrong, if anything, and the most memory seen (MB, files not counted)."""
    highest, ends, problem = 0.0, time.monotonic() + seconds, ""
    while worker.poll() is None and not problem:
        time.sleep(_LOOK_EVERY)
        highest = max(highest, measures.memory(worker.pid).get("anonymous_mb", 0.0))
        if highest > limit:
            problem = f"stopped at {limit / 1024:.0f} GB of memory"
        elif time.monotonic() > ends:
            problem = f"stopped after {seconds / 60:.0f} minutes"
    if problem:
        worker.kill()
    code = worker.wait()
    return problem or (f"failed with exit code {code}, see its log" if code else ""), highest


def _environment(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
    # No system is to call home, or to write a warning for every query.
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "ANONYMIZED_TELEMETRY": "False", "LANCE_LOG": "error"}
    return {**os.environ, **dict.fromkeys(names, str(threads)), **quiet}


def _overlap(record: dict[str, Any], data: Path) -> float | None:
    """How much of the exact hybrid's ten was found; its halves are taken as deep as this system's."""
    references: dict[str, Any] = record.pop("references", {})
    if references:
        (data / REFERENCE).write_text(json.dumps(references))
    kept = data / REFERENCE
    exact = json.loads(kept.read_text()).get(str(record.get("depth"))) if kept.exists() else None
    return round(measures.shared(record["hits"], exact), 4) if exact and record.get("hits") else None


def _circumstances(system: System) -> dict[str, str]:
    own = ["faiss-cpu", "numpy", "selfright", "tantivy"]
    versions = system.requirements or [f"{name}=={metadata.version(name)}" for name in own]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"machine": _machine(), "date": today, "versions": ", ".join(v.replace("==", " ") for v in versions)}


def _machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GB, Python {platform.python_version()}"


def _summary(record: dict[str, Any]) -> str:
    names = ("build_s", "p50_ms", "p99_ms", "sync_p50_ms", "rss_mb", "open_s", "add_s", "recall", "overlap", "error")
    return ", ".join(f"{name} {record[name]}" for name in names if record.get(name) is not None)


def _report(options: argparse.Namespace) -> None:
    """Writes tables and plot from all records there are, of this run and of earlier ones."""
    records = [json.loads(path.read_text()) for path in sorted(options.out.glob("hybrid-*.json"))]
    (options.out / "hybrid.svg").write_text(reporting.plot(records))
    text = options.page.read_text() if options.page.exists() else "# Benchmarks\n"
    where = os.path.relpath(options.out / "hybrid.svg", options.page.resolve().parent)
    options.page.write_text(reporting.page(text, records, where))
    _say(f"wrote {options.page}")


def _file(options: argparse.Namespace, system: System, passages: int) -> Path:
    path: Path = options.out / f"hybrid-{system.name}-{passages}.json"
    return path


def _say(text: str) -> None:
    print(f"{datetime.datetime.now().astimezone():%H:%M:%S} {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
