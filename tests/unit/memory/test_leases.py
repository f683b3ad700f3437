"""However two holders of one session come and go, what is stored is what the one whose lease stood has written."""

import asyncio
import random
from pathlib import Path

import pytest

from selfright.domain.errors import SessionBusy, SessionLost
from selfright.domain.judgements import StopReason
from selfright.domain.turns import TurnCheckpoint
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_sessions
from selfright.memory.sessions import TurnHandle

WHAT = ["begin", "begin", "begin", "save", "finish", "finish", "abandon", "suspend", "stall", "stall"]
LONG_AGO = "UPDATE sessions SET beat = {now} - 10 WHERE beat > 0"


async def story(path: Path, steps: list[tuple[str, int]]) -> tuple[list[str], list[str]]:
    """The answers that are stored, and those that should be."""
    both = await open_sessions(path), await open_sessions(path)
    for sessions in both:
        sessions.upkeep.begin = lambda: None  # time is in the steps
    handles: list[TurnHandle | None] = [None, None]
    holder, is_free, expected = -1, True, list[str]()
    for number, (step, who) in enumerate(steps):
        sessions, handle = both[who], handles[who]
        if step == "begin":
            try:
                handles[who] = await sessions.begin("u", "s", f"{number}?")
                assert is_free
                holder, is_free = who, False
            except SessionBusy:
                assert handle is not None or not is_free
        elif step == "stall":
            rows = sessions._rows
            await rows.change(lambda connection, rows=rows: rows.run(connection, LONG_AGO))
            is_free = True
        elif handle is not None:
            stands = holder == who
            try:
                if step == "save":
                    await sessions.keep(handle, TurnCheckpoint({"question": b"q?"}, ("grade",)))
                elif step == "finish":
                    await sessions.finish(handle, TurnRecord(f"{number}?", "", str(number), StopReason.ADEQUATE))
                    expected.append(str(number))
                else:
                    await getattr(sessions, step)(handle)
                assert stands or step in ("abandon", "suspend")
            except SessionLost:
                assert not stands
            if step != "save":
                handles[who] = None
                holder, is_free = (-1, True) if stands else (holder, is_free)
    kept = [record.answer for record in await both[0].records("u", "s")]
    for sessions in both:
        await sessions.close()
    return kept, expected


@pytest.mark.parametrize("seed", range(40))
def test_only_whose_lease_stands_writes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    steps = [(chance.choice(WHAT), chance.randrange(2)) for _ in range(40)]
    stored, expected = asyncio.run(story(tmp_path / "s.sqlite", steps))
    assert stored == expected
