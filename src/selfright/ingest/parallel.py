"""Files read and split in worker processes, in order, where there is enough to read for that to pay."""

import functools
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document, Language, Passage
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import read
from selfright.ingest.splitting import split as split_document
from selfright.processes import Workers, usable_cpus

Split = Callable[[Document], Sequence[Passage]]

# Bytes a second that one core reads and splits, for deciding only. What is not listed holds many documents in a file:
# those come row by row, so that a file may be of any size, and cost little to read.
_RATES = {
    ".txt": 3.4e6, ".md": 3.4e6, ".markdown": 3.4e6, ".mdx": 3.4e6, ".html": 2.3e6, ".htm": 2.3e6, ".pdf": 0.4e6,
    ".docx": 1.9e6, ".docm": 1.9e6, ".doc": 1.9e6, ".rtf": 1.9e6, ".odt": 1.9e6, ".epub": 1.9e6,
    ".pptx": 1.9e6, ".pptm": 1.9e6, ".ppsx": 1.9e6, ".ppt": 1.9e6, ".odp": 1.9e6, ".hwpx": 1.9e6, ".hwp": 1.9e6,
}  # fmt: skip
_LARGEST = 16 * 2**20  # bytes; the documents of a few such files are in memory at a time
_PAYS_S = 4.0  # work that is worth starting processes for
_GROUP_S = 0.02  # work that goes to a worker at once
_ENTRY = f"{__name__}:work"
REMOTE_ENTRY = f"{__name__}:remote_work"
_PATIENCE_S = 1_800.0
_LOST = "reading it ended the reading process twice; it is damaged or too much for this machine: convert or split it"


@dataclass(frozen=True, slots=True)
class Span:
    """A passage but for what its document says: ``text`` is the document's from ``start`` to ``end``."""

    start: int
    end: int
    section: str
    head: str
    language: Language


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document, and where its passages stand if it was split already."""

    document: Document
    spans: tuple[Span, ...] | None = None

    def passages(self, document: Document) -> list[Passage] | None:
        """The passages under the id and collection that ``document``, the same one, has by now."""
        if self.spans is None:
            return None
        return [_passage(document, n, span) for n, span in enumerate(self.spans)]


File = tuple[SourceFile, int]
"""A file with its size in bytes."""

Tasks = list[dict[str, Any]]
"""Files as JSON values, which go to a worker together."""

Answers = list[dict[str, Any]]
"""What was read of one file, as JSON values."""


class Pool(AbstractContextManager["Pool"], Protocol):
    """Does tasks elsewhere, as ``processes.Workers`` does."""

    def map(
        self, tasks: Iterable[Any], here: Callable[[Any], Any], lost: Callable[[Any], Any] | None = None
    ) -> Iterator[Any]:
        """The results in the order of the tasks."""
        ...


Elsewhere = Callable[[str, Any], Pool]
"""Makes a pool for an entry and its setup."""


def readings(
    files: Sequence[File], split: Split, processes: int | Elsewhere | None = None
) -> Generator[Iterator[ReadDocument | UnreadableFile], None, None]:
    """What is in each file, in the order of the files; bad rows, and a file that cannot be read, come as errors.

    ``processes``: at most so many workers, by default one for each core and none when the files are few; or a pool of
    workers elsewhere. The results are the same; ending the iteration ends the workers.
    """
    apart = [(file, size) for file, size in files if _sent(file, size)]
    pool = _pool(files, len(apart), split, processes)
    if pool is None:
        yield from (read_here(file) for file, _ in files)
        return
    groups = _groups(apart, 0.0 if callable(processes) else _GROUP_S)
    with pool as workers:

        def lost(tasks: Tasks) -> list[Answers]:
            """Each file of the group alone, so that only the one that ends its readers is lost."""
            if len(tasks) == 1:
                return [_task_lost(tasks[0])]
            return [answers for one in workers.map(([task] for task in tasks), _tasks_here, lost) for answers in one]

        answers = itertools.chain.from_iterable(workers.map(groups, _tasks_here, lost))
        for file, size in files:
            yield map(decoded, next(answers)) if _sent(file, size) else read_here(file)


def _groups(files: Sequence[File], seconds: float) -> Iterator[Tasks]:
    """Small files that follow one another go together: handing over a task takes as long as reading a page of text."""
    group: Tasks = []
    left = seconds
    for file, size in files:
        needed = size / _RATES[file.path.suffix.lower()]
        if group and needed > left:
            yield group
            group, left = [], seconds
        group.append(task_of(file))
        left -= needed
    if group:
        yield group


def _pool(files: Sequence[File], apart: int, split: Split, processes: int | Elsewhere | None) -> Pool | None:
    """What reads the files; None when they are read here."""
    if callable(processes):
        return processes(REMOTE_ENTRY, _split_options(split))
    count = min(usable_cpus() if processes is None else processes, apart)
    if count < 2 or (processes is None and _seconds(files) < _PAYS_S):
        return None
    return Workers(_ENTRY, _split_options(split), count, _PATIENCE_S)


def work(options: dict[str, Any] | None) -> Callable[[Tasks], list[Answers]]:
    """The worker's side: reads files, and splits their documents unless ``options`` is None."""
    split = None if options is None else functools.partial(split_document, **options)
    return lambda tasks: [[encoded(item, split) for item in read_here(file_of(task))] for task in tasks]


