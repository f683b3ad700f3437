"""Kills a writer again and again and looks at what it left: nothing lost, nothing back, always opened.

    python -m benchmarks.crash_safety [--kills 300] [--seed N] [--sweep] [--power-loss] [--small-thresholds]
                                      [--readers COMMITS] [--out FILE]

The kills hit an index that goes on living, a new one now and then, beside a reader that stays open: at random times,
and (on Linux) at random changes of the folder, inside commits and compactions too, where a write may also be torn.
``--sweep`` takes one commit, one compaction and one recovery and kills at *each* of their changes. ``--power-loss``
also drops, file by file and by chance, what was not synced. ``--readers`` measures how soon readers in other
processes see a commit, instead. The exit code is 1 when anything was wrong; each failure is printed with its seed.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support import points
from tests.support.crashing import Aim, Start, copied, isolated, kill_after, kill_at
from tests.support.examining import Crash, Examination, examine
from tests.support.following import Reader, follow
from tests.support.histories import Model
from tests.support.power import Disk

KINDS = ("lost", "resurrected", "unopenable", "partial", "misranked", "unsound", "reader", "failed")
_LIFE = 15  # kills that one index goes through
_LONGEST = 0.7  # seconds until a kill by time
_MOST_CHANGES = 500  # of the folder, until a kill by place


@dataclass
class Tally:
    """What became of the kills: how many in each phase and at each kind of change, and what was wrong."""

    seed: int = 0
    kills: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, name: str, crash: Crash, wrong: dict[str, str]) -> None:
        self.kills += crash.point != "ran to its end"
        self.phases[crash.phase] += 1
        self.places["by time" if crash.point.startswith("after") else crash.point.split("/")[0]] += 1
        if crash.phase.startswith("failed"):
            wrong = {**wrong, "failed": crash.phase}
        for kind, what in wrong.items():
            self.wrong[kind] += 1
            self.failures.append(f"{name} [{crash.phase}: {crash.point}] {kind}: {what}")
            print(f"\n{self.failures[-1]}", flush=True)

    def report(self) -> None:
        print(f"\n{self.kills} kills by phase: {dict(self.phases.most_common())}")
        print(f"by place: {dict(self.places.most_common(25))}")
        print("wrong: " + ", ".join(f"{kind} {self.wrong[kind]}" for kind in KINDS))


@dataclass
class Life:
    """An index that goes through many kills, and what is known of it."""

    folder: Path
    model: Model | None = None
    erased: list[str] = field(default_factory=list)
    number: int = 0

    def start(self, seed: int, small: bool) -> Start:
        log = self.folder.with_name(f"{self.folder.name}-{self.number}.log")
        log.unlink(missing_ok=True)
        return Start(self.folder, log, self.model, seed, self.number, small_thresholds=small)

    def go_on(self, crash: Crash, found: Examination) -> None:
        """Takes over what is there, for better or worse, so that one failure is counted once."""
        for state in (self.model or {}, *crash.allowed):
            self.erased += [text for name, text in state.items() if found.model.get(name) != text]
        self.model = found.model if found.exists else None
        self.number += 1_000


def kill_once(start: Start, chance: random.Random, disk: Disk | None) -> Crash:
    """One kill of one of the kinds."""
    kinds = ("time", "place", "commit", *(("compact",) if hasattr(EmbeddedStore, "compact") else ()))
    kind = chance.choice(kinds) if points.SUPPORTED else "time"
    if kind == "time" and disk is None:
        return kill_after(start, chance.uniform(0, _LONGEST))
    aim = Aim(chance.randint(1, _MOST_CHANGES), torn=chance.random() < 0.5)
    if kind in ("commit", "compact"):
        start = replace(start, compacts=kind == "compact")
        aim = Aim(chance.randint(1, _MOST_CHANGES // 4), kind, aim.torn)
    if disk:
        aim.observe = disk.observe
    return kill_at(start, aim)


def one_life(place: Path, seed: int, kills: int, options: argparse.Namespace, tally: Tally) -> None:
    """Kills the writers of one index, one after another, while a reader stays open."""
    life, reader = Life(place / f"index-{seed}"), None
    for number in range(kills):
        name, chance = f"seed {seed} kill {number}", random.Random(f"{seed}/{number}")
        disk = Disk(life.folder, place / "synced") if options.power_loss else None
        crash = kill_once(life.start(chance.getrandbits(30), options.small_thresholds), chance, disk)
        if disk:
            disk.lose(chance)
        found, died = isolated(examine, life.folder, crash, life.erased)
        found = found or Examination(wrong={"unopenable": str(died)})
        life.go_on(crash, found)
        if reader:
            found.wrong |= reader.check(life.model or {}, life.erased)
        tally.add(name, crash, found.wrong)
        if died:
            break
        if reader is None and found.exists and disk is None:
            reader = Reader(life.folder)
        print(".", end="", flush=True)
    if reader:
        reader.close()


def sweep(place: Path, seed: int, options: argparse.Namespace, tally: Tally) -> None:
    """Kills at each change of a commit, of a compaction, and of the recovery after a kill within a commit."""
    base, aim = place / "base", Aim(10**9)
    first = Start(base, place / "base.log", None, seed, 0, 4, small_thresholds=options.small_thresholds)
    crash = kill_at(first, aim)
    begin = replace(first, model=crash.before, seed=seed + 1, number=1_000, commits=1, compacts=True)
    for phase in ("commit", "compact"):
        _sweep_from(replace(begin, folder=base), phase, place, tally)
    broken = copied(base, place / "broken")
    log = place / "broken.log"
    crash = kill_at(replace(begin, folder=broken, log=log), Aim(40, "commit"))
    found, _ = isolated(examine, copied(broken, place / "looked-at"), crash, [])
    _sweep_from(replace(begin, folder=broken, model=found.model), "open", place, tally)


def _sweep_from(begin: Start, phase: str, place: Path, tally: Tally) -> None:
    number = 0
    while True:
        number += 1
        folder = copied(begin.folder, place / "swept")
        log = place / "swept.log"
        log.unlink(missing_ok=True)
        crash = kill_at(replace(begin, folder=folder, log=log), Aim(number, phase, torn=number % 2 == 0))
        if crash.phase != phase:  # it has come through the phase
            return
        found, died = isolated(examine, folder, crash, [])
        tally.add(f"sweep of {phase}, change {number}", crash, found.wrong if found else {"unopenable": str(died)})
        print(".", end="", flush=True)


def readers_beside_a_writer(folder: Path, commits: int) -> int:
    """Prints how soon readers see commits; gives back how many problems they had."""
    delays, seen = follow(folder, commits)
    problems = [problem for one in seen for problem in one.problems]
    milliseconds = sorted(delay * 1e3 for delay in delays)
    print(
        f"{len(seen)} readers, {sum(one.searches for one in seen)} searches, {len(delays) // len(seen)} commits; seen "
        f"after {statistics.median(milliseconds):.1f} ms in the median, {milliseconds[-1]:.1f} ms at worst; "
        f"{len(problems)} problems"
    )
    for problem, count in Counter(problems).most_common(5):
        print(f"{count:5} x {problem}")
    return len(problems) + sum(delay > 1 for delay in delays)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sweep", action="store_true", help="also kill at each change of a commit (Linux)")
    parser.add_argument("--power-loss", action="store_true", help="also drop what was not synced (Linux)")
    parser.add_argument("--small-thresholds", action="store_true", help="let the dense index change its kind early")
    parser.add_argument("--readers", type=int, metavar="COMMITS", help="measure readers beside a writer instead")
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    started, tally = time.perf_counter(), Tally(options.seed)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if options.readers:
            return 1 if readers_beside_a_writer(place / "index", options.readers) else 0
        life = options.seed * 1_000
        while tally.kills < options.kills:
            one_life(place, life, min(_LIFE, options.kills - tally.kills), options, tally)
            life += 1
        if options.sweep and points.SUPPORTED:
            sweep(place, options.seed, options, tally)
    tally.report()
    print(f"{time.perf_counter() - started:.0f} s")
    if options.out:
        options.out.write_text(json.dumps(vars(tally), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
