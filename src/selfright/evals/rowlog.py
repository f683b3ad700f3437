"""Rows as they are made, kept against a kill: one line each, appended, made lasting in batches.

The first line says what was asked of whom; a log of another plan is refused, for its rows would mix with these. What
follows the last whole line is cut off when the log is opened again.
"""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from selfright.domain.errors import IndexBusy, UsageError
from selfright.evals.results import Row, row_line, row_of
from selfright.retrieval.locking import WriterLock

FORM = "selfright.rows/1"
_BATCH_ROWS = 16
_BATCH_S = 1.0

Key = tuple[str, str]
"""A system's name and a question's id."""


class RowLog:
    """The rows of one plan in one file; ``rows`` are those that were there. One process at a time."""

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = WriterLock(path.with_name(f"{path.name}.lock"))
        try:
            self._lock.acquire()
        except IndexBusy:
            raise UsageError(
                f"{path.parent} is being written by another run; wait for it, or choose another --out"
            ) from None
        self.rows: dict[Key, Row] = {}
        try:
            self._file = self._opened(json.dumps({"form": FORM, "plan": plan}, sort_keys=True, ensure_ascii=False))
        except BaseException:
            self._lock.release()
            raise
        self._unsafe, self._safe_at = 0, time.monotonic()

    def append(self, system: str, row: Row) -> None:
        """Keeps a row; it is lasting after at most 16 rows, or a second and the next row."""
        head = json.dumps(system, ensure_ascii=False).encode()
        self._file.write(b'{"system":' + head + b',"row":' + row_line(row) + b"}\n")
        self._file.flush()
        self._unsafe += 1
        if self._unsafe >= _BATCH_ROWS or time.monotonic() - self._safe_at >= _BATCH_S:
            self._sync()

    def close(self) -> None:
        """Makes all rows lasting and lets another run have the file."""
        self._sync()
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self, head: str) -> IO[bytes]:
        file = self._path.open("a+b")
        file.seek(0)
        first = file.readline()
        if not first.endswith(b"\n"):  # new, or killed before anything was in it
            file.truncate(0)
            file.write(head.encode() + b"\n")
            file.flush()
            return file
        if first.decode("utf-8", "replace").rstrip("\n") != head:
            file.close()
            raise UsageError(
                f"{self._path} holds rows of another plan (other questions, systems, index, model or version); "
                "choose another --out, or delete it to start anew"
            )
        file.truncate(self._read(file))
        return file

    def _read(self, file: IO[bytes]) -> int:
        """Takes in the rows; gives back where the last whole one ends."""
        end = file.tell()
        while (line := file.readline()).endswith(b"\n"):
            try:
                kept = json.loads(line)
                row = row_of(json.dumps(kept["row"]))
                self.rows[kept["system"], row.question_id] = row
            except (ValueError, KeyError, TypeError):
                break
            end = file.tell()
        return end

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._unsafe, self._safe_at = 0, time.monotonic()
