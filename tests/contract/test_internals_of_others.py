"""What the code uses of other libraries beyond their documented interface; a release that changes it fails here."""

import atexit
import importlib
import inspect
import logging
import sqlite3
from importlib.util import find_spec
from pathlib import Path

import pytest


def test_langgraph_keeps_checkpoints_in_the_tables_that_ours_are_written_to(tmp_path: Path) -> None:
    from langgraph.checkpoint.base import WRITES_IDX_MAP
    from langgraph.checkpoint.sqlite import SqliteSaver

    with sqlite3.connect(tmp_path / "turns.sqlite") as connection:
        SqliteSaver(connection).setup()
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in ("checkpoints", "writes")
        }
    connection.close()
    place = ["thread_id", "checkpoint_ns", "checkpoint_id"]
    assert columns == {
        "checkpoints": [*place, "parent_checkpoint_id", "type", "checkpoint", "metadata"],
        "writes": [*place, "task_id", "task_path", "idx", "channel", "type", "value"],
    }
    assert all(number < 0 for number in WRITES_IDX_MAP.values())


@pytest.mark.skipif(not find_spec("langgraph.checkpoint.postgres"), reason="needs the extra postgres")
def test_langgraph_makes_its_tables_in_postgresql_by_plain_statements() -> None:
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.store.postgres import PostgresStore

    for steps in (PostgresSaver.MIGRATIONS, PostgresStore.MIGRATIONS):
        assert steps
        assert all(isinstance(step, str) for step in steps)


@pytest.mark.skipif(not find_spec("milvus_lite"), reason="needs the extra milvus")
def test_milvus_lite_lets_go_of_one_file() -> None:
    manager = importlib.import_module("milvus_lite.server_manager").server_manager_instance
    assert list(inspect.signature(manager.release_server).parameters) == ["path"]


@pytest.mark.skipif(not find_spec("grpc"), reason="needs the extra milvus")
def test_grpc_logs_what_milvus_lite_lacks_under_this_name() -> None:
    assert importlib.import_module("grpc._server")._LOGGER is logging.getLogger("grpc._server")


def test_python_runs_what_is_registered_for_the_end_when_told() -> None:
    assert callable(atexit._run_exitfuncs)
