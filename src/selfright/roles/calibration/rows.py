"""How many labelled rows calibrating needs, and which of them tell what a judge of the user's own counts."""

import hashlib
from collections.abc import Sequence

from selfright.domain.errors import InputError

FEWEST_ROWS = 20
FEWEST_OF_A_LABEL = 5


def enough(labels: Sequence[int]) -> bool:
    """Whether there are 20 rows, at least 5 of each label."""
    positives = sum(labels)
    return len(labels) >= FEWEST_ROWS and min(positives, len(labels) - positives) >= FEWEST_OF_A_LABEL


def check_enough(labels: Sequence[int]) -> None:
    """Raises ``InputError`` where there are not enough."""
    if not enough(labels):
        positives = sum(labels)
        raise InputError(
            f"calibrating needs at least {FEWEST_ROWS} rows, {FEWEST_OF_A_LABEL} of each label, but got {len(labels)}: "
            f"{positives} with label 1 and {len(labels) - positives} with label 0; add rows"
        )


def is_for_weights(text: str) -> bool:
    """Whether a question's or a claim's rows tell weights (about half of them do) instead of curves and thresholds.

    Curves and thresholds need rows that shaped nothing of the score. The text decides, not its place in the file.
    """
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0
