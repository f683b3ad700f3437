"""Damages the files of an index one by one, and asks the index the same questions as before.

Every case must end in one of two ways: the same answers as before (the file did not matter, or was made anew), or an
error that names the file and says what to do. Other answers without an error, or any other end, are failures.
"""

import logging
import os
import random
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from selfright.domain.errors import SelfrightError
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support.crashing import isolated
from tests.support.embedders import WordHashes
from tests.support.histories import (
    Half,
    Model,
    batch,
    create_store,
    find,
    halves,
    open_store,
    out_of_order,
    random_text,
)

Scar = Callable[[bytes, random.Random], bytes | None]
Class = Literal["same", "named", "unclear", "embedded anew", "WRONG", "CRASH"]
GOOD: tuple[Class, ...] = ("same", "named")
QUESTIONS = ("keel wind", "boat rope", "바람 항구")

# Files that hold nothing: locks, SQLite's shared memory, and the list by which tantivy finds what to erase.
WITHOUT_CONTENT = ("writer.lock", "catalogue.sqlite-shm", ".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json")


def _flipped(content: bytes, chance: random.Random) -> bytes:
    bits = bytearray(content)
    written = [place for place, byte in enumerate(bits) if byte]  # most of a small file may be unused
    place = chance.choice(written) if written and chance.random() < 0.8 else chance.randrange(len(bits))
    bits[place] ^= 1 << chance.randrange(8)
    return bytes(bits)


def _swapped(content: bytes, chance: random.Random) -> bytes:
    size = 512 if len(content) > 4_096 else 16
    places = range(0, len(content) - size, size)
    if len(places) < 2:
        return content
    first, second = sorted(chance.sample(places, 2))
    one, other = content[first : first + size], content[second : second + size]
    return content[:first] + other + content[first + size : second] + one + content[second + size :]


