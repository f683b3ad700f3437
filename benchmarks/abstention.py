"""How well the offline roles know when they do not know: risk against coverage, per set.

    python -m benchmarks.abstention --data DIR [--limit 500] [--sets squad2 clapnq] [--cache DIR] [--field DIR]

Wrong is an answer without a gold string, or any answer to an unanswerable question. ``full`` answers everything; then
answers are taken by the abstention model's probability, by the support it replaced, and by the best retrieval score.
The area under the risk–coverage curve (AURC) is the mean risk over all coverages; "ideal" puts all right answers first.
``--field`` has a folder of documents for each set ``field_…``, or ``desk_…`` (those that ``training.desk`` holds back).
The sets the model was fitted on flatter here; ``measured`` in ``abstain.json`` has the held-out figures.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from selfright.roles.abstain import load_model
from selfright.roles.calibration.measures import Array, auc, aurc, calibration_error, risk_coverage
from training.whole_turns import DESK, FIELD, TASKS, Row, rows

COLUMNS = (
    "set",
    "answers",
    "risk",
    "AUC",
    "ECE",
    "AURC",
    "ideal",
    "support",
    "rrf",
    "bm25",
    "cosine",
    "ratio",
    "at 10 %",
)


def probabilities(found: Sequence[Row]) -> Array:
    """What the shipped model makes of each answer."""
    scorer = load_model().scorer
    return np.array([scorer.probability(row.x) for row in found if row.x is not None])


def line(name: str, found: Sequence[Row]) -> str:
    """One row of the table."""
    p, right = probabilities(found), np.array([float(row.right) for row in found])
    wrong = 1 - right
    by_score = [aurc([row.retrieval[score] for row in found], wrong) for score in ("rrf", "bm25", "cosine")]
    # Chosen on the rows it is measured on, the last column flatters.
    area, sure = aurc(p, wrong), [point.coverage for point in risk_coverage(p, wrong) if point.risk <= 0.1]
    figures = [wrong.mean(), auc(p, right), calibration_error(p, right), area, aurc(right, wrong)]
    figures += [
        aurc([row.support for row in found], wrong),
        *by_score,
        area / by_score[0],
        max(sure, default=0),
    ]
    return f"{name:16} {len(found):8}" + "".join(f"{figure:8.3f}" for figure in figures)


def refusals(found: Sequence[Row]) -> str:
    """What the shipped threshold does."""
    p, threshold = probabilities(found), load_model().threshold
    given = p >= threshold
    right = np.array([row.right for row in found])
    answerable = np.array([row.answerable for row in found])
    return (
        f"   refused under {threshold}: {np.mean(~given[~answerable]):.0%} of the unanswerable, "
        f"{np.mean(~given[answerable]):.0%} of the answerable, {np.mean(~given[right]):.0%} of the right answers"
        if (~answerable).any()
        else f"   refused under {threshold}: {np.mean(~given):.0%}, {np.mean(~given[right]):.0%} of the right answers"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--sets", nargs="+", choices=sorted((*TASKS, *FIELD, *DESK)), default=["squad2", "clapnq"])
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--field", type=Path)
    arguments = parser.parse_args()
    print(f"{COLUMNS[0]:16} {COLUMNS[1]:>8}" + "".join(f"{column:>8}" for column in COLUMNS[2:]))
    for name in arguments.sets:
        found = rows(arguments.data, [name], arguments.limit, arguments.cache, arguments.field)
        judged = [row for row in found if row.x is not None]
        print(line(name, judged))
        print(refusals(judged), f"; refused by the writer: {sum(row.refused for row in found)}", flush=True)


if __name__ == "__main__":
    main()
