"""One file of unknown origin, read by a process that it may bring down: bounded in memory and time.

What is in it is handed over as it is read, in pieces, so that the process that asks never holds all of it.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

from selfright.background import Deadline
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document, Language, Passage
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import read_each
from selfright.ingest.splitting import split
from selfright.processes import end, receive, send, start

_ENTRY = f"{__name__}:serve"
_MIB = 2**20
_PIECE_CHARACTERS = 2**18
_PIECE_ITEMS = 200
Item = TypeVar("Item")
Span = tuple[int, int, str, str, Language]
"""A passage but for what its document says: start, end, section, head, language."""

Ending = Literal["done", "late", "memory", "lost", "no process"]
"""How the work of a process ended."""

_LOOK_S = 0.25  # after it a reader that nobody waits for is ended
_START_S = 30.0  # of the processor, for starting Python and loading a reader


@dataclass(frozen=True, slots=True)
class Bounds:
    """What reading one file may take: bytes of memory, where the system can bound them, and seconds."""

    memory: int = 1_536 * _MIB
    seconds: float = 120.0

    @classmethod
    def of(cls, size: int, more: float = 0.0) -> "Bounds":
        """The bounds for so many bytes, with ``more`` seconds; the slowest format takes 1.5 a megabyte."""
        return cls(seconds=60 + 4 * size / _MIB + more)


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document, and where its passages stand."""

    document: Document
    spans: tuple[Span, ...]

    def passages(self, document: Document) -> Sequence[Passage]:
        """The passages under the id and collection that ``document``, the same one, has by now."""
        return [document.passage(n, *span) for n, span in enumerate(self.spans)]


def read_apart(
    file: SourceFile, bounds: Bounds, deadline: Deadline | None = None
) -> Generator[ReadDocument | UnreadableFile, None, None]:
    """The documents of a file, split already, and an error for each row that is none; the last one may be the file's.

    The seconds are those in which the reader is waited for: what is done with its documents meanwhile does not count.
    Close the iterator to end the process; it ends by itself when the ``deadline`` is over.
    """
    ended = yield from map_apart(_ENTRY, task_of(file), bounds, decode_item, deadline)
    why = {
        "no process": "no process could be started to read it in; try again",
        "late": f"reading it took more than {bounds.seconds:.0f} s; split it, or save it in a simpler format",
        "memory": f"reading it took more than {bounds.memory // _MIB:,} MiB of memory; split it",
        "lost": "reading it ended the reading process; it is damaged or too much: convert or split it",
    }
    if ended != "done":
        yield file.refuse(why[ended])


def read_page_apart(path: Path) -> Document:
    """The first document of one file, called by the file's name. Raises ``UnreadableFile``."""
    file = SourceFile(path, path.name, FileLimits(ocr_seconds=0.0))  # somebody waits for it
    with closing(read_apart(file, Bounds.of(path.stat().st_size))) as items:
        for item in items:
            if isinstance(item, UnreadableFile):
                raise item
            return item.document
    raise UnreadableFile(str(path), "there is no document in it")


def map_apart(
    entry: str,
    task: dict[str, Any],
    bounds: Bounds,
    decode: Callable[[Any], Item],
    deadline: Deadline | None = None,
) -> Generator[Item, None, Ending]:
    """What ``entry`` (``module:function``, which calls ``answer``) makes of a task in a process of its own.

    Gives back how it ended. Close the iterator to end the process.
    """
    try:
        process = start(entry)
    except OSError:
        return "no process"
    try:
        with suppress(OSError):
            send(process.stdin, {**task, **asdict(bounds)})  # type: ignore[arg-type]  # a pipe
        left = bounds.seconds
        while True:
            since = time.monotonic()
            piece, late = _wait_for(process, left, deadline or Deadline())
            left -= time.monotonic() - since
            if late or not isinstance(piece, list):
                return "late" if late else "memory" if piece == "memory" else "done" if piece == "done" else "lost"
            yield from map(decode, piece)
    finally:
        end(process)


