"""Two exports of the reader side by side: what they say of rows that nobody learnt from, and what they take.

    python -m training.compare_readers --rows W/rows-left.jsonl FOLDER FOLDER [--most 120]

The rows are those that ``training.reading`` leaves out. Of each set: AUC with either, the correlation of their
log-odds, the mean and the largest change, and how often both point at the same piece. Then the processor time of eight
pairs of 272 pieces, by turns.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.models.batching import batches
from selfright.models.reader import MOST_ASKED_PIECES, MOST_PASSAGE_PIECES, PairNet, Pieces
from training.fitting import auc
from training.reading_batches import example
from training.reading_rows import SUPPORTED, Row

Floats = NDArray[np.float64]
_TIMES = 20


def rows_by_set(file: Path, most: int) -> dict[str, list[Row]]:
    """At most ``most`` rows of each set of questions or claims, drawn with a seed."""
    found: dict[str, list[Row]] = defaultdict(list)
    with file.open(encoding="utf-8") as lines:
        for row in (Row(*json.loads(line)) for line in lines):
            found[f"{'claims' if row.is_claim else 'questions'} {row.dataset}"].append(row)
    drawn = {name: random.Random(0).sample(rows, min(most, len(rows))) for name, rows in sorted(found.items())}
    return {name: rows for name, rows in drawn.items() if len(set(map(is_right, rows))) == 2}


def is_right(row: Row) -> bool:
    """Whether the passage answers the question or supports the claim."""
    return row.label == SUPPORTED if row.is_claim else bool(row.label)


def read(net: PairNet, rows: Sequence[Row]) -> tuple[Floats, list[int]]:
    """Log-odds that each passage answers or supports, and the piece at which an answer most probably begins."""
    net.load()
    examples = [example(row) for row in rows]
    scores, places = np.zeros(len(rows)), [0] * len(rows)
    for batch in batches([len(one.ids) for one in examples]):
        logits, ends = net._logits([Pieces(examples[n].ids, examples[n].asked, ()) for n in batch])
        for n, row, end in zip(batch, logits.astype(float), ends, strict=True):
            scores[n] = row[2] - np.logaddexp(row[3], row[4]) if examples[n].is_claim else row[0]
            places[n] = int(end[:, 0].argmax())
    return scores, places


def compared(rows: Sequence[Row], first: PairNet, second: PairNet) -> dict[str, Any]:
    """The figures of one set."""
    labels = np.array([int(is_right(row)) for row in rows])
    (before, at), (after, then) = read(first, rows), read(second, rows)
    change = np.abs(after - before)
    return {
        "rows": len(rows),
        "auc": [round(auc(scores, labels), 3) for scores in (before, after)],
        "correlation": round(float(np.corrcoef(before, after)[0, 1]), 4),
        "change": [round(float(change.mean()), 3), round(float(change.max()), 2)],
        "same place": round(float(np.mean([a == b for a, b in zip(at, then, strict=True)])), 3),
    }


def processor_time(nets: Sequence[PairNet]) -> list[float]:
    """Milliseconds of the processor for eight pairs, the median for each network."""
    chooser = np.random.default_rng(0)
    whole = [tuple(chooser.integers(4, 90_000, MOST_ASKED_PIECES + MOST_PASSAGE_PIECES).tolist()) for _ in range(8)]
    taken = []
    for _ in range(_TIMES):
        for net in nets:
            begun = time.process_time()
            net._read_pairs([Pieces(ids, MOST_ASKED_PIECES, ()) for ids in whole])
            taken.append(time.process_time() - begun)
    return [round(1000 * float(np.median(taken[n :: len(nets)])), 1) for n in range(len(nets))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path, nargs=2)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--most", type=int, default=120, help="rows of a set")
    options = parser.parse_args()
    first, second = (PairNet(folder) for folder in options.networks)
    sets = rows_by_set(options.rows, options.most)
    found = {name: compared(rows, first, second) for name, rows in sets.items()}
    print(json.dumps(found, indent=1))
    for kind in ("questions", "claims"):
        own = [one for name, one in found.items() if name.startswith(kind)]
        mean = np.mean([[*one["auc"], one["correlation"], *one["change"], one["same place"]] for one in own], axis=0)
        print(kind, len(own), "sets: AUC {:.4f} → {:.4f}, correlation {:.4f}, change {:.3f}, most {:.2f}, place {:.3f}"
              .format(*mean))  # fmt: skip
    print("ms of the processor for eight pairs:", processor_time([first, second]))


if __name__ == "__main__":
    main()
