"""Damages every file of an index in every way, and looks whether a wrong answer comes out in silence.

    python -m benchmarks.damage [--flips 20] [--only TEXT] [--repair] [--out FILE]

Two indexes are harmed: one that was closed, and one whose writer was killed. Each file is emptied, cut, zeroed,
deleted, lengthened, and has random bits flipped (half of them with the file's time kept). ``same``: the answers are
those from before. ``named``: an error that names the file and what to do. ``unclear`` (an error that does not),
``embedded anew``, ``WRONG`` and ``CRASH`` are failures, and the exit code is 1. ``unnoticed`` counts those of ``same``
whose file is still harmed though no warning and no ``verify`` says so: what is not used was harmed. With ``--repair``
each case is also repaired: nothing may be lost unless the catalogue was harmed, and then that is named.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tests.support.crashing import copied, isolated
from tests.support.damaging import GOOD, MAKERS, Damage, Told, ask, damages, judge
from tests.support.repairing import judge_repair

CLASSES = ("same", "named", "unclear", "embedded anew", "WRONG", "CRASH", "unnoticed", "bad repair")


def kind_of(file: str) -> str:
    """Files of one kind have one row: numbers and random names are left out."""
    return re.sub(r"[0-9a-f]{32}", "*", re.sub(r"-\d+(?=/|$|\.)", "-*", file))


def show(table: dict[str, Counter[str]]) -> None:
    print(f"\n{'file':48}" + "".join(f"{name:>15}" for name in CLASSES))
    for file, counts in sorted(table.items()):
        print(f"{file:48}" + "".join(f"{counts[name] or '-':>15}" for name in CLASSES))
    print(f"{'all':48}" + "".join(f"{sum(counts[name] for counts in table.values()):>15}" for name in CLASSES))


class Trial:
    """All damages of one index, and what became of them."""

    def __init__(self, place: Path, index: str, options: argparse.Namespace) -> None:
        self.index = index
        self._place = place
        self._options = options
        self.table: dict[str, Counter[str]] = defaultdict(Counter)
        self.lines: list[dict[str, str]] = []
        expected, died = isolated(ask, copied(place / index, place / "sound"))
        if not isinstance(expected, Told):
            raise SystemExit(f"the sound index ({index}) cannot be read: {expected or died}")
        self._expected = expected

    def run(self) -> int:
        """Tries all of them; how many failed."""
        chosen = [
            one for one in damages(self._place / self.index, self._options.flips) if self._options.only in str(one)
        ]
        return sum(map(self._try, chosen))

    def _try(self, damage: Damage) -> bool:
        verdict = judge(copied(self._place / self.index, self._place / "harmed"), damage, self._expected)
        if verdict is None:
            return False
        counts = self.table[kind_of(damage.file)]
        counts[verdict.outcome] += 1
        counts["unnoticed"] += verdict.unnoticed
        problems = [] if verdict.outcome in GOOD else [f"{verdict.outcome}: {verdict.detail}"]
        if self._options.repair:
            bad = judge_repair(copied(self._place / self.index, self._place / "harmed"), damage, self._expected)
            counts["bad repair"] += bad is not None
            problems += [f"repair: {bad}"] if bad else []
        for problem in problems:
            print(f"{self.index}: {damage}: {problem}", flush=True)
        line = {"outcome": verdict.outcome, "detail": verdict.detail, "problems": "; ".join(problems)}
        self.lines.append({"index": self.index, "damage": str(damage), **line})
        return bool(problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=20, help="random bits for each file")
    parser.add_argument("--only", default="", help="only damages whose name contains this")
    parser.add_argument("--repair", action="store_true", help="also repair each case and look again")
    parser.add_argument("--out", type=Path, help="write all cases there as JSON lines")
    options = parser.parse_args()
    failures, lines = 0, []
    with tempfile.TemporaryDirectory() as name:
        for index, make in MAKERS:
            make(Path(name) / index)
            trial = Trial(Path(name), index, options)
            failures += trial.run()
            lines += trial.lines
            print(f"\nindex that was {index}")
            show(trial.table)
    if options.out:
        options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
