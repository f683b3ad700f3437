"""Kills a process that writes an index, and looks at what it left behind.

A round is: a child opens (or makes) the index and works on it by a seeded random history, telling a log outside the
index what it is about to commit and what commit() has returned; it is killed somewhere. Then a fresh process opens the
index (``examining``): it must hold the last state whose commit returned, or the one being committed, whole.
"""

import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

from selfright.domain.errors import IndexNotFound, InputError
from selfright.domain.passages import Document, Passage
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support import histories, points
from tests.support.examining import Crash
from tests.support.histories import Model, batch, create_store, open_store

# Children are forked from a process that has loaded everything and used nothing of it.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["faiss", "tantivy", "numpy", "tests.support.crashing"])

_DOCUMENTS = 18  # ids that a history uses
_PATIENCE = 60.0
_SMALL_THRESHOLDS = {"EXACT_UNTIL": 16, "TAIL": 6}


# What the child does


class _Log:
    """Lines outside the index. What a killed process has written stays written, so nothing needs to be synced."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def tell(self, phase: str, model: Model | None = None) -> None:
        self._file.write(json.dumps({"phase": phase, "model": model}) + "\n")
        self._file.flush()


@dataclass
class _History:
    """A random life of an index, from ``model`` on; markers begin at ``number``."""

    store: EmbeddedStore
    model: dict[str, str]
    chance: random.Random
    number: int
    words_first: bool = False

    def change(self) -> None:
        """Some puts, replacements and removals; now and then a batch that must leave nothing behind."""
        for _ in range(self.chance.randint(1, 4)):
            if self.chance.random() < 0.7:
                self._put()
            else:
                self._remove()
            if self.chance.random() < 0.1:
                self._fail()

    def _put(self) -> None:
        names = self.chance.sample(range(_DOCUMENTS), self.chance.randint(1, 3))
        some = {f"d{name}": histories.random_text(self.chance, self.number + place) for place, name in enumerate(names)}
        self.number += len(some)
        self.store.put(batch(some), **({"embed": False} if self.words_first else {}))
        self.model |= some

    def _remove(self) -> None:
        names = [f"d{name}" for name in self.chance.sample(range(_DOCUMENTS), self.chance.randint(1, 3))]
        gone = self.store.remove(names)
        assert sorted(gone) == sorted(name for name in names if name in self.model), (gone, names)
        for name in gone:
            del self.model[name]

    def _fail(self) -> None:
        good = batch({"d0": histories.random_text(self.chance, self.number)})
        self.number += 1
        wrong = (Document("bad", "", "text"), [Passage("bad#0", "bad", "", "other", 0, 5)])
        with suppress(InputError):
            self.store.put([*good, wrong])


@dataclass(frozen=True)
class Start:
    """Where a round begins: the folder, what it holds (None: no index yet), and the round's seed."""

    folder: Path
    log: Path
    model: Model | None
    seed: int
    number: int
    commits: int = 12
    compacts: bool = False
    small_thresholds: bool = False
    words_first: bool = False


def write_on(start: Start, channel: socket.socket | None = None) -> None:
    """A child's life: works on the index until it is killed, or has made ``start.commits`` commits."""
    if channel is not None:
        points.let_watch(channel)
    if start.small_thresholds:
        use_small_thresholds()
    with start.log.open("a", encoding="utf-8") as file:
        log = _Log(file)
        log.tell("open")
        chance = random.Random(start.seed)
        store = _open_or_create(start.folder)
        history = _History(store, dict(start.model or {}), chance, start.number, start.words_first)
        for _ in range(start.commits):
            _one_commit(history, log)
            if start.words_first:
                log.tell("fill")
                history.store.fill(stop=lambda: chance.random() < 0.1)
            if start.compacts or chance.random() < 0.1:
                log.tell("compact")
                compact(history.store)
            if chance.random() < 0.1:
                _begin_anew(history, log, start.folder)
        log.tell("close")
        history.store.close()


def _one_commit(history: _History, log: _Log) -> None:
    log.tell("put")
    history.change()
    log.tell("commit", history.model)
    history.store.commit()
    log.tell("committed")


