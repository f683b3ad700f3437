"""What a node gave is written by itself only where its step's checkpoint does not come at once."""

import asyncio
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from selfright.memory.opening import TurnSaver, open_sessions

WHERE: Any = {"configurable": {"thread_id": "u/s/0", "checkpoint_ns": "", "checkpoint_id": "1"}}


def written(path: Path, checkpoint: bool) -> int:
    """Rows of writes in the file, with the checkpoint of their step or without."""

    async def story() -> int:
        sessions = await open_sessions(path)
        saver = sessions.checkpointer
        assert isinstance(saver, TurnSaver)
        try:
            writes = asyncio.ensure_future(saver.aput_writes(WHERE, [("draft", ("a",))], "task"))
            await asyncio.sleep(0)
            if checkpoint:
                await saver.aput(WHERE, {**empty_checkpoint(), "id": "2"}, {}, {})
            await asyncio.wait_for(writes, 30)
            assert not saver.held
            return int(await saver.database.run(lambda file: file.execute("SELECT count(*) FROM writes").fetchone()[0]))
        finally:
            await sessions.close()

    return asyncio.run(story())


def test_a_checkpoint_that_comes_at_once_takes_the_place_of_writes(tmp_path: Path) -> None:
    assert written(tmp_path / "s.sqlite", checkpoint=True) == 0


def test_writes_without_a_checkpoint_are_kept(tmp_path: Path) -> None:
    assert written(tmp_path / "s.sqlite", checkpoint=False) == 1