def remote_work(options: dict[str, Any] | None) -> Callable[[Tasks], list[Answers]]:
    """The same on another machine: raises ``FileNotFoundError`` for a file that is not to be seen there."""
    read_tasks = work(options)

    def read_there(tasks: Tasks) -> list[Answers]:
        if not all(Path(task["path"]).exists() for task in tasks):
            raise FileNotFoundError("the file is not on this machine")
        return read_tasks(tasks)

    return read_there


def read_here(file: SourceFile) -> Iterator[ReadDocument | UnreadableFile]:
    """What is in a file, read in this process."""
    try:
        for item in read(file):
            yield item if isinstance(item, UnreadableFile) else ReadDocument(item)
    except UnreadableFile as error:
        yield error


def _sent(file: SourceFile, size: int) -> bool:
    return size <= _LARGEST and file.path.suffix.lower() in _RATES


def _seconds(files: Sequence[File]) -> float:
    return sum(size / _RATES[file.path.suffix.lower()] for file, size in files if _sent(file, size))


def _split_options(split: Split) -> dict[str, Any] | None:
    """What the worker must know to split as ``split`` does; None when it cannot, and the splitting stays here."""
    if split is split_document:
        return {}
    if isinstance(split, functools.partial) and split.func is split_document and not split.args:
        return dict(split.keywords)
    return None


def task_of(file: SourceFile) -> dict[str, Any]:
    """A file as a JSON value."""
    return {"path": str(file.path), "name": file.name, "limits": asdict(file.limits)}


def file_of(task: dict[str, Any]) -> SourceFile:
    """The file again."""
    return SourceFile(Path(task["path"]), task["name"], FileLimits(**task["limits"]))


def _tasks_here(tasks: Tasks) -> list[Answers]:
    return [[encoded(item, None) for item in read_here(file_of(task))] for task in tasks]


def _task_lost(task: dict[str, Any]) -> Answers:
    return [encoded(file_of(task).refuse(_LOST), None)]


def encoded(item: ReadDocument | UnreadableFile, split: Split | None) -> dict[str, Any]:
    """What was read as a JSON value; ``split`` splits what is not split yet."""
    if isinstance(item, UnreadableFile):
        return {"path": item.path, "why": item.why}
    document = item.document
    cuts = split(document) if split is not None and item.spans is None else item.spans
    spans = None if cuts is None else [(cut.start, cut.end, cut.section, cut.head, cut.language) for cut in cuts]
    return {"document": asdict(document), "spans": spans}


def decoded(item: dict[str, Any]) -> ReadDocument | UnreadableFile:
    """What was read again."""
    if "why" in item:
        return UnreadableFile(item["path"], item["why"])
    spans = item["spans"]
    return ReadDocument(Document(**item["document"]), None if spans is None else tuple(Span(*span) for span in spans))


def _passage(document: Document, n: int, span: Span) -> Passage:
    return Passage(
        id=f"{document.id}#{n}",
        document_id=document.id,
        title=document.title,
        text=document.text[span.start : span.end],
        start=span.start,
        end=span.end,
        section=span.section,
        language=span.language,
        collection=document.collection,
        url=document.url,
        origin=document.origin,
        head=span.head,
    )