def _begin_anew(history: _History, log: _Log, folder: Path) -> None:
    """Closes with changes that were not committed, which must be as if they had never been."""
    log.tell("close")
    kept = dict(history.model)
    history.change()
    history.store.close()
    log.tell("open")
    history.model = kept
    history.store = open_store(folder)


def _open_or_create(folder: Path) -> EmbeddedStore:
    try:
        return open_store(folder)
    except IndexNotFound:
        return create_store(folder)


def compact(store: EmbeddedStore) -> None:
    """``store.compact()``, where the store knows it."""
    getattr(store, "compact", lambda: None)()


def use_small_thresholds(change: Callable[[object, str, int], None] = setattr) -> None:
    """Makes the dense index change its kind at sizes that a test can reach; ``change`` sets a module's constant."""
    from selfright.retrieval import dense

    for name, value in _SMALL_THRESHOLDS.items():
        if hasattr(dense, name):
            change(dense, name, value)


# Kills


def read_log(path: Path, before: Model | None, point: str) -> Crash:
    """What a log says of the moment its writer was killed."""
    crash = Crash("start", point, before, None, 0)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(ValueError):  # the last line may be half of one
            entry = json.loads(line)
            crash.phase = entry["phase"]
            if crash.phase == "commit":
                crash.during = entry["model"]
            elif crash.phase == "committed":
                crash.before, crash.during = crash.during, None
    return crash


def isolated(work: Callable[..., Any], *arguments: object) -> tuple[Any, str | None]:
    """What ``work`` gives back in a process of its own, or how that process died or what it raised."""
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_report, args=(there, work, arguments), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(_PATIENCE):
            process.kill()
            return None, f"no answer within {_PATIENCE:.0f} s"
        return here.recv()
    except EOFError:
        process.join()
        return None, f"the process died (exit code {process.exitcode})"
    finally:
        process.join()
        process.close()
        here.close()


def _report(pipe: Connection, work: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    os.environ["RUST_BACKTRACE"] = "0"
    try:
        pipe.send((work(*arguments), None))
    except BaseException as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))


def kill_after(start: Start, seconds: float) -> Crash:
    """Runs a child and kills it ``seconds`` after it began to work."""
    process = CONTEXT.Process(target=write_on, args=(start,))
    process.start()
    while not start.log.exists() and process.is_alive():
        time.sleep(0.001)
    process.join(seconds)
    if process.pid and process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
    return _ended(process, start, f"after {seconds:.3f} s")


@dataclass
class Aim:
    """Kills at the ``number``-th change of the folder, counted from the first one in ``phase`` where that is named.

    ``torn`` lets a write happen by half; ``observe`` is told of every change before it happens.
    """

    number: int
    phase: str | None = None
    torn: bool = False
    observe: Callable[[points.Point], None] = lambda _point: None
    counted: int = 0
    reached: str = "ran to its end"

    def here(self, start: Start, point: points.Point) -> bool:
        """Whether this is the point."""
        self.observe(point)
        if self.phase and not self.counted and read_log(start.log, start.model, "").phase != self.phase:
            return False
        self.counted += 1
        if self.counted < self.number:
            return False
        self.reached = str(point)
        if self.torn:
            points.tear(point)
        return True


def kill_at(start: Start, aim: Aim) -> Crash:
    """Runs a child and kills it where ``aim`` says; it runs to its end when it never comes there."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = CONTEXT.Process(target=write_on, args=(start, theirs))
        process.start()
        theirs.close()
        assert process.pid
        points.watch(ours, start.folder, lambda point: aim.here(start, point), process.pid)
    return _ended(process, start, aim.reached)


def _ended(process: Any, start: Start, point: str) -> Crash:
    process.join()
    code = process.exitcode
    process.close()
    crash = read_log(start.log, start.model, point)
    if code not in (0, -signal.SIGKILL):
        crash.phase = f"failed with {code} in {crash.phase}"
    return crash


def copied(folder: Path, place: Path) -> Path:
    """A copy of an index folder at ``place``, which is emptied first."""
    shutil.rmtree(place, ignore_errors=True)
    if folder.exists():
        shutil.copytree(folder, place)
    return place
