"""Fits ``roles/grade/reader.json``: the scorers that count on the reader beside signals and cosines.

    python -m training.fit_grader_reader --data DIR --reader FILE.onnx --card FILE.json --tag NAME --out FILE.json

Deterministic. Passages are scored in two steps (``roles/grade/two_steps.py``). Every reported figure on a set that is
trained on is held out: five folds, split by article, document or topic; the reader's scores under ``--tag`` are those
of readers that did not see the question's group (``training.cross_encoder_scores``). For comparison the same is fitted
without the reader. ``--check`` compares with the file that is there instead of writing it.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.roles.grade.features import SEMANTIC
from selfright.roles.grade.model import SET_SIGNALS
from selfright.roles.grade.neural import NEURAL
from training.fit_grader_reader_data import column, joined, load, on_their_own
from training.fit_grader_reader_model import (
    LOWER_RISK,
    SIZES,
    UPPER_RISK,
    Fitted,
    Sets,
    Steps,
    equal_sets,
    fit_passages,
    thresholds,
)
from training.fitting import Array, auc, calibration_error
from training.grader_rows import Rows

VARIANTS = {"semantic": (SEMANTIC, SET_SIGNALS), "neural": (NEURAL, SET_SIGNALS)}
KEPT_APART = ("clapnq",)  # one passage a question: no retrieved sets


class Variant:
    """One way to judge, fitted: passages, sets, and on what its figures are measured."""

    def __init__(self, name: str, trained: Rows, measured: Rows, without: str = "") -> None:
        self.name = name
        names, set_names = VARIANTS[name]
        train, test = (part.only(usable(part, name)) for part in (trained, measured))
        if without:
            test = joined([test, train.only(of_set(train, without))])
            train = train.only(~of_set(train, without))
        self.fitted, self.rows = fit_passages(train, names), joined([train, test])
        self.sets = sets = Sets(train.only(~np.isin(train.dataset, KEPT_APART)), self.fitted, set_names)
        self.sufficiency = Fitted(sets.x, sets.y, sets.fold, equal_sets(sets.dataset), set_names)
        self.chances = self.sufficiency.calibrated(self.sufficiency.held_out)

    def stored(self) -> dict[str, Any]:
        """The JSON form."""
        return {"passage": self.fitted.stored(), "sufficiency": self.sufficiency.stored()}

    def figures(self) -> dict[str, Any]:
        """Held-out figures of passages, within their set and each on its own."""
        views = (("in their set", self.rows), ("alone", on_their_own(self.rows)))
        return {f"{self.name}, {view}": self._measured(rows) for view, rows in views}

    def _measured(self, rows: Rows) -> dict[str, Any]:
        return measure(rows, self.fitted.score_held_out(rows), self.fitted)


def usable(rows: Rows, name: str) -> NDArray[np.bool_]:
    """Which rows have the signals a variant reads."""
    has_cosines: NDArray[np.bool_] = column(rows, "cosine") != 0
    return has_cosines & np.isfinite(column(rows, "reader")) if name == "neural" else has_cosines


def of_set(rows: Rows, name: str) -> NDArray[np.bool_]:
    """The rows of a set, and of the pairs that come with it."""
    return np.isin(rows.dataset, (name, f"{name}_pairs"))


def measure(rows: Rows, scores: Array, fitted: Steps) -> dict[str, Any]:
    """AUC and calibration error per set, and AUC on the hardest kinds; strangers would flatter and do not count."""
    rows, scores = rows.only(rows.kind != "stranger"), scores[rows.kind != "stranger"]
    p = fitted.calibrated(scores)
    found: dict[str, Any] = {}
    for name in np.unique(rows.dataset):
        mask = rows.dataset == name
        found[str(name)] = {
            "auc": round(auc(scores[mask], rows.y[mask]), 3),
            "ece": round(calibration_error(p[mask], rows.y[mask]), 3),
            "rows": int(mask.sum()),
        }
    squad = rows.dataset == "squad2"
    own, possible = squad & (rows.kind == "own"), squad & np.isin(rows.case, np.unique(rows.case[rows.y == 1]))
    for title, mask in (("squad2, own paragraph", own), ("squad2, possible, other passages", possible)):
        if mask.any():
            found[title] = {"auc": round(auc(scores[mask], rows.y[mask]), 3), "rows": int(mask.sum())}
    return found


def measure_sets(variant: Variant, lower: float, upper: float) -> dict[str, Any]:
    """Figures of sets of eight: AUC, calibration error, and [correct, ambiguous, incorrect] by what the set holds."""
    sets, p = variant.sets, variant.chances
    whole = sets.size == max(SIZES)
    found: dict[str, Any] = {}
    for name in ("all", *np.unique(sets.dataset[whole]).tolist()):
        mask = whole & ((sets.dataset == name) | (name == "all"))
        found[name] = {
            "auc": round(auc(p[mask], sets.y[mask]), 3),
            "ece": round(calibration_error(p[mask], sets.y[mask]), 3),
        }
        for label, side in ((1, "holds the answer"), (0, "does not")):
            q = p[mask & (sets.y == label)]
            shares = ((q >= upper).mean(), ((q >= lower) & (q < upper)).mean(), (q < lower).mean())
            found[name][side] = [round(float(share), 3) for share in shares]
    return found


def shared_thresholds(variants: list[Variant]) -> tuple[float, float]:
    """One pair for both variants, from the sets of eight."""
    columns = ((v.chances, v.sets.y, v.sets.dataset, v.sets.size) for v in variants)
    p, y, dataset, size = (np.concatenate(column) for column in zip(*columns, strict=True))
    whole = size == max(SIZES)
    return thresholds(p[whole], y[whole], equal_sets(dataset[whole]))


def left_out(name: str, trained: Rows, measured: Rows) -> dict[str, Any]:
    """Figures on each set when the scorers never saw it (the reader may have)."""
    found = {}
    for dataset in np.unique(trained.dataset[usable(trained, name)]).tolist():
        figures = Variant(name, trained, measured, dataset).figures()[f"{name}, in their set"]
        found[dataset] = {key: value for key, value in figures.items() if key.split(",")[0].startswith(dataset)}
    return found


def written(path: Path, content: dict[str, Any], check: bool) -> None:
    """Writes a file, or says that the one that is there differs."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    if check and path.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{path} is not what this script makes of this data")
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True, help="the network that is to ship")
    parser.add_argument("--card", type=Path, required=True, help="what training.cross_encoder wrote beside its weights")
    parser.add_argument("--tag", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    trained, measured = load(arguments.data, arguments.cache, arguments.limit, arguments.tag)
    variants = {name: Variant(name, trained, measured) for name in VARIANTS}
    lower, upper = shared_thresholds(list(variants.values()))
    report: dict[str, Any] = {}
    for name, variant in variants.items():
        report |= {**variant.figures(), f"{name}, sufficiency": measure_sets(variant, lower, upper)}
        report[f"{name}, set left out"] = left_out(name, trained, measured)
    digest = hashlib.sha256(arguments.reader.read_bytes()).hexdigest()
    card = {
        "about": "the reader in the offline grader; see training/cross_encoder.py and training/fit_grader_reader.py",
        "reader": f"reader-{digest[:12]}",
        "sha256": digest,
        "trained_on": sorted(np.unique(trained.dataset).tolist()),
        "training": json.loads(arguments.card.read_text(encoding="utf-8")),
        **variants["neural"].stored(),
        "thresholds": {
            "lower": lower,
            "upper": upper,
            "risk": f"at most {LOWER_RISK:.0%} of the sets below lower hold an answer, at most {UPPER_RISK:.0%} from "
            "upper on do not, each with 90% confidence (held out; sets of eight as retrieved, with what helps taken "
            "out, and of strangers)",
        },
        "measured": report,
    }
    written(arguments.out, card, arguments.check)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
