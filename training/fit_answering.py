"""Fits ``roles/evaluate/weights.json``: how probable it is that an answer in the documents' own words answers.

    python -m training.fit_answering --data DIR --out src/selfright/roles/evaluate/weights.json [--cache C] --field DIR

One weight and an intercept of what the network that reads pairs says of the answer, on the turns that abstention is
fitted on, over questions that have an answer; every set counts the same. Figures are with the whole set left out, over
all questions: the area under the curve of right answers beside that of shared words.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from selfright.models.reader import shipped_net
from selfright.roles.calibration.measures import auc
from training.fit_abstention import usable, weights_of
from training.fit_abstention_turns import FIELD, TASKS, TRAINED_ON, Row, rows
from training.fitting import Array, logistic

RIDGE = 1.0


def fit(found: Sequence[Row]) -> Array:
    """Weight and intercept."""
    answerable = [row for row in found if row.answerable and row.read is not None]
    x, y = np.array([[row.read] for row in answerable]), np.array([float(row.right) for row in answerable])
    return logistic(x, y, weights_of(answerable), RIDGE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--limit", type=int, default=300, help="questions of each set")
    parser.add_argument("--sets", nargs="+", choices=[*sorted(TASKS), *FIELD], default=[*TASKS, *FIELD])
    parser.add_argument("--field", type=Path, help="folder with the documents of the field sets for tuning")
    arguments = parser.parse_args()
    found = usable(rows(arguments.data, arguments.sets, arguments.limit, arguments.cache, arguments.field))
    weight, intercept = fit([row for row in found if row.dataset in TRAINED_ON])
    measured = {}
    for name in arguments.sets:
        own = [row for row in found if row.dataset == name and row.read is not None]
        right = np.array([float(row.right) for row in own])
        slope, _ = fit([row for row in found if row.dataset in TRAINED_ON and row.dataset != name])
        read = auc(slope * np.array([row.read for row in own]), right)
        measured[name] = {"answers": len(own), "right": round(float(right.mean()), 3), "auc": round(read, 3)}
    model = {
        "about": "whether an answer in the documents' own words answers; see training/fit_answering.py",
        "trained_on": [name for name in TRAINED_ON if name in arguments.sets],
        "reader": shipped_net().name,
        "weight": round(float(weight), 3),
        "intercept": round(float(intercept), 3),
        "measured": measured,
    }
    text = json.dumps(model, indent=1, ensure_ascii=False) + "\n"
    arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
