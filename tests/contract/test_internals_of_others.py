"""What the code uses of other libraries beyond their documented interface; a release that changes it fails here."""

import importlib
import inspect
import logging
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


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
    code = "import atexit, os; atexit.register(print, 'ran', flush=True); atexit._run_exitfuncs(); os._exit(0)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "ran\n"
