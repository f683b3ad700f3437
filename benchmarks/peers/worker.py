"""Measures one system in this process and environment: ``python -m benchmarks.peers.worker PHASE ...``.

``build``: makes the index, and measures it when it lives in memory. ``open``: opens what was saved, as a new process
does, and measures it when it lives on disk. The record is written after every step: what a killed worker found stays.
"""

import argparse
import asyncio
import contextlib
import importlib
import inspect
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.peers import measures
from benchmarks.peers.collection import (
    NEAREST,
    Passages,
    Queries,
    load_added,
    load_passages,
    load_queries,
    passage_id,
)
from benchmarks.peers.driver import Driver, Found

T = TypeVar("T")
_TOP = 10
_FEWEST = 10  # queries, however slow they are
_REFERENCE_DEPTHS = (10, 100)


class Worker:
    """One system under measurement, and the record of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._record: dict[str, Any] = {}
        self._loop = asyncio.new_event_loop()
        self._warm_up, self._queries = load_queries(options.data, options.queries)

    def build(self) -> None:
        driver = self._driver()
        self._fill(driver)
        measures.release()
        if self._options.lives == "memory":
            self._measure(driver)
        seconds, saved = _timed(lambda: driver.save(self._options.index))
        self._note(saved=saved, save_s=round(seconds, 2))
        if saved:
            self._note(disk_mb=round(measures.folder_bytes(self._options.index) / 1e6, 1))

    def open(self) -> None:
        measures.forget_files(self._options.index)
        seconds, driver = _timed(self._driver)
        self._note(import_s=round(seconds, 3))
        seconds, _ = _timed(lambda: self._first_answer(driver))
        self._note(open_s=round(seconds, 3), depth=driver.depth)
        if self._options.lives == "disk":
            measures.remember_files(self._options.index)
            self._measure(driver)

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def _first_answer(self, driver: Driver) -> Found:
        driver.open(self._options.index)
        return self._result(driver.search(self._warm_up.texts[0], self._warm_up.vectors[0], _TOP))

    def _fill(self, driver: Driver) -> None:
        passages = load_passages(self._options.data)
        seconds, _ = _timed(lambda: driver.build(self._options.index, passages))
        self._note(build_s=round(seconds, 2), depth=driver.depth)

    def _driver(self) -> Driver:
        module, _, name = self._options.driver.partition(":")
        vectors = {
            text: vector
            for queries in (self._warm_up, self._queries, self._added())
            for text, vector in zip(queries.texts, queries.vectors, strict=True)
        }
        driver: Driver = getattr(importlib.import_module(module), name)(vectors, self._options.depth)
        return driver

    def _measure(self, driver: Driver) -> None:
        self._ask(driver, self._warm_up)
        seconds, found = self._ask(driver, self._queries)
        self._note(**measures.times(seconds), asked=len(seconds))
        self._note(**measures.memory())
        self._sync_door(driver)
        by_ranks = getattr(driver, "by_ranks", None)  # the overlap compares plain fusion with plain fusion
        if by_ranks is not None:
            pairs = zip(self._queries.texts, self._queries.vectors, strict=True)
            found = [
                self._result(by_ranks(text, vector, _TOP)) for (text, vector), _ in zip(pairs, found, strict=False)
            ]
        self._note(hits=[[name for name, _ in hits] for hits in found], references=self._references(driver))
        self._recall(driver)
        self._add(driver, load_added(self._options.data, self._options.passages))

    def _ask(self, driver: Driver, queries: Queries) -> tuple[list[float], list[Found]]:
        return self._loop.run_until_complete(_ask(driver, queries, self._options.seconds))

    def _sync_door(self, driver: Driver) -> None:
        """What a caller without a running event loop pays."""
        if not inspect.iscoroutinefunction(driver.search):
            return
        seconds = []
        for text, vector in zip(self._queries.texts, self._queries.vectors, strict=True):
            started = time.perf_counter()
            self._result(driver.search(text, vector, _TOP))
            seconds.append(time.perf_counter() - started)
        self._note(sync_p50_ms=measures.times(seconds)["p50_ms"])

    def _recall(self, driver: Driver) -> None:
        asked = len(self._record["hits"])
        rows = zip(self._queries.texts[:asked], self._queries.vectors, strict=False)
        found = [self._result(driver.dense(text, vector, NEAREST)) for text, vector in rows]
        exact = [[passage_id(number) for number in row] for row in self._queries.nearest.tolist()]
        self._note(recall=round(measures.shared(found, exact), 4))

    def _add(self, driver: Driver, added: Passages) -> None:
        """Adds passages and looks for the last of them, by its own words and vector."""
        seconds, _ = _timed(lambda: driver.add(added))
        question = self._added()
        found = self._result(driver.search(question.texts[0], question.vectors[0], _TOP))
        self._note(add_s=round(seconds, 3), added_found=added.ids[-1] in [name for name, _ in found])

    def _added(self) -> Queries:
        """A question for the last of the passages that are added."""
        added = load_added(self._options.data, 0)
        return Queries([" ".join(added.texts[-1].split()[:8])], added.vectors[-1:], self._queries.nearest[:0])

    def _references(self, driver: Driver) -> dict[str, list[list[str]]]:
        """The exact hybrid's answers by the depth of its halves, of the one driver that knows them."""
        fused: Callable[..., list[int]] | None = getattr(driver, "fused", None)
        if fused is None:
            return {}
        pairs = list(zip(self._queries.texts, self._queries.vectors, strict=True))
        return {
            str(depth): [[passage_id(number) for number in fused(*pair, depth)[:_TOP]] for pair in pairs]
            for depth in _REFERENCE_DEPTHS
        }

    def _result(self, value: T | Awaitable[T]) -> T:
        return self._loop.run_until_complete(_awaited(value))

    def _note(self, **values: Any) -> None:
        self._record |= values
        self._options.out.write_text(json.dumps(self._record))


async def _ask(driver: Driver, queries: Queries, limit: float) -> tuple[list[float], list[Found]]:
    """One query at a time inside a running loop, until ``limit`` seconds have passed and the fewest are done."""
    seconds: list[float] = []
    found: list[Found] = []
    ends = time.perf_counter() + limit
    for text, vector in zip(queries.texts, queries.vectors, strict=True):
        started = time.perf_counter()
        result = driver.search(text, vector, _TOP)
        found.append(await result if inspect.isawaitable(result) else result)
        seconds.append(time.perf_counter() - started)
        if time.perf_counter() > ends and len(seconds) >= _FEWEST:
            break
    return seconds, found


async def _awaited(value: T | Awaitable[T]) -> T:
    return await value if inspect.isawaitable(value) else value


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _hold_to(threads: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("phase", choices=("build", "open"))
    parser.add_argument("--driver", required=True, help="module:Class")
    parser.add_argument("--lives", choices=("memory", "disk"), required=True)
    for name in ("--data", "--index", "--out"):
        parser.add_argument(name, type=Path, required=True)
    for name in ("--passages", "--queries", "--depth", "--threads"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="for the queries")
    options = parser.parse_args(arguments)
    _hold_to(options.threads)
    with contextlib.closing(Worker(options)) as worker:
        getattr(worker, options.phase)()


if __name__ == "__main__":
    main()