def _zeroed_block(content: bytes, _chance: random.Random) -> bytes:
    size = max(1, len(content) // 4)
    begin = (len(content) - size) // 2
    return content[:begin] + bytes(size) + content[begin + size :]


SCARS: dict[str, Scar] = {
    "emptied": lambda _content, _chance: b"",
    "halved": lambda content, _chance: content[: len(content) // 2],
    "a byte short": lambda content, _chance: content[:-1],
    "zeroed": lambda content, _chance: bytes(len(content)),
    "zeroed within": _zeroed_block,
    "deleted": lambda _content, _chance: None,
    "with blocks swapped": _swapped,
    "lengthened": lambda content, chance: content + chance.randbytes(100),
}


@dataclass(frozen=True)
class Damage:
    """One file harmed in one way; ``quietly`` keeps its time of change, as a failing disk does."""

    file: str
    scar: str
    seed: int = 0
    quietly: bool = False

    def do(self, folder: Path) -> bool:
        """Harms the file; False where that changes nothing (an empty file has no bits to flip)."""
        path, chance = folder / self.file, random.Random(f"{_kind(self.file)}/{self.scar}/{self.seed}")
        content, before = path.read_bytes(), path.stat()
        if self.scar == "a flipped bit" and not content:
            return False
        harmed = (_flipped if self.scar == "a flipped bit" else SCARS[self.scar])(content, chance)
        if harmed == content:
            return False
        path.unlink()
        if harmed is not None:
            path.write_bytes(harmed)
            if self.quietly:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return True

    def __str__(self) -> str:
        flip = f" {self.seed}{' quietly' if self.quietly else ''}" if self.scar == "a flipped bit" else ""
        return f"{self.file}: {self.scar}{flip}"


def damages(folder: Path, flips: int) -> Iterator[Damage]:
    """Every file in every way, and ``flips`` flipped bits of each, half of them with the file's time kept."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    for path in sorted(paths, key=lambda path: (_kind(str(path)), path.stat().st_size)):
        file = str(path.relative_to(folder))
        yield from (Damage(file, scar) for scar in SCARS)
        yield from (Damage(file, "a flipped bit", seed, seed % 2 == 1) for seed in range(flips))


def _kind(file: str) -> str:
    """The name without what is random in it, so that the same harm is done in every run."""
    return re.sub(r"[0-9a-f]{32}", "*", file)


# What an index says


@dataclass
class Told:
    """All answers of an index, what warnings and ``verify`` said, and how many texts were embedded for documents."""

    library: dict[str, object]
    rankings: dict[str, dict[str, Half]]
    noticed: list[str]
    embedded: int


@dataclass(frozen=True)
class Refusal:
    """An error of this package."""

    kind: str
    message: str


def ask(folder: Path) -> Told | Refusal:
    """Opens the index and asks it everything."""
    embedder, warnings = WordHashes(), _Warnings()
    try:
        with open_store(folder, embedder) as store:
            rankings = {question: halves(find(store, question)) for question in QUESTIONS}
            library = _library(store)
            texts = {hit.passage.id: repr(hit.passage) for question in QUESTIONS for hit in find(store, question)}
            findings = [f"{found.file}: {found.problem}" for found in getattr(store, "verify", list)()]
    except SelfrightError as error:
        return Refusal(type(error).__name__, str(error))
    embedded = sum(text not in QUESTIONS for text in embedder.embedded)
    return Told({**library, **texts}, rankings, [*warnings.messages, *findings], embedded)


class _Warnings(logging.Handler):
    """Keeps what is logged as a warning from now on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _library(store: EmbeddedStore) -> dict[str, object]:
    info = store.info()
    told: dict[str, object] = {
        "documents": repr(list(store.documents())),
        "info": repr((info.documents, info.passages, info.collections, info.languages, info.dimension)),
    }
    for known in store.documents():
        told[f"document {known.id}"] = repr(store.document(known.id))
        told[f"passages of {known.id}"] = repr(store.passages_of(known.id))
    return told


def differences(told: Told, expected: Told) -> list[str]:
    """Where the answers differ: from the library to the letter, from a search within ties."""
    different = [name for name in expected.library if told.library.get(name) != expected.library[name]]
    different += [name for name in told.library if name not in expected.library]
    for question, rankings in expected.rankings.items():
        for half, ranking in rankings.items():
            found = told.rankings[question][half]
            if half != "fused" and (wrong := out_of_order(found, ranking)):
                different.append(f"{half} '{question}': {wrong}")
    return different


@dataclass(frozen=True)
class Verdict:
    """What became of a damage. ``unnoticed``: the same answers, the file is still harmed, and nobody said so."""

    outcome: Class
    detail: str = ""
    unnoticed: bool = False


def judge(folder: Path, damage: Damage, expected: Told) -> Verdict | None:
    """Harms a file of the index in ``folder``, asks, and judges; None when there was nothing to harm."""
    if not damage.do(folder):
        return None
    path = folder / damage.file
    harmed = path.read_bytes() if path.exists() else None
    told, died = isolated(ask, folder)
    if died is not None:
        return Verdict("CRASH", died)
    if isinstance(told, Refusal):
        return Verdict("named" if names(told.message, damage.file) else "unclear", f"{told.kind}: {told.message}")
    if different := differences(told, expected):
        return Verdict("WRONG", "; ".join(different[:3]))
    if told.embedded:
        return Verdict("embedded anew", f"{told.embedded} texts")
    still = (path.read_bytes() if path.exists() else None) == harmed and path.name not in WITHOUT_CONTENT
    return Verdict("same", "; ".join(told.noticed), still and not told.noticed)


def names(message: str, file: str) -> bool:
    """Whether a message names the file, or the file or folder it belongs to, and goes on to say what to do."""
    place = Path(file)
    names = [place.name.removesuffix("-wal").removesuffix("-shm"), *(str(parent) for parent in place.parents[:-1])]
    return ";" in message and any(name in message for name in names)


# Indexes to be damaged


def _model(first: int, last: int, version: int = 0) -> Model:
    return {f"d{n}": random_text(random.Random(1_000 * version + n), 100 * version + n) for n in range(first, last)}


def make_closed(folder: Path) -> None:
    """An index after several commits with replacements and removals, closed in peace."""
    with create_store(folder) as store:
        store.put(batch(_model(0, 25)))
        store.commit()
        store.put(batch(_model(5, 10, 1)))
        store.remove(["d20", "d21"])
        store.commit()
        getattr(store, "compact", lambda: None)()
        store.put(batch(_model(25, 28)))
        store.commit()


def make_killed(folder: Path) -> None:
    """An index whose writer was killed after a commit, so that SQLite's log still holds the newest state."""
    make_closed(folder)
    isolated(_commit_and_die, folder)


def _commit_and_die(folder: Path) -> None:
    store = open_store(folder)
    store.put(batch(_model(2, 6, 2)))
    store.commit()
    store.remove(["d15"])
    store.commit()
    store.put(batch(_model(7, 9, 3)))
    os.kill(os.getpid(), signal.SIGKILL)


MAKERS: Sequence[tuple[str, Callable[[Path], None]]] = (("closed", make_closed), ("killed", make_killed))
