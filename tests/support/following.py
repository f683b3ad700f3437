"""Readers in other processes while one process writes: what they see, and how soon.

The writer replaces one document, version after version. Each version has another number of passages, and each passage
names the version and that number; so a reader can tell an old version, a new one, and a half of either.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexBusy
from tests.support import histories
from tests.support.crashing import CONTEXT
from tests.support.examining import wrong_searches
from tests.support.histories import Model, batch, create_store, find, open_store

_VERSION = re.compile(r"bulletin v(\d+) of (\d+)")
_PATIENCE = 60.0


class Reader:
    """A process that keeps one index open and searches it without end; anything it runs into is told by ``check``."""

    def __init__(self, folder: Path) -> None:
        self._pipe, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_read_along, args=(folder, there), daemon=True)
        self._process.start()
        there.close()
        self._answer()  # it is open

    def check(self, model: Model, erased: Sequence[str]) -> dict[str, str]:
        """What went wrong since the last time, and what is wrong in its view of ``model``; by kind."""
        try:
            self._pipe.send((dict(model), list(erased)))
            problems = self._answer()
        except (EOFError, OSError):
            problems = ["the reader has died"]
        return {"reader": "; ".join(problems)} if problems else {}

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _answer(self) -> list[str]:
        if not self._pipe.poll(_PATIENCE):
            raise EOFError
        answer: list[str] = self._pipe.recv()
        return answer


def _read_along(folder: Path, pipe: Connection) -> None:
    problems: list[str] = []
    with open_store(folder) as store:
        pipe.send([])
        turn = 0
        while True:
            if pipe.poll(0.02):
                problems += [f"{kind}: {what}" for kind, what in wrong_searches(store, *pipe.recv())]
                pipe.send(problems[:3])
                problems = []
            turn += 1
            try:
                find(store, histories.QUERIES[turn % len(histories.QUERIES)])
            except Exception as error:
                problems.append(f"{type(error).__name__}: {error}")


@dataclass
class Seen:
    """What one reader saw: when each version first came (monotonic seconds), and everything that was not whole."""

    first: dict[int, float] = field(default_factory=dict)
    searches: int = 0
    problems: list[str] = field(default_factory=list)


def bulletin(version: int) -> Model:
    """The document as of a version."""
    size = 1 + version * 7 % 5
    return {"bulletin": "\n".join(f"bulletin v{version} of {size} part {part}" for part in range(size))}


def _follow(folder: Path, pipe: Connection) -> None:
    seen = Seen()
    with open_store(folder) as store:
        pipe.send("open")
        while not pipe.poll():
            try:
                hits = find(store, "bulletin")
            except Exception as error:
                seen.problems.append(f"{type(error).__name__}: {error}")
                continue
            seen.searches += 1
            _note(seen, [hit.passage.text for hit in hits], time.monotonic())
    pipe.send(seen)


def _note(seen: Seen, texts: Sequence[str], now: float) -> None:
    told = [tuple(map(int, match.groups())) for text in texts if (match := _VERSION.match(text))]
    if not told:
        seen.problems.append("the document is gone for a moment")
        return
    if len(set(told)) != 1 or len(told) != told[0][1]:
        parts = ", ".join(f"{told.count(one)} of {one[1]} passages of version {one[0]}" for one in sorted(set(told)))
        seen.problems.append(f"a half state: {parts}")
        return
    version = told[0][0]
    if version < max(seen.first, default=0):
        seen.problems.append(f"back from version {max(seen.first)} to {version}")
    seen.first.setdefault(version, now)


def follow(folder: Path, commits: int, readers: int = 2, pause: float = 0.05) -> tuple[list[float], list[Seen]]:
    """Makes commits while readers follow; the delays from commit() returning to a reader seeing it, in seconds."""
    written: dict[int, float] = {}
    with create_store(folder) as store:
        store.put(batch({f"d{number}": f"keel {number}" for number in range(50)}))
        store.put(batch(bulletin(1)))
        store.commit()
        processes = [_started(folder) for _ in range(readers)]
        for version in range(2, commits + 2):
            store.put(batch(bulletin(version)))
            store.commit()
            written[version] = time.monotonic()
            time.sleep(pause)
        time.sleep(1.0)  # within which the last version must be seen
    seen = [_ended(process, pipe) for process, pipe in processes]
    return [_delay(one, version, at) for one in seen for version, at in written.items()], seen


def _started(folder: Path) -> tuple[Any, Connection]:
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_follow, args=(folder, there), daemon=True)
    process.start()
    there.close()
    here.recv()
    return process, here


def _ended(process: Any, pipe: Connection) -> Seen:
    pipe.send("enough")
    seen: Seen = pipe.recv()
    process.join()
    pipe.close()
    return seen


def _delay(seen: Seen, version: int, written: float) -> float:
    """Until the reader saw this version or a later one."""
    return min((max(at - written, 0.0) for other, at in seen.first.items() if other >= version), default=float("inf"))


def second_writer(folder: Path) -> str:
    """What a process is told that tries to write to an index that is being written."""
    with open_store(folder) as store:
        try:
            store.remove(["bulletin"])
        except IndexBusy as error:
            return str(error)
    return "it was let in"
