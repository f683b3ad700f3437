"""Worker processes: order, errors, ends of all kinds, and callers without a main guard."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from selfright.processes import Workers, receive, send, usable_cpus

ENTRY = f"{__name__}:work"


def work(answers: IO[bytes]) -> None:
    """The worker's side of these tests."""
    setup = receive(sys.stdin.buffer)
    while (task := receive(sys.stdin.buffer)) is not None:
        answer = [setup["mark"], task]
        match task:
            case ["die"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["sleep", seconds]:
                time.sleep(seconds)
            case ["print"]:
                sys.stdout.write("noise")
                sys.stdout.flush()
                os.write(1, b"more noise")
            case ["pid"]:
                answer = os.getpid()
        send(answers, answer)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(ENTRY, {"mark": "w"}, 2) as started:
        yield started


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_results_come_in_the_order_of_the_tasks(workers: Workers) -> None:
    tasks: list[Any] = [["sleep", 0.05 if n % 5 == 0 else 0] for n in range(20)]
    assert list(workers.map(tasks)) == [["w", task] for task in tasks]
    strange = ["\udcff", "가\0", {"a": [None, 1.5]}]
    assert list(workers.map(strange)) == [["w", task] for task in strange]


def test_tasks_are_taken_as_results_are_used(workers: Workers) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for n in range(100):
            taken.append(n)
            yield n

    results = workers.map(tasks())
    assert next(results) == ["w", 0]
    assert len(taken) <= 6
    results.close()


@pytest.mark.parametrize(("task", "answer"), [(["print"], ["w", ["print"]]), (["die"], None)])
def test_a_task_that_goes_wrong_costs_no_other(workers: Workers, task: list[str], answer: object) -> None:
    assert list(workers.map([0, task, 1])) == [["w", 0], answer, ["w", 1]]


def test_a_worker_that_goes_silent_is_not_waited_for() -> None:
    with Workers(ENTRY, {"mark": "w"}, 1, patience_s=5.0) as workers:
        assert list(workers.map([1, ["sleep", 60], 2])) == [["w", 1], None, ["w", 2]]


@pytest.mark.parametrize("entry", ["selfright.nowhere:work", "selfright.processes:nothing"])
def test_without_anybody_to_answer_every_task_is_lost(entry: str) -> None:
    with Workers(entry, {}, 2) as workers:
        assert list(workers.map([1, 2, 3])) == [None] * 3


def test_where_no_process_starts_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Workers(ENTRY, {}, 2) as workers, pytest.raises(OSError, match="nowhere"):
        list(workers.map([1]))


def test_leaving_ends_the_processes_whatever_they_do() -> None:
    started = time.monotonic()
    with Workers(ENTRY, {"mark": "w"}, 2) as workers:
        pids = set(workers.map([["pid"]] * 4))
        busy = workers.map([["sleep", 60]] * 3)
        results = iter(busy)
        with pytest.raises(KeyboardInterrupt):
            interrupt(results)
    assert time.monotonic() - started < 30
    assert all(map(gone, pids))


def interrupt(results: Iterator[Any]) -> None:
    """Ctrl-C while a result is waited for."""
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        next(results)
    finally:
        signal.signal(signal.SIGALRM, previous)


SCRIPT = """
import sys
print("main")
from selfright.processes import Workers, usable_cpus
workers = Workers("tests.unit.test_processes:work", {"mark": "w"}, 2)
print(sorted(workers.map([["pid"]] * 2))[0] > 0, list(workers.map([5])), flush=True)
print("pid", *{process.pid for process in workers._alive}, flush=True)
"""


def run(folder: Path, end: str) -> "subprocess.Popen[str]":
    script = folder / "script.py"
    script.write_text(textwrap.dedent(SCRIPT) + end)
    (folder / "json.py").write_text("raise SystemExit('the wrong json')")  # workers do not import from where they are
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-P", str(script)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize("end", ["", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_script_without_a_main_guard_runs_once_and_takes_its_workers_along(tmp_path: Path, end: str) -> None:
    said, _ = run(tmp_path, end).communicate(timeout=60)
    lines = said.splitlines()
    assert lines[:2] == ["main", "True [['w', 5]]"]
    pids = [int(pid) for pid in lines[2].split()[1:]]
    assert pids
    deadline = time.monotonic() + 20
    while not all(map(gone, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(map(gone, pids))


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 64),
        ({"cpu.max": "max 100000"}, 64),
        ({"cpu.max": "200000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu.max": "250000 100000"}, 3),
        ({"cpu.max": "9900000 100000"}, 64),
        ({"cpu.max": "nonsense"}, 64),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 64),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
    ],
)
def test_a_containers_quota_bounds_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n", encoding="ascii")
    assert usable_cpus(tmp_path) == cores
