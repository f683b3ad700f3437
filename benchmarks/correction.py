"""Whether correcting pays: ``full`` against ``basic`` over the same index, question by question.

    python -m benchmarks.correction --data DIR [--limit 200] [--sets covidqa clapnq squad2] [--cache DIR]

Right is an answer that holds a gold string. Differences are ``full`` less ``basic`` with 95 % intervals from a paired
bootstrap over questions. ``full`` is shown as it is, and as it answers with abstention switched off: so one sees
whether it is the evidence or the refusals that make the difference.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from selfright.roles.abstain import load_model
from training.whole_turns import TASKS, Row, rows

SAMPLES = 5_000
SEED = 7
OUTCOMES = ("right", "wrong", "refused rightly", "refused wrongly")

Outcome = Callable[[Row], str]


def outcome(row: Row, *, right: bool, refused: bool) -> str:
    """A refusal is right when the index has no answer."""
    if refused:
        return "refused wrongly" if row.answerable else "refused rightly"
    return "right" if right else "wrong"


def basic(row: Row) -> str:
    """What ``basic`` did."""
    return outcome(row, right=row.basic_right, refused=row.basic_refused)


def talkative(row: Row) -> str:
    """What ``full`` does without abstention."""
    return outcome(row, right=row.right, refused=row.refused)


def full(row: Row) -> str:
    """What ``full`` does."""
    model = load_model()
    withheld = row.x is not None and not model.scorer.probability(row.x) >= model.threshold
    return outcome(row, right=row.right, refused=row.refused or withheld)


def report(name: str, found: Sequence[Row]) -> str:
    """The outcomes of all three, the differences, and what correcting turned into what."""
    lines = [f"{name}: {len(found)} questions, {sum(row.answerable for row in found)} answerable"]
    for label, of in (("basic", basic), ("full, never refusing", talkative), ("full", full)):
        counts = Counter(map(of, found))
        answered = counts["right"] + counts["wrong"]
        share = counts["right"] / answered if answered else 0.0
        shown = ", ".join(f"{each} {counts[each]}" for each in OUTCOMES)
        lines.append(f"  {label:22} {shown}; {share:.1%} of what is answered is right")
    for label, of in (("full, never refusing", talkative), ("full", full)):
        lines.append(f"  {label} − basic: " + "; ".join(_difference(found, of, each) for each in ("right", "wrong")))
        lines.append(f"    share right of what is answered {_precision(found, of)}")
    moves = Counter(f"{basic(row)} → {full(row)}" for row in found if basic(row) != full(row))
    lines.append("  moved: " + (", ".join(f"{move} {n}" for move, n in moves.most_common()) or "nothing"))
    again = [row for row in found if row.passes > 1]
    gained = sum(row.right and not row.basic_right for row in again)
    lost = sum(row.basic_right and not row.right for row in again)
    lines.append(f"  {len(again)} turns took more than one pass: of these {gained} gained the answer, {lost} lost it")
    return "\n".join(lines)


def _difference(found: Sequence[Row], of: Outcome, what: str) -> str:
    gain = np.array([(of(row) == what) - (basic(row) == what) for row in found], dtype=float)
    means = gain[_draws(len(found))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{what} {gain.mean():+.1%} [{low:+.1%}, {high:+.1%}]"


def _precision(found: Sequence[Row], of: Outcome) -> str:
    def columns(of: Outcome) -> tuple[np.ndarray, np.ndarray]:
        said = [of(row) for row in found]
        return np.array([s == "right" for s in said]), np.array([s in ("right", "wrong") for s in said])

    draws = _draws(len(found))
    gains, whole = np.zeros(SAMPLES), 0.0
    for sign, each in ((1, of), (-1, basic)):
        right, answered = columns(each)
        gains += sign * right[draws].sum(axis=1) / np.maximum(1, answered[draws].sum(axis=1))
        whole += sign * right.sum() / max(1, answered.sum())
    low, high = np.quantile(gains, (0.025, 0.975))
    return f"{whole:+.1%} [{low:+.1%}, {high:+.1%}]"


def _draws(rows_: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, rows_, (SAMPLES, rows_))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--sets", nargs="+", choices=sorted(TASKS), default=["covidqa", "clapnq", "squad2"])
    parser.add_argument("--cache", type=Path, default=Path(".cache/training"))
    arguments = parser.parse_args()
    for name in arguments.sets:
        print(report(name, rows(arguments.data, [name], arguments.limit, arguments.cache)), flush=True)


if __name__ == "__main__":
    main()
