"""Erasing a user erases everything of that user: every file of the home folder, every table of the database is read."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright
from tests.functional.test_sessions import kill, wait_for
from tests.support.llm import rules, write_index
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.server import ScriptedServer

SECRET = "xylophonic-quagmire"
LEFT = f"How is the unfinished {SECRET} installed?"
CHILD = """
import json, sys
from selfright import Selfright
with Selfright.open(**json.loads(sys.argv[1])) as selfright:
    selfright.ask(sys.argv[2], session="left", user="ana")
"""


def in_files(settings: dict[str, Any]) -> Callable[[], bytes]:
    home = Path(settings["home"])
    return lambda: b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def in_tables(settings: dict[str, Any]) -> Callable[[], bytes]:
    import psycopg

    def read() -> bytes:
        with psycopg.connect(settings["database"]) as connection:
            listed = (
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
            )
            tables = [name for (name,) in connection.execute(listed).fetchall()]
            assert len(tables) > 5
            found = []
            for table in tables:
                with connection.cursor().copy(f"COPY {table} TO STDOUT (FORMAT binary)") as copy:
                    found += [bytes(part) for part in copy]
        return b"".join(found)

    return read


@pytest.mark.parametrize("kept", ["files", "postgres"])
def test_nothing_of_an_erased_user_is_left_in_any_store(
    kept: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings: dict[str, Any] = {**write_index(tmp_path), "traces": "full", "pack": "medical", "home": tmp_path / "home"}
    if kept == "postgres":
        settings["database"] = request.getfixturevalue("database")
    look = in_tables(settings) if kept == "postgres" else in_files(settings)
    with ScriptedServer(rules(answer=FAULTS["stall"])) as server:
        given = {**{name: str(v) if isinstance(v, Path) else v for name, v in settings.items()}, "base_url": server.url}
        child = subprocess.Popen([sys.executable, "-c", CHILD, json.dumps(given), LEFT], env=dict(os.environ))
        wait_for(lambda: any(call.fault for call in server.calls()))
        kill(child)
        server.use(rules())
        with Selfright.open(**given) as selfright:
            selfright.ask(f"What about {SECRET}?", session="s", user="ana")
            selfright.ask(f"I am 61. And {SECRET}?", user="ana")
            selfright.set_profile({"conditions": SECRET}, "ana")
            selfright.ask("What is kept of Ben?", session="s", user="ben")
            assert SECRET.encode() in look()
            gone = selfright.erase("ana")
            assert (gone.sessions, gone.traces) == (2, 2)
            assert gone.facts >= 1
            assert len(selfright.turns("s", "ben")) == 1
            assert selfright.profile("ana").slots == ()
        assert SECRET.encode() not in look()
