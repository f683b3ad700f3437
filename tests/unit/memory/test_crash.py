import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from selfright.domain.errors import SessionBusy, StoreError
from selfright.memory import session_rows
from selfright.memory.conversation import Conversation
from selfright.memory.opening import open_sessions
from tests.unit.memory import dying

PATIENCE = 60.0


@dataclass(frozen=True)
class Killed:
    """A turn whose process was killed while ``d`` was at work and ``c`` was done, and what others saw before that."""

    folder: Path
    seen_unfinished: bool
    kept_out: bool

    def copy(self, folder: Path) -> tuple[Path, Path]:
        """A copy of its own for a test: the file of the sessions, and the log of visited nodes."""
        shutil.copytree(self.folder, folder / "copy")
        return folder / "copy" / "s.sqlite", folder / "copy" / "log"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    folder = tmp_path_factory.mktemp("killed")
    path, log = folder / "s.sqlite", folder / "log"
    child = subprocess.Popen([sys.executable, dying.__file__, str(path), str(log)], env={**os.environ, **HERE})
    try:
        until = time.monotonic() + PATIENCE
        while not saved(path, "strips"):
            assert child.poll() is None, "the child ended by itself"
            assert time.monotonic() < until, "the turn did not get as far as it should"
            time.sleep(0.02)
        return Killed(folder, conversation(path).unfinished is not None, is_kept_out(path, log))
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        time.sleep(session_rows.LEASE_S)  # until then nobody knows that its holder is dead


def is_kept_out(path: Path, log: Path) -> bool:
    try:
        asyncio.run(dying.turn(path, log, resumed=False))
    except SessionBusy:
        return True
    return False


HERE = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])}


def saved(path: Path, channel: str) -> bool:
    """Whether a node's write to a channel has been committed."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return False
    try:
        return bool(connection.execute("SELECT count(*) FROM writes WHERE channel = ?", (channel,)).fetchone()[0])
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()


def conversation(path: Path) -> Conversation:
    async def read() -> Conversation:
        sessions = await open_sessions(path)
        try:
            return await sessions.conversation("u", "s")
        finally:
            await sessions.close()

    return asyncio.run(read())


def test_a_killed_turn_goes_on_at_its_unfinished_node(killed: Killed, tmp_path: Path) -> None:
    path, log = killed.copy(tmp_path)
    assert sorted(log.read_text()) == ["a", "b", "c", "d"]

    left = conversation(path)
    assert left.unfinished is not None
    assert (left.unfinished.question, left.unfinished.number, left.turns) == ("질문?", 0, 0)

    log.write_text("")
    end = asyncio.run(dying.turn(path, log, resumed=True))
    assert log.read_text() == "de"  # what was done is not done again, the parallel node's part included
    assert end["strips"] == (dying.STRIP,)
    assert end["best"].strips == (dying.STRIP,)
    assert end["retrieved_docs_history"] == (frozenset({"d"}), frozenset({"e"}))
    assert [step.node for step in end["trace"]] == ["a", "b", "c", "d", "e"]

    done = conversation(path)
    assert (done.unfinished, done.turns, [m.content for m in done.messages]) == (None, 1, ["질문?", "답"])


def test_a_running_turn_keeps_other_processes_out_and_is_not_called_unfinished(killed: Killed) -> None:
    assert killed.kept_out
    assert not killed.seen_unfinished


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE checkpoints SET type = 'selfright-0'",
        "UPDATE checkpoints SET checkpoint = x'c1'",
        'UPDATE sessions SET running = replace(running, \'"program": "\', \'"program": "0\')',
    ],
    ids=["another serializer", "damaged", "another version of the program"],
)
async def test_what_another_version_left_is_no_way_to_resume(killed: Killed, tmp_path: Path, change: str) -> None:
    path, _ = killed.copy(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()

    sessions = await open_sessions(path)
    handle = await sessions.begin("u", "s", "질문?")
    assert handle.left is None
    await sessions.suspend(handle)
    await sessions.close()


def test_a_file_damaged_in_its_middle_is_named(killed: Killed, tmp_path: Path) -> None:
    path, log = killed.copy(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    content = bytearray(path.read_bytes())
    content[4_096:] = b"\xff" * (len(content) - 4_096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.sqlite"):
        asyncio.run(dying.turn(path, log, resumed=True))
    assert path.read_bytes() == bytes(content)  # what can be saved of it is for its owner to save


ENDING = """
import asyncio, os, signal, sys
from pathlib import Path
from selfright.domain.judgements import StopReason
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_sessions
from selfright.memory.session_rows import SessionRows

async def turns(path, step):
    sessions = await open_sessions(path)
    handle = await sessions.begin("u", "s", "one?")
    await sessions.finish(handle, TurnRecord("one?", "", "1", StopReason.ADEQUATE))
    handle = await sessions.begin("u", "s", "two?")
    rows, run = sessions._rows, sessions._rows.run
    def dying(connection, statement, *values):
        cursor = run(connection, statement, *values)
        dying.done += 1
        if dying.done == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return cursor
    dying.done, rows.run = 0, dying
    await sessions.finish(handle, TurnRecord("two?", "", "2", StopReason.ADEQUATE))

asyncio.run(turns(Path(sys.argv[1]), int(sys.argv[2])))
"""


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_killed_in_the_middle_of_its_end_a_turn_is_wholly_unfinished(tmp_path: Path, step: int) -> None:
    path = tmp_path / "s.sqlite"
    command = [sys.executable, "-c", ENDING, str(path), str(step)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sessions SET beat = 0")  # as time does
    connection.close()
    left = conversation(path)
    assert left.unfinished is not None
    assert (left.unfinished.question, left.turns, [m.content for m in left.messages]) == ("two?", 1, ["one?", "1"])


HURRYING = """
import asyncio, sys
from pathlib import Path
from selfright.domain.errors import SessionBusy
from selfright.domain.judgements import StopReason
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_sessions

async def turns(path, name):
    sessions, done, refused = await open_sessions(path), 0, 0
    path.with_name(name).touch()
    while not (path.with_name("a").exists() and path.with_name("b").exists()):
        await asyncio.sleep(0.001)  # one that starts later would find nobody to hurry with
    while done < 40:
        try:
            handle = await sessions.begin("u", "s", f"{name}{done}")
        except SessionBusy:
            refused += 1
            await asyncio.sleep(0.001)
            continue
        before = [message.content for message in handle.conversation.messages if message.role == "user"]
        assert len(before) == handle.turn.number
        await asyncio.sleep(0.001)
        await sessions.finish(handle, TurnRecord(f"{name}{done}", "", str(handle.turn.number), StopReason.ADEQUATE))
        done += 1
    await sessions.close()
    print(refused)

asyncio.run(turns(Path(sys.argv[1]), sys.argv[2]))
"""


def test_turns_of_two_processes_in_one_session_never_interleave(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    command = [sys.executable, "-c", HURRYING, str(path)]
    running = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    refused = [int(process.communicate(timeout=PATIENCE)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert sum(refused) > 0
    messages = conversation(path).messages
    assert [m.content for m in messages if m.role == "assistant"] == [str(n) for n in range(80)]
    assert sorted(m.content for m in messages if m.role == "user") == sorted(
        f"{name}{n}" for name in "ab" for n in range(40)
    )
