"""What the code uses of other libraries beyond their documented interface; a release that changes it fails here."""

import atexit
import importlib
import inspect
import logging
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


def test_uvicorn_calls_its_protocol_and_its_server_as_ours_expect() -> None:
    import h11
    from uvicorn import Server
    from uvicorn.protocols.http.h11_impl import H11Protocol

    assert list(inspect.signature(H11Protocol.__init__).parameters)[1:] == [
        "config",
        "server_state",
        "app_state",
        "_loop",
    ]
    for name in ("connection_made", "data_received", "connection_lost", "pause_writing", "resume_writing"):
        assert callable(getattr(H11Protocol, name))
    source = inspect.getsource(H11Protocol.__init__)
    assert "self.conn = h11.Connection" in source
    assert "self.loop" in source
    assert {"their_state", "trailing_data"} <= set(dir(h11.Connection(h11.SERVER)))
    # In a process of its own: sse-starlette, imported by another test, wraps this method.
    told = "import inspect, uvicorn; print(*inspect.signature(uvicorn.Server.handle_exit).parameters)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["self", "sig", "frame"]
    assert "self.capture_signals()" in inspect.getsource(Server.serve)
    assert {"should_exit", "force_exit"} <= set(inspect.getsource(Server.__init__).replace(".", " ").split())


def test_langgraph_names_the_thread_of_a_checkpoint_in_its_tables(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with sqlite3.connect(tmp_path / "turns.sqlite") as connection:
        SqliteSaver(connection).setup()
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        first = [connection.execute(f"PRAGMA table_info({table})").fetchone()[1] for table in tables]
    connection.close()
    assert (sorted(tables), first) == (["checkpoints", "writes"], ["thread_id", "thread_id"])


@pytest.mark.skipif(not find_spec("langgraph.checkpoint.postgres"), reason="needs the extra postgres")
def test_langgraph_makes_its_tables_in_postgresql_by_plain_statements() -> None:
    from langgraph.checkpoint.postgres import PostgresSaver

    assert PostgresSaver.MIGRATIONS
    assert all(isinstance(step, str) for step in PostgresSaver.MIGRATIONS)


@pytest.mark.skipif(not find_spec("milvus_lite"), reason="needs the extra milvus")
def test_milvus_lite_lets_go_of_one_file() -> None:
    manager = importlib.import_module("milvus_lite.server_manager").server_manager_instance
    assert list(inspect.signature(manager.release_server).parameters) == ["path"]


@pytest.mark.skipif(not find_spec("grpc"), reason="needs the extra milvus")
def test_grpc_logs_what_milvus_lite_lacks_under_this_name() -> None:
    assert importlib.import_module("grpc._server")._LOGGER is logging.getLogger("grpc._server")


def test_python_runs_what_is_registered_for_the_end_when_told() -> None:
    assert callable(atexit._run_exitfuncs)
