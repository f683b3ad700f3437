"""The index outlives its writers: killed anywhere, it opens at the last commit; and readers go on beside a writer."""

import os
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("processes are killed by signals here", allow_module_level=True)

from tests.support import points
from tests.support.crashing import Aim, Start, isolated, kill_after, kill_at
from tests.support.examining import Crash, examine
from tests.support.following import bulletin, follow, second_writer
from tests.support.histories import Model, batch, create_store, find

needs_points = pytest.mark.skipif(not points.SUPPORTED, reason="no way here to stop a process inside a commit")


class Life:
    """An index that goes through kills, with what it must hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model: Model | None = None
        self.erased: list[str] = []
        self.rounds = 0

    def start(self, **options: bool) -> Start:
        self.rounds += 1
        log = self.folder.with_name(f"{self.rounds}.log")
        return Start(self.folder, log, self.model, self.rounds, 1_000 * self.rounds, **options)

    def look(self, crash: Crash) -> None:
        """Opens the index in another process and takes over what it holds, when it is what it must be."""
        assert "failed" not in crash.phase
        found, died = isolated(examine, self.folder, crash, self.erased)
        assert died is None, f"{crash.phase}: {crash.point}"
        assert found.wrong == {}, f"{crash.phase}: {crash.point}"
        for state in (self.model or {}, *crash.allowed):
            self.erased += [text for name, text in state.items() if found.model.get(name) != text]
        self.model = found.model if found.exists else None


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path / "index")


def test_killed_at_any_time_the_index_is_at_its_last_commit(life: Life) -> None:
    for seconds in (0.05, 0.15, 0.3):
        life.look(kill_after(life.start(), seconds))


@needs_points
def test_killed_while_it_is_made_the_index_is_there_or_can_be_made(life: Life) -> None:
    for number in (1, 60):
        crash = kill_at(life.start(), Aim(number))
        assert crash.phase == "open"
        life.look(crash)


@needs_points
def test_killed_inside_commits_the_index_holds_all_or_nothing_of_them(life: Life) -> None:
    for number in (2, 12, 25, 40):
        crash = kill_at(life.start(), Aim(number, "commit", torn=number % 2 == 0))
        assert crash.during is not None or crash.phase != "commit"
        life.look(crash)


@needs_points
def test_killed_while_it_recovers_the_index_recovers_the_next_time(life: Life) -> None:
    life.look(kill_at(life.start(), Aim(200)))
    crash = kill_at(life.start(), Aim(10, "commit"))
    life.look(kill_at(Start(life.folder, life.start().log, crash.before, 7, 50_000), Aim(3, "open")))


@needs_points
def test_killed_inside_a_compaction_the_index_has_lost_nothing(life: Life) -> None:
    for number in (3, 20):
        life.look(kill_at(life.start(compacts=True), Aim(number, "compact")))


@needs_points
def test_killed_while_vectors_are_made_the_index_has_its_words_and_makes_the_rest(life: Life) -> None:
    for number in (3, 12, 30):
        crash = kill_at(life.start(words_first=True), Aim(number, "fill", torn=number % 2 == 0))
        assert crash.phase == "fill"
        life.look(crash)


# Readers and a second writer


def test_readers_elsewhere_see_whole_commits_within_a_second(tmp_path: Path) -> None:
    delays, readers = follow(tmp_path / "index", commits=6)
    assert [problem for reader in readers for problem in reader.problems] == []
    assert max(delays) < 1.0


def test_a_second_writer_elsewhere_is_told_who_writes(tmp_path: Path) -> None:
    with create_store(tmp_path / "index") as store:
        store.put(batch(bulletin(1)))
        store.commit()
        store.put(batch(bulletin(2)))
        told, died = isolated(second_writer, tmp_path / "index")
        assert died is None
        assert f"process {os.getpid()}" in told
        store.commit()
        assert {hit.passage.text.split(" of")[0] for hit in find(store, "bulletin")} == {"bulletin v2"}
