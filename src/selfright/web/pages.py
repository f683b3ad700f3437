"""Pages behind results: fetched, read, kept; and what stands for one that cannot be read.

What the web answered is kept on disk for a while: one SQLite file, bounded in bytes and age, expendable.
"""

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from selfright.domain.errors import PageRefused, PageUnusable
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.storage.sqlite import LOG_BYTES, CacheFile, Layout, transaction
from selfright.web.extract import PageReader
from selfright.web.politeness import Visitor
from selfright.web.providers.provider import Result
from selfright.web.types import RequestCounter

DAY_S = 86_400.0

_PATIENCE_S = 2.0
_LARGEST_SHARE = 0.25  # of the bound, for one entry
_MOST_UNPACKED = 50_000_000
_LAYOUT = Layout(
    "web cache",
    1,
    (
        "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, kept REAL NOT NULL, size INTEGER NOT NULL,"
        " value BLOB NOT NULL) WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS entries_by_time ON entries (kept)",
    ),
    ("auto_vacuum = FULL", "secure_delete = ON", "synchronous = NORMAL", LOG_BYTES),  # deleted entries leave no pages
)
# Everything that, added up from the oldest on, had not yet made the room that is needed.
_DROP_OLDEST = """
DELETE FROM entries WHERE key IN (
    SELECT key FROM (SELECT key, size, sum(size) OVER (ORDER BY kept, key) AS freed FROM entries) WHERE freed - size < ?
)
"""


class WebCache:
    """Values of JSON by key, at most ``max_bytes`` of them in all and none older than ``max_age_s``.

    The oldest go first. Thread-safe, and several processes may share the file. Calls do disk work: use a thread.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int = 100_000_000,
        max_age_s: float = DAY_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._max_bytes, self._max_age_s, self._clock = max_bytes, max_age_s, clock
        self._file = CacheFile(path, _LAYOUT, _PATIENCE_S)

    def get(self, *names: object) -> Any:
        """What was kept under these names, or None when there is nothing, or nothing fresh."""
        return self._file.attempt(lambda connection: self._read(connection, _key(names)), None)

    def put(self, value: Any, *names: object) -> None:
        """Keeps a value that JSON can hold; one that is too large for this cache is not kept."""
        packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 6)
        if len(packed) <= self._max_bytes * _LARGEST_SHARE:
            self._file.attempt(lambda connection: self._write(connection, _key(names), packed), None)

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        self._file.close()

    def _read(self, connection: sqlite3.Connection, key: bytes) -> Any:
        oldest = self._clock() - self._max_age_s
        row = connection.execute("SELECT value FROM entries WHERE key = ? AND kept > ?", (key, oldest)).fetchone()
        if row is None:
            return None
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(row[0], _MOST_UNPACKED)
        return json.loads(text.decode("utf-8", "surrogatepass")) if unpacker.eof else None

    def _write(self, connection: sqlite3.Connection, key: bytes, packed: bytes) -> None:
        now = self._clock()
        with transaction(connection, "IMMEDIATE"):
            connection.execute("DELETE FROM entries WHERE kept <= ?", (now - self._max_age_s,))
            connection.execute("REPLACE INTO entries VALUES (?, ?, ?, ?)", (key, now, len(packed), packed))
            (total,) = connection.execute("SELECT sum(size) FROM entries").fetchone()
            if total > self._max_bytes:
                connection.execute(_DROP_OLDEST, (total - self._max_bytes,))


def _key(names: tuple[object, ...]) -> bytes:
    return hashlib.sha256(json.dumps([str(name) for name in names]).encode()).digest()


log = logging.getLogger(__name__)

_LEAST_SNIPPET = 40
_PAGE = TypeAdapter(Document)


@dataclass(frozen=True, slots=True)
class Pages:
    """Fetches pages with ``visitor``, reads them with ``reader``, keeps their texts in ``cache``.

    Where a page cannot be read, what the provider itself told of it stands for it; a page that must not be fetched is
    left out. Nothing here belongs to one event loop.
    """

    visitor: Visitor
    reader: PageReader
    cache: WebCache | None = None

    async def behind(self, results: Sequence[Result], tally: RequestCounter, last: float) -> list[Document]:
        """The pages behind the results that can be used, in their order; ``last`` is the loop's time to be done by."""
        tasks = [asyncio.create_task(self._page(result, tally)) for result in results]
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=max(0.0, last - asyncio.get_running_loop().time()))
            pairs = zip(tasks, results, strict=True)
            pages = [task.result() if task.done() else _snippet(result) for task, result in pairs]
            return [page for page in pages if page is not None]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _page(self, result: Result, tally: RequestCounter) -> Document | None:
        kept = await asyncio.to_thread(self.cache.get, "page", result.url) if self.cache else None
        if kept is not None:
            with suppress(ValidationError):
                return _PAGE.validate_python(kept)
        try:
            reply = await self.visitor.fetch(result.url, tally)
            page = await asyncio.to_thread(self.reader.read, reply)
        except PageRefused as error:
            log.warning("a result is left out: %s", error)
            return None
        except PageUnusable as error:
            log.info("a page is not read: %s", error)
            return _snippet(result)
        if self.cache:
            await asyncio.to_thread(self.cache.put, asdict(page), "page", result.url)
        return page


def _snippet(result: Result) -> Document | None:
    """What the provider told of a page that could not be read; None when that is next to nothing."""
    text = result.snippet
    if len(text) < _LEAST_SNIPPET:
        return None
    return Document(result.url, result.title, text, language_of(text), result.url, result.url)
