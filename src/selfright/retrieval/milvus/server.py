"""Calls to a Milvus server, or to Milvus Lite in a file of its own: bounded in time, with errors of this package."""

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pymilvus import MilvusClient  # type: ignore[import-untyped]
from pymilvus.exceptions import MilvusException  # type: ignore[import-untyped]

from selfright.domain.errors import IndexBusy, StoreError, StoreUnavailable
from selfright.retrieval.locations import Location

_CALL_S = 60.0
_BATCH = 1_000
MOST_FOUND = 16_384  # Milvus' own limit on what one search gives

_open: Counter[str] = Counter()  # how many stores of this process have a file of Milvus Lite open
_opening = threading.Lock()
_writers: dict[str, threading.Lock] = {}

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, with whole statements


class Server:
    """One index's collections on a server: ``passages``, ``documents``, ``terms`` and ``about``."""

    def __init__(self, place: Location) -> None:
        self.place = place
        self.is_lite = place.path is not None
        self._file = str(place.path.absolute()) if place.path else ""
        self._client = self._connect()
        self.writer = _writers.setdefault(place.shown, threading.Lock())

    def name_of(self, collection: str) -> str:
        """A collection's name on the server."""
        return f"{self.place.name}_{collection}"

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What one of the client's methods gives; raises ``StoreUnavailable`` or ``StoreError``."""
        try:
            return getattr(self._client, method)(*arguments, timeout=_CALL_S, **named)
        except MilvusException as error:
            raise self._translate(error) from error
        except ValueError as error:  # a channel that was closed
            raise StoreError(f"the index {self.place.shown} was closed; open it again") from error

    def exists(self, collection: str) -> bool:
        """Whether there is such a collection."""
        return bool(self.call("has_collection", self.name_of(collection)))

    def create(self, collection: str, schema: Any, indexes: Any) -> None:
        """Makes and loads a collection."""
        name, level = self.name_of(collection), self.place.option("consistency", "Strong")
        self.call("create_collection", name, schema=schema, consistency_level=level)
        # Not waited for: over no rows there is nothing to build, and the client sleeps half a second before it looks.
        self.call("create_index", name, indexes, sync=False)
        self.load(collection)

    def load(self, collection: str) -> None:
        """Makes a collection searchable."""
        self.call("load_collection", self.name_of(collection))

    def get(self, collection: str, keys: Sequence[Any], fields: Sequence[str]) -> list[Mapping[str, Any]]:
        """Rows by primary key, of those that are there."""
        found: list[Mapping[str, Any]] = []
        for start in range(0, len(keys), _BATCH):
            some = list(keys[start : start + _BATCH])
            found += self.call("get", self.name_of(collection), ids=some, output_fields=list(fields))
        return found

    def rows(self, collection: str, condition: str, fields: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """All rows that a condition holds for, some at a time."""
        iterator = self.call(
            "query_iterator",
            self.name_of(collection),
            batch_size=_BATCH,
            filter=condition,
            output_fields=list(fields),
        )
        try:
            while batch := iterator.next():
                yield from batch
        finally:
            iterator.close()

    def search(self, collection: str, wanted: Any, field: str, metric: str, limit: int, **named: Any) -> list[Any]:
        """The rows nearest to one thing, best first."""
        found = self.call(
            "search",
            self.name_of(collection),
            data=[wanted],
            anns_field=field,
            limit=min(limit, MOST_FOUND),
            search_params={"metric_type": metric, **({"params": {"ef": max(200, limit)}} if metric == "IP" else {})},
            **named,
        )
        return list(found[0])

    def insert(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows with new keys."""
        for start in range(0, len(rows), _BATCH):
            self.call("insert", self.name_of(collection), list(rows[start : start + _BATCH]))

    def upsert(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows, or puts them in the place of those with the same keys."""
        for start in range(0, len(rows), _BATCH):
            self.call("upsert", self.name_of(collection), list(rows[start : start + _BATCH]))

    def delete(self, collection: str, keys: Sequence[Any]) -> None:
        """Removes rows by key."""
        for start in range(0, len(keys), _BATCH):
            self.call("delete", self.name_of(collection), ids=list(keys[start : start + _BATCH]))

    def flush(self, collection: str) -> None:
        """Has what was written laid down and indexed; searches are slow until then."""
        self.call("flush", self.name_of(collection))

    def close(self) -> None:
        """Lets go of the server; Milvus Lite ends with its last store in this process."""
        self._client.close()
        if not self.is_lite:
            return
        from milvus_lite.server_manager import server_manager_instance  # type: ignore[import-untyped]

        with _opening:
            _open[self._file] -= 1
            if _open[self._file] <= 0:
                server_manager_instance.release_server(self._file)

    def _connect(self) -> MilvusClient:
        place = self.place
        try:
            if not self.is_lite:
                scheme = "https" if place.option("secure") in ("1", "true") else "http"
                token = f"{place.user}:{place.password}" if place.user else os.environ.get("MILVUS_TOKEN", "")
                database = place.option("database", "default")
                address = f"{scheme}://{place.host}:{place.port}"
                return MilvusClient(address, token=token, db_name=database, timeout=10)
            logging.getLogger("grpc._server").setLevel(logging.CRITICAL)  # Lite lacks a call that it can do without
            with _opening:
                _writers.setdefault(place.shown, threading.Lock())
                client = MilvusClient(self._file)
                _open[self._file] += 1
                return client
        except MilvusException as error:
            if self.is_lite:
                raise IndexBusy(
                    f"{place.shown} cannot be opened: another process has the file open, or it is no Milvus Lite file; "
                    "close the other one, or run a Milvus server for several processes"
                ) from error
            raise self._translate(error) from error

    def _translate(self, error: MilvusException) -> StoreError:
        words = str(getattr(error, "message", error)).strip().splitlines() or ["no answer"]
        shown = self.place.shown
        if any(word in words[0].lower() for word in ("connect", "unavailable", "deadline", "timeout", "channel")):
            return StoreUnavailable(
                f"the server of the index {shown} cannot be reached ({words[0][:200]}); see that it runs, then try "
                "again"
            )
        return StoreError(f"the index {shown} could not be used ({words[0][:200]}); see to that, then try again")
