"""An index grown in any sequence of steps ranks like one built at once from the same documents.

Texts are of very few words, so that ties are common. Before compaction the first twenty places of each half, and of the
fusion where the halves agree to the letter, must be the same up to swaps of ties; after compaction order and scores are
the same exactly. An approximate dense index may miss neighbours: it is held to recall, and its scores stay exact.
"""

import os
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support.crashing import compact, use_small_thresholds
from tests.support.histories import batch, built_at_once, create_store, misranked, misscored, open_store, random_text

_NAMES = st.sampled_from([f"d{number}" for number in range(20)])
_SEEDS = st.integers(0, 40)  # few, so that documents share whole texts


class History(RuleBasedStateMachine):
    """Puts, replacements, removals, commits, reopenings and compactions in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.folder = Path(self.place.name) / "index"
        self.store = create_store(self.folder)
        self.committed: dict[str, str] = {}
        self.model: dict[str, str] = {}
        self.fresh = True  # nothing to compare since the last look
        self.compacted = False
        self.looks = 0

    def teardown(self) -> None:
        self.store.close()
        self.place.cleanup()

    @initialize(seeds=st.lists(_SEEDS, min_size=3, max_size=20))
    def begin(self, seeds: list[int]) -> None:
        self.put({f"d{number}": seed for number, seed in enumerate(seeds)})
        self.commit()

    @rule(documents=st.dictionaries(_NAMES, _SEEDS, min_size=1, max_size=4))
    def put(self, documents: dict[str, int]) -> None:
        some = {name: random_text(random.Random(seed), seed % 4) for name, seed in documents.items()}
        self.store.put(batch(some))
        self.model |= some

    @rule(names=st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    def remove(self, names: list[str]) -> None:
        assert self.store.remove(names) == [name for name in names if name in self.model]
        for name in names:
            self.model.pop(name, None)

    @rule()
    def commit(self) -> None:
        self.store.commit()
        self.committed, self.fresh, self.compacted = dict(self.model), False, False

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.folder)
        self.model, self.fresh = dict(self.committed), False

    @precondition(lambda self: self.model == self.committed)
    @rule()
    def compact(self) -> None:
        self.store.commit()
        compact(self.store)
        self.fresh, self.compacted = False, hasattr(EmbeddedStore, "compact")

    @invariant()
    def ranks_like_one_built_at_once(self) -> None:
        if self.fresh:
            return
        self.fresh, self.looks = True, self.looks + 1
        assert [info.id for info in self.store.documents()] == sorted(self.committed)
        with built_at_once(Path(self.place.name) / f"reference-{self.looks}", self.committed) as reference:
            self.compare(reference)

    def compare(self, reference: EmbeddedStore) -> None:
        assert misranked(self.store, reference) is None
        if self.compacted and self.store.info().dense_kind == "exact":
            assert misscored(self.store, reference) is None


# HISTORIES=200 looks longer than a test suite can.
_SETTINGS = settings(
    max_examples=int(os.environ.get("HISTORIES", "3")),
    stateful_step_count=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_an_index_grown_in_steps_ranks_like_one_built_at_once() -> None:
    run_state_machine_as_test(History, settings=_SETTINGS)


def test_an_approximate_index_grown_in_steps_misses_little(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_thresholds(monkeypatch.setattr)
    run_state_machine_as_test(History, settings=_SETTINGS)


def test_an_index_that_outgrows_its_kind_and_shrinks_again_is_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_thresholds(monkeypatch.setattr)
    history = History()
    try:
        for first in (0, 10, 20):
            history.put({f"e{number}": number for number in range(first, first + 20)})
            history.commit()
            history.ranks_like_one_built_at_once()
            assert history.store.info().dense_kind.startswith("ivf")
        history.remove([f"e{number}" for number in range(5, 40)])
        history.commit()
        history.ranks_like_one_built_at_once()
        history.compact()
        history.ranks_like_one_built_at_once()
        assert history.store.info().dense_kind == "exact"
    finally:
        history.teardown()
