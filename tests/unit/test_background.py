"""Threads of a service are shared between its keys."""

import threading
import time
from collections import Counter
from concurrent.futures import Future, wait

from selfright.background import FairThreads, working_for


class Jobs:
    """Counts what runs at once of each key."""

    def __init__(self) -> None:
        self.most: Counter[str] = Counter()
        self.ended: list[str] = []
        self._now: Counter[str] = Counter()
        self._lock = threading.Lock()

    def give(self, threads: FairThreads, key: str, seconds: float) -> "Future[None]":
        before = working_for.set(key)
        try:
            return threads.submit(self._work, key, seconds)
        finally:
            working_for.reset(before)

    def _work(self, key: str, seconds: float) -> None:
        with self._lock:
            self._now[key] += 1
            self.most[key] = max(self.most[key], self._now[key])
        time.sleep(seconds)
        with self._lock:
            self._now[key] -= 1
            self.ended.append(key)


def test_a_key_with_many_jobs_keeps_no_other_waiting() -> None:
    jobs = Jobs()
    with FairThreads(cores=2) as threads:
        futures = [jobs.give(threads, "a", 0.05) for _ in range(20)]
        futures += [jobs.give(threads, "b", 0.05), jobs.give(threads, "", 0.01)]
        wait(futures, timeout=30)
    assert len(jobs.ended) == 22
    assert jobs.most["a"] == 2
    assert jobs.ended.index("b") < 8
    assert jobs.ended[0] == ""  # the service's own work waits for nobody


def test_a_job_that_fails_gives_its_place_back() -> None:
    with FairThreads(cores=1) as threads:
        before = working_for.set("a")
        try:
            failing, following = threads.submit(lambda: 1 / 0), threads.submit(lambda: "done")
            waiting = [threads.submit(time.sleep, 0.05) for _ in range(2)]
            assert waiting[1].cancel()
        finally:
            working_for.reset(before)
        assert isinstance(failing.exception(timeout=5), ZeroDivisionError)
        assert following.result(timeout=5) == "done"
