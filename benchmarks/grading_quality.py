"""How well retrievals are graded and refined with the weights that ship.

    python -m benchmarks.grading_quality --data DIR [--limit 300] [--no-reader]

First the held-out figures that were measured when the weights were fitted, with the encoder's cosines, then those of
the weights as they ship on the given data without cosines: sets they were trained on flatter there. bioasq, korquad and
liveqa were never trained on.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from selfright.domain.judgements import Grading
from selfright.domain.passages import Hit, Refinement
from selfright.domain.ports import PairJudge, TermStatistics, Tokenizer
from selfright.models.reader import PairViews, load_net
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from training.fitting import auc, calibration_error
from training.labelled import MEASURED_ON, TRAINED_ON, Case


class Judges:
    """A grader and a refiner for each corpus."""

    def __init__(self, tokenizer: Tokenizer, reader: PairJudge | None) -> None:
        self._tokenizer = tokenizer
        self._reader = reader
        self._made: dict[int, tuple[TermStatistics, OfflineGrader, OfflineRefiner]] = {}

    def __call__(self, case: Case) -> tuple[Grading, Refinement, float, float]:
        """The grading, the refinement, and the milliseconds each took."""
        key = id(case.statistics)
        if key not in self._made:
            analyzer = TextAnalyzer(self._tokenizer, case.statistics)
            grader = OfflineGrader(analyzer, reader=self._reader)
            roles = grader, OfflineRefiner(UnitScorer(analyzer, self._reader))
            self._made[key] = case.statistics, *roles
        _, grader, refiner = self._made[key]
        hits = [Hit(c.passage, 1 / (60 + rank)) for rank, c in enumerate(case.candidates, 1)]
        start = time.perf_counter()
        grading = grader.grade_now(case.question, hits)
        middle = time.perf_counter()
        refinement = refiner.filter(case.question, hits, grading)
        return grading, refinement, 1000 * (middle - start), 1000 * (time.perf_counter() - middle)


def line(name: str, cases: Sequence[Case], judges: Judges) -> str:
    """One row of the table."""
    judged = [judges(case) for case in cases]
    p = np.array([g.probability or 0.0 for grading, *_ in judged for g in grading.grades])
    y = np.array([c.label for case in cases for c in case.candidates])
    holds = np.array([any(c.label for c in case.candidates) for case in cases])
    verdicts = [str(grading.verdict) for grading, *_ in judged]
    shares = []
    for side in (True, False):
        counts = Counter(v for v, h in zip(verdicts, holds, strict=True) if h == side)
        shares.append("/".join(f"{100 * counts[v] / max(1, counts.total()):.0f}" for v in ORDER))
    removed = np.mean([refinement.removed_share for _, refinement, _, _ in judged])
    grading_ms, refining_ms = (np.median([times[i] for times in judged]) for i in (2, 3))
    return (
        f"{name:16} {len(cases):5} {auc(p, y):6.3f} {calibration_error(p, y):6.3f} {shares[0]:>12} {shares[1]:>12}"
        f" {removed:8.2f} {grading_ms:9.1f} {refining_ms:9.1f}"
    )


ORDER = ("correct", "ambiguous", "incorrect")


def held_out() -> None:
    """Prints what was measured held out, each passage graded in its retrieved set."""
    print(
        "held out, when the weights were fitted:\nvariant   set                                     AUC    ECE   rows"
    )
    file = files("selfright.roles.grade") / "weights.json"
    for title, figures in json.loads(file.read_text(encoding="utf-8"))["measured"].items():
        if title.endswith((", in their set", ", unseen")):
            for dataset, found in figures.items():
                ece = f"{found['ece']:6.3f}" if "ece" in found else "     -"
                print(f"{title.split(',')[0]:9} {dataset:36} {found['auc']:6.3f} {ece} {found['rows']:6}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--no-reader", action="store_true")
    parser.add_argument("--sets", default="", help="comma-separated names; all by default")
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer = BilingualTokenizer()
    judges = Judges(tokenizer, None if arguments.no_reader else PairViews(load_net()).questions)
    held_out()
    print("verdicts in percent: correct/ambiguous/incorrect")
    print("set              cases    AUC    ECE   has answer    hasn't it  removed  grade ms refine ms")
    wanted = set(filter(None, arguments.sets.split(",")))
    for loader in (*MEASURED_ON, *TRAINED_ON):
        if not wanted or loader.__name__ in wanted:
            print(line(loader.__name__, list(loader(arguments.data, tokenizer, arguments.limit)), judges), flush=True)


if __name__ == "__main__":
    main()
