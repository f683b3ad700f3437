"""What was read of the last pairs of texts, so that who asks again in the same turn need not wait."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from selfright.domain.judgements import PairReading

KEPT = 256  # pairs


class KeptPairs:
    """The readings of the last 256 pairs of a text and a passage. Safe to share between threads."""

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, str], PairReading] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._readings)

    def read(
        self, text: str, passages: Sequence[str], run: Callable[[Sequence[str]], Sequence[PairReading]]
    ) -> list[PairReading]:
        """One reading for each passage, in order; ``run`` is asked once, for the passages that are not kept."""
        found = self._known(text, passages)
        missing = list(dict.fromkeys(passage for passage in passages if passage not in found))
        if missing:
            fresh = dict(zip(missing, run(missing), strict=True))
            self._keep(text, fresh)
            found |= fresh
        return [found[passage] for passage in passages]

    def _known(self, text: str, passages: Sequence[str]) -> dict[str, PairReading]:
        found = {}
        with self._lock:
            for passage in passages:
                reading = self._readings.get((text, passage))
                if reading is not None:
                    self._readings.move_to_end((text, passage))
                    found[passage] = reading
        return found

    def _keep(self, text: str, fresh: dict[str, PairReading]) -> None:
        with self._lock:
            for passage, reading in fresh.items():
                self._readings[text, passage] = reading
            while len(self._readings) > KEPT:
                self._readings.popitem(last=False)
