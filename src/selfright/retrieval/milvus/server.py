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

    def call(self, method: str, collection: str, *arguments: Any, **named: Any) -> Any:
        """What one of the client's methods gives of a collection; raises ``StoreUnavailable`` or ``StoreError``."""
        name = f"{self.place.name}_{collection}"
        try:
            return getattr(self._client, method)(name, *arguments, timeout=_CALL_S, **named)
        except MilvusException as error:
            raise self._translate(error) from error
        except ValueError as error:  # a channel that was closed
            raise StoreError(f"the index {self.place.shown} was closed; open it again") from error

    def get(self, collection: str, keys: Sequence[Any], fields: Sequence[str]) -> list[Mapping[str, Any]]:
        """Rows by primary key, of those that are there."""
        found: list[Mapping[str, Any]] = []
        for some in _batches(keys):
            found += self.call("get", collection, ids=some, output_fields=list(fields))
        return found

    def rows(self, collection: str, condition: str, fields: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """All rows that a condition holds for, some at a time."""
        named = {"batch_size": _BATCH, "filter": condition, "output_fields": list(fields)}
        iterator = self.call("query_iterator", collection, **named)
        try:
            while batch := iterator.next():
                yield from batch
        finally:
            iterator.close()

    def search(self, collection: str, wanted: Any, field: str, metric: str, limit: int, **named: Any) -> list[Any]:
        """The rows nearest to one thing, best first."""
        found = self.call(
            "search",
            collection,
            data=[wanted],
            anns_field=field,
            limit=min(limit, MOST_FOUND),
            search_params={"metric_type": metric, **({"params": {"ef": max(200, limit)}} if metric == "IP" else {})},
            **named,
        )
        return list(found[0])

    def write(self, method: str, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """``insert``: adds rows with new keys; ``upsert``: also puts them in the place of those with the same keys."""
        for some in _batches(rows):
            self.call(method, collection, some)

    def delete(self, collection: str, keys: Sequence[Any]) -> None:
        """Removes rows by key."""
        for some in _batches(keys):
            self.call("delete", collection, ids=some)

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


def _batches(items: Sequence[Any]) -> Iterator[list[Any]]:
    return (list(items[start : start + _BATCH]) for start in range(0, len(items), _BATCH))