def _wait_for(process: Any, seconds: float, deadline: Deadline) -> tuple[Any, bool]:
    """What the process sends next, None when it ended; and whether it was ended, for that took too long."""
    late, came, until = threading.Event(), threading.Event(), time.monotonic() + seconds

    def watch() -> None:
        while not came.wait(min(_LOOK_S, max(0.0, until - time.monotonic()))):
            if time.monotonic() >= until or not deadline.left:
                late.set()
                process.kill()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        return receive(process.stdout), late.is_set()
    except (OSError, ValueError, MemoryError):
        return None, late.is_set()
    finally:
        came.set()


def serve(answers: IO[bytes]) -> None:
    """The reader's side."""
    answer(answers, _read)


def _read(task: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    for item in read_split(file_of(task)):
        yield encode_item(item), 0 if isinstance(item, UnreadableFile) else len(item.document.text)


def read_split(file: SourceFile) -> Iterator[ReadDocument | UnreadableFile]:
    """The same as ``read_apart`` gives, read in this process."""
    for item in read_each(file):
        if isinstance(item, UnreadableFile):
            yield item
        else:
            yield ReadDocument(
                item, tuple((cut.start, cut.end, cut.section, cut.head, cut.language) for cut in split(item))
            )


def task_of(file: SourceFile) -> dict[str, Any]:
    """A file as a JSON value."""
    return {"path": str(file.path), "name": file.name, "limits": asdict(file.limits)}


def file_of(task: dict[str, Any]) -> SourceFile:
    """The file again."""
    return SourceFile(Path(task["path"]), task["name"], FileLimits(**task["limits"]))


def encode_document(reading: ReadDocument) -> dict[str, Any]:
    """What was read as a JSON value."""
    return {"document": asdict(reading.document), "spans": reading.spans}


def decode_document(value: dict[str, Any]) -> ReadDocument:
    """What was read again."""
    return ReadDocument(Document(**value["document"]), tuple(map(tuple, value["spans"])))


def encode_item(item: ReadDocument | UnreadableFile) -> dict[str, Any]:
    """A document or error as a JSON value."""
    return {"path": item.path, "why": item.why} if isinstance(item, UnreadableFile) else encode_document(item)


def decode_item(value: dict[str, Any]) -> ReadDocument | UnreadableFile:
    """The document or error again."""
    return UnreadableFile(value["path"], value["why"]) if "why" in value else decode_document(value)


def answer(answers: IO[bytes], work: Callable[[dict[str, Any]], Iterable[tuple[Any, int]]]) -> None:
    """The other side of ``map_apart``: does one task within its bounds and sends what comes of it, in pieces.

    ``work`` gives JSON values, each with about how many characters it has; a piece is sent when it has enough.
    """
    task = receive(sys.stdin.buffer)
    if task is None:
        return
    limit_process(task["memory"], task["seconds"])
    piece: list[Any] = []
    size = 0
    try:
        for value, characters in work(task):
            piece.append(value)
            size += characters
            if size >= _PIECE_CHARACTERS or len(piece) >= _PIECE_ITEMS:
                send(answers, piece)
                piece, size = [], 0
        send(answers, piece)
        ended = "done"
    except MemoryError:
        piece.clear()
        ended = "memory"
    send(answers, ended)


def limit_process(memory: int, seconds: float | None = None) -> None:
    """Lets the system hold this process to its bounds, where it can."""
    if sys.platform == "win32":
        return
    # PDFium and Kiwi would set aside a gigabyte of addresses each, whatever they use of it.
    os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "32MiB")
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, resource.RLIM_INFINITY if seconds is None else int(seconds + _START_S)),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        within = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS bounds no address space
            resource.setrlimit(kind, (within, within))
    os.nice(5)  # who asks goes first
