"""Calls of a network that come together become one, and nobody gets another's results or errors."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.models.batching import DynamicBatcher, Lanes, _Asked


class Network:
    """Squares numbers slowly, and notes what it was asked; a negative number makes a call fail."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.asked: list[list[int]] = []
        self.begun = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.asked.append(list(items))
        self.begun.set()
        assert self.goes_on.wait(30)
        time.sleep(self.seconds)
        if min(items, default=0) < 0:
            raise ValueError(f"{list(items)}")
        return [item * item for item in items]


def one(_: int) -> int:
    return 1


def crowd(network: Network, batcher: DynamicBatcher[int, int], calls: Sequence[list[int]]) -> list[object]:
    """What each call gets, where the first of them is under way when the others come, in order."""
    network.goes_on.clear()
    with ThreadPoolExecutor(len(calls)) as threads:
        futures = [threads.submit(batcher, calls[0])]
        assert network.begun.wait(30)
        for number, items in enumerate(calls[1:], 1):
            futures.append(threads.submit(batcher, items))
            while len(batcher._waiting) < number and len(items) <= 20:
                time.sleep(0.001)
        network.goes_on.set()
        return [future.exception(30) or list(future.result()) for future in futures]


def test_twenty_at_once_are_two_calls() -> None:
    network = Network()
    batcher = DynamicBatcher(network, one, most=20)
    got = crowd(network, batcher, [[n] for n in range(20)])
    assert got == [[n * n] for n in range(20)]
    assert network.asked == [[0], list(range(1, 20))]


def test_a_call_holds_no_more_than_the_bound() -> None:
    network = Network()
    batcher = DynamicBatcher(network, one, most=4)
    assert crowd(network, batcher, [[n, n] for n in range(6)]) == [[n * n] * 2 for n in range(6)]
    assert list(map(len, network.asked)) == [2, 4, 4, 2]


def test_large_ones_run_by_themselves() -> None:
    network = Network()
    batcher = DynamicBatcher(network, lambda item: item, most=10)
    assert list(batcher([11])) == [121]
    assert list(batcher([6, 6])) == [36, 36]
    assert list(batcher([])) == []
    assert network.asked == [[11], [6, 6], []]


def test_an_error_reaches_the_one_whose_items_made_it() -> None:
    network = Network()
    got = crowd(network, DynamicBatcher(network, one, most=20), [[1], [2], [-3], [4]])
    assert [got[0], got[1], got[3]] == [[1], [4], [16]]
    assert isinstance(got[2], ValueError)
    assert str(got[2]) == "[-3]"


def test_an_error_of_one_alone_is_raised_and_the_next_is_served() -> None:
    network = Network()
    batcher = DynamicBatcher(network, one, most=20)
    with pytest.raises(ValueError, match="-1"):
        batcher([-1])
    assert list(batcher([2])) == [4]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 50), max_size=6), min_size=1, max_size=12), st.integers(1, 8))
def test_whatever_comes_everyone_gets_their_own(calls: list[list[int]], most: int) -> None:
    batcher = DynamicBatcher(Network(0.001), one, most)
    with ThreadPoolExecutor(len(calls)) as threads:
        futures = [threads.submit(batcher, items) for items in calls]
        for items, future in zip(calls, futures, strict=True):
            if -1 in items:
                assert isinstance(future.exception(30), ValueError)
            else:
                assert list(future.result(30)) == [item * item for item in items]
    assert not batcher._busy
    assert not batcher._waiting


def test_a_thread_that_gives_up_waiting_leaves_nobody_behind() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow(items: Sequence[int]) -> list[int]:
        entered.set()
        go_on.wait(30)
        return [item * item for item in items]

    class Impatient(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    batcher = DynamicBatcher(slow, one, most=20)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(batcher, [2])
        entered.wait(30)
        for leads in (False, True):
            asked = _Asked[int, int]([3], 1, woken=Impatient(), leads=leads)
            if not leads:
                batcher._waiting.append(asked)
            with pytest.raises(KeyboardInterrupt):
                batcher._wait(asked)
        go_on.set()
        assert list(first.result(30)) == [4]
    assert not batcher._busy
    assert list(batcher([5])) == [25]


@pytest.mark.parametrize("threads", [1, 2, 3])
@given(lengths=st.lists(st.integers(1, 512), max_size=60))
def test_lanes_run_each_row_once_in_small_batches(threads: int, lengths: list[int]) -> None:
    batches: list[list[int]] = []
    Lanes(threads)(lengths, batches.append)
    assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
    for rows in batches:
        longest = max(lengths[row] for row in rows)
        assert longest * len(rows) <= max(320, longest)


def test_two_lanes_run_at_once() -> None:
    both = threading.Barrier(2, timeout=30)
    Lanes(2)([300, 300], lambda _: both.wait() and None)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_lane_is_raised(threads: int) -> None:
    def fail(rows: list[int]) -> None:
        raise ValueError(f"{rows}")

    with pytest.raises(ValueError, match=r"\[\d\]"):
        Lanes(threads)([300, 300, 300], fail)


def test_lanes_leave_no_thread_that_a_command_would_wait_for() -> None:
    seen: list[list[int]] = []
    Lanes(2)([300] * 40, seen.append)
    assert len(seen) > 1
    assert sorted(row for rows in seen for row in rows) == list(range(40))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("selfright-network")]
