"""The files of an index, read and split by processes of their own while those before them are stored.

All cores read, and a file that brings its process down is one file that failed. A few small texts are read here:
that takes less time than starting a process.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import IO, Any

from selfright.domain.errors import UnreadableFile
from selfright.ingest.files import SourceFile
from selfright.ingest.ocr import bounds_of
from selfright.ingest.reading import is_packed
from selfright.ingest.sandbox import (
    Bounds,
    ReadDocument,
    decode_item,
    encode_item,
    file_of,
    limit_process,
    read_apart,
    read_split,
    task_of,
)
from selfright.processes import Workers, receive, send, usable_cpus

_ENTRY = f"{__name__}:serve"
_HERE = 2**20  # bytes of texts in all
_STREAMED = 2**23  # bytes of a file from which on its documents come one by one, and no process is ahead of it
_TASK = 2**18  # bytes of texts that are one task
_TASK_FILES = 64
_MEMORY = 2**32  # bytes that a file may take which is read by itself
_PACKED = 8  # so many bytes of text are read in the time of one of a packed format

Item = ReadDocument | UnreadableFile


def read_files(files: Sequence[SourceFile]) -> Generator[tuple[SourceFile, Item | None], None, None]:
    """The documents of the files in order, and an error for each row or file that is none.

    None comes before all that is in a file. Close the iterator to end the processes.
    """
    if not any(map(is_packed, files)) and sum(file.size for file in files) < _HERE:
        yield from _read_here(files)
        return
    groups = list(_groups(files))
    ahead = [group for group in groups if not _is_streamed(group)]
    patience_s = max((bounds_of(file).seconds for group in ahead for file in group), default=0.0)
    with Workers(_ENTRY, {"memory": Bounds().memory}, usable_cpus(), patience_s) as workers:
        answers = workers.map(list(map(task_of, group)) for group in ahead)
        for number, group in enumerate(groups):
            yield group[0], None
            try:
                answer = None if _is_streamed(group) else next(answers)
            except OSError:  # no process can be started, as in a program that is frozen into one file
                yield from _read_here([file for rest in groups[number:] for file in rest])
                return
            for place, file in enumerate(group):
                if place:
                    yield file, None
                if answer is not None:
                    yield from ((file, decode_item(value)) for value in answer[place])
                else:  # too large, or one file of the group ended the process: each for itself
                    bounds = replace(bounds_of(file), memory=_MEMORY)
                    yield from ((file, item) for item in read_apart(file, bounds))


def _read_here(files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, Item | None]]:
    for file in files:
        yield file, None
        yield from ((file, item) for item in read_split(file))


def _groups(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Files next to each other that are read as one task."""
    group: list[SourceFile] = []
    weight = 0
    for file in files:
        more = file.size * (_PACKED if is_packed(file) else 1)
        if group and (weight + more > _TASK or len(group) == _TASK_FILES):
            yield group
            group, weight = [], 0
        group.append(file)
        weight += more
    if group:
        yield group


def _is_streamed(group: Sequence[SourceFile]) -> bool:
    return group[0].size > _STREAMED


def serve(answers: IO[bytes]) -> None:
    """The reader's side: what is in each file of a task."""
    setup = receive(sys.stdin.buffer)
    limit_process(setup["memory"])
    while (task := receive(sys.stdin.buffer)) is not None:
        send(answers, [_encoded(one) for one in task])


def _encoded(one: dict[str, Any]) -> list[dict[str, Any]]:
    return list(map(encode_item, read_split(file_of(one))))
