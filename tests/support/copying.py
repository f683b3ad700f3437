"""A copy made by a process of its own, which is killed somewhere."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selfright.assembly import transfers
from selfright.assembly.transfers import copy_index
from selfright.domain.stores import Store
from selfright.ingest import copying
from selfright.ingest.copying import CopyReport
from selfright.retrieval.stores import opening
from tests.support import points
from tests.support.crashing import CONTEXT
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER


def copied(
    source: Path | str, target: Path | str, *, into: bool = False, embedder: WordHashes | None = None
) -> CopyReport:
    """One copy from folder to folder, as the command makes it."""
    embedder = embedder or WordHashes()
    with opening.open_store(source, TOKENIZER, embedder) as opened:
        return copy_index(opened, source, target, TOKENIZER, embedder, into=into)


def copy_in_small_steps(source: Path, target: Path, channel: socket.socket | None = None) -> None:
    """The same with a commit every few documents, so that there is much to be killed in."""
    copying._BATCH, copying._COMMIT, copying._REMOVED = 4, 8, 2
    if channel is not None:
        points.let_watch(channel)
    copied(source, target)


def killed_copy(source: Path, target: Path, number: int, *, torn: bool = False) -> str | None:
    """Makes a copy and kills it at its ``number``-th change of the target's folder; None when it came to its end."""
    ours, theirs = socket.socketpair()
    counted, reached = 0, None

    def here(point: points.Point) -> bool:
        nonlocal counted, reached
        counted += 1
        if counted < number:
            return False
        reached = str(point)
        if torn:
            points.tear(point)
        return True

    with ours, theirs:
        process = CONTEXT.Process(target=copy_in_small_steps, args=(source, target, theirs))
        process.start()
        theirs.close()
        assert process.pid
        points.watch(ours, target, here, process.pid)
    process.join()
    assert process.exitcode == (-signal.SIGKILL if reached else 0), (process.exitcode, reached, os.getpid())
    process.close()
    return reached


def killed_between(source: Path, to: str, number: int) -> bool:
    """Makes a copy and kills it at its ``number``-th call that changes the target: before odd ones, after even ones."""
    process = CONTEXT.Process(target=_copy_and_die, args=(source, to, number))
    process.start()
    process.join(120)
    code = process.exitcode
    process.close()
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def _copy_and_die(source: Path, to: str, number: int) -> None:
    copying._BATCH, copying._COMMIT, copying._REMOVED = 4, 8, 2
    calls = 0

    def deadly(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number and number % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            done = method(*arguments, **options)
            if calls == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return call

    opened = opening.open_store

    def watched(*arguments: Any, **options: Any) -> Any:
        store: Any = opened(*arguments, **options)
        for name in ("keep_note", "remove", "put", "commit"):
            setattr(store, name, deadly(getattr(store, name)))
        return store

    setattr(transfers, "open_store", watched)  # noqa: B010 - a name that the module does not export
    copied(source, to)


def contents(store: Store) -> dict[str, object]:
    """All that an index holds, comparable."""
    return {
        info.id: (
            store.document(info.id),
            store.passages_of(info.id),
            {name: vector.tobytes() for name, vector in store.vectors_of(info.id).items()},
        )
        for info in store.documents()
    }
