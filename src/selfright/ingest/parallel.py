"""Files read and split in worker processes, in order, where there is enough to read for that to pay."""

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document, Language, Passage
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import SUFFIXES, read
from selfright.ingest.splitting import split
from selfright.processes import Workers, usable_cpus

# These hold many documents in a file: they come row by row, so that a file may be of any size, and cost little to read.
_SENT = SUFFIXES - {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".xls", ".ods"}
_LARGEST = 16 * 2**20  # bytes; the documents of a few such files are in memory at a time
_PAYS = 8_000_000  # bytes that are worth starting processes for: four seconds of work
_PDF = 5  # a byte of a PDF takes as long as so many of others
_GROUP = 40_000  # bytes that go to a worker at once
_ENTRY = f"{__name__}:work"
_PATIENCE_S = 1_800.0
_LOST = "reading it ended the reading process twice; it is damaged or too much for this machine: convert or split it"

Span = tuple[int, int, str, str, Language]
"""A passage but for what its document says: start, end, section, head, language."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document, and where its passages stand if it was split already."""

    document: Document
    spans: tuple[Span, ...] | None = None

    def passages(self, document: Document) -> Sequence[Passage]:
        """The passages under the id and collection that ``document``, the same one, has by now."""
        if self.spans is None:
            return split(document)
        return [document.passage(n, *span) for n, span in enumerate(self.spans)]


File = tuple[SourceFile, int]
"""A file with its size in bytes."""

Tasks = list[dict[str, Any]]
"""Files as JSON values, which go to a worker together."""

Answers = list[dict[str, Any]]
"""What was read of one file, as JSON values."""


def readings(
    files: Sequence[File], processes: int | None = None
) -> Generator[Iterator[ReadDocument | UnreadableFile], None, None]:
    """What is in each file, in the order of the files; bad rows, and a file that cannot be read, come as errors.

    At most ``processes`` workers read, by default one for each core and none when the files are few; the results are
    the same. Ending the iteration ends the workers.
    """
    apart = [(file, size) for file, size in files if _is_sent(file, size)]
    count = min(usable_cpus() if processes is None else processes, len(apart))
    if count < 2 or (processes is None and sum(_work(*one) for one in apart) < _PAYS):
        yield from (read_here(file) for file, _ in files)
        return
    with Workers(_ENTRY, None, count, _PATIENCE_S) as workers:

        def lost(tasks: Tasks) -> list[Answers]:
            """Each file of the group alone, so that only the one that ends its readers is lost."""
            if len(tasks) == 1:
                return [[encode_item(file_of(tasks[0]).refuse(_LOST))]]
            return [answers for one in workers.map(([task] for task in tasks), _read_tasks, lost) for answers in one]

        answers = itertools.chain.from_iterable(workers.map(_groups(apart), _read_tasks, lost))
        for file, size in files:
            yield map(decode_item, next(answers)) if _is_sent(file, size) else read_here(file)


def _is_sent(file: SourceFile, size: int) -> bool:
    return size <= _LARGEST and file.path.suffix.lower() in _SENT


def _work(file: SourceFile, size: int) -> int:
    return size * _PDF if file.path.suffix.lower() == ".pdf" else size


def _groups(files: Sequence[File]) -> Iterator[Tasks]:
    """Small files that follow one another go together: handing over a task takes as long as reading a page of text."""
    group: Tasks = []
    filled = 0
    for file, size in files:
        if group and filled + _work(file, size) > _GROUP:
            yield group
            group, filled = [], 0
        group.append(task_of(file))
        filled += _work(file, size)
    yield group


def work(_setup: None) -> Callable[[Tasks], list[Answers]]:
    """The worker's side: reads files and splits their documents."""
    return _read_tasks


def _read_tasks(tasks: Tasks) -> list[Answers]:
    return [[encode_item(with_spans(item)) for item in read_here(file_of(task))] for task in tasks]


def read_here(file: SourceFile) -> Iterator[ReadDocument | UnreadableFile]:
    """What is in a file, read in this process."""
    try:
        for item in read(file):
            yield item if isinstance(item, UnreadableFile) else ReadDocument(item)
    except UnreadableFile as error:
        yield error


def with_spans(item: ReadDocument | UnreadableFile) -> ReadDocument | UnreadableFile:
    """The same, a document split."""
    if isinstance(item, UnreadableFile):
        return item
    cuts = split(item.document)
    return ReadDocument(item.document, tuple((cut.start, cut.end, cut.section, cut.head, cut.language) for cut in cuts))


def task_of(file: SourceFile) -> dict[str, Any]:
    """A file as a JSON value."""
    return {"path": str(file.path), "name": file.name, "limits": asdict(file.limits)}


def file_of(task: dict[str, Any]) -> SourceFile:
    """The file again."""
    return SourceFile(Path(task["path"]), task["name"], FileLimits(**task["limits"]))


def encode_item(item: ReadDocument | UnreadableFile) -> dict[str, Any]:
    """What was read as a JSON value."""
    if isinstance(item, UnreadableFile):
        return {"path": item.path, "why": item.why}
    return {"document": asdict(item.document), "spans": item.spans}


def decode_item(item: dict[str, Any]) -> ReadDocument | UnreadableFile:
    """What was read again."""
    if "why" in item:
        return UnreadableFile(item["path"], item["why"])
    spans = item["spans"]
    return ReadDocument(Document(**item["document"]), None if spans is None else tuple(map(tuple, spans)))
