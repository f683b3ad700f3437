"""kill -9 while users ask: is each answered turn still there, in order, and can its session go on?

    python -m benchmarks.killed_turns [--kills 20] [--users 12] [--workers 1] [--latency 0.2] [--up 14]

The service runs with sessions and a scripted model that takes ``--latency`` seconds a call. Each user has a key and a
session and asks without a pause. After 1 to ``--up`` seconds all processes of the service get SIGKILL at once and it is
started anew over the same folder, time and again. Afterwards each session has to hold every turn that was answered,
each once and in the order they were asked, at most one turn more for each kill (saved, the reply lost), and answer
another question as soon as the killed turn's lease has ended. Ends with 1 where one of it fails.
"""

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.service_load import prepare, processes_of, served
from benchmarks.turn_server import ModelProcess

_STUCK_S = 30.0  # a session that answers nothing for so long is stuck; the lease of a killed turn ends sooner


@dataclass
class User:
    """``answered``: what was asked and got an answer, in order; ``asked``: all that was asked."""

    key: str
    answered: list[str] = field(default_factory=list)
    asked: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    async def ask(self, http: httpx.AsyncClient, number: int) -> bool:
        """Asks a question that no other turn asks."""
        question = f"How is FxStore installed on machine {number}-{self.asked}?"
        self.asked += 1
        body = {"question": question, "session": "kept"}
        reply = await http.post("/v1/ask", json=body, headers=self.headers)
        if reply.status_code == 200:
            self.answered.append(question)
        else:
            self.refused[f"{reply.status_code} {reply.json()['error']['code']}"] += 1
            await asyncio.sleep(float(reply.headers.get("Retry-After", 1.0)))
        return reply.status_code == 200

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


async def until_killed(url: str, users: Sequence[User], seconds: float, pid: int) -> None:
    """All ask until the service is killed, ``seconds`` after they began."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        asking = [asyncio.create_task(_ask_on(http, user, number)) for number, user in enumerate(users)]
        await asyncio.sleep(seconds)
        for one in processes_of(pid):
            os.kill(one, signal.SIGKILL)
        await asyncio.gather(*asking)


async def _ask_on(http: httpx.AsyncClient, user: User, number: int) -> None:
    while True:
        try:
            await user.ask(http, number)
        except httpx.TransportError:  # the service is gone
            return


async def look(url: str, users: Sequence[User], kills: int) -> list[str]:
    """What is wrong with the sessions after the last start; one line each."""
    wrong, began = list[str](), time.monotonic()
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        for number, user in enumerate(users):
            while not (free := await user.ask(http, number)) and time.monotonic() - began < _STUCK_S:
                pass
            wrong += [] if free else [f"user {number}: no answer for {_STUCK_S:.0f} s after the last start"]
            reply = await http.get("/v1/sessions/kept", headers=user.headers)
            reply.raise_for_status()
            kept = [turn["question"] for turn in reply.json()["kept"]]
            wrong += [f"user {number}: {one}" for one in faults(user.answered, kept, kills)]
    print(f"all sessions answered {time.monotonic() - began:.1f} s after the last start")
    return wrong


def faults(answered: Sequence[str], kept: Sequence[str], kills: int) -> list[str]:
    """What is wrong with the turns ``kept`` of a session, of which a client saw ``answered``."""
    found = [f"lost: {question}" for question in answered if question not in kept]
    found += [f"twice: {question}" for question in set(kept) if kept.count(question) > 1]
    if not found and [question for question in kept if question in set(answered)] != list(answered):
        found.append("in another order")
    if len(kept) - len(answered) > kills:
        found.append(f"{len(kept) - len(answered)} turns that nobody saw answered, after {kills} kills")
    return found


async def run(options: argparse.Namespace, folder: Path, model: str) -> int:
    chance = random.Random(options.seed)
    users = [User(key) for key in prepare(folder, options.users)]
    starts: list[float] = []
    for _ in range(options.kills):
        began = time.monotonic()
        with served(folder, model, options) as (process, url):
            starts.append(time.monotonic() - began)
            await until_killed(url, users, chance.uniform(1.0, options.up), process.pid)
    with served(folder, model, options) as (_, url):
        wrong = await look(url, users, options.kills)
    answered, asked = sum(len(user.answered) for user in users), sum(user.asked for user in users)
    refused = sum((user.refused for user in users), Counter[str]())
    cut = asked - answered - refused.total()
    print(f"{options.kills} kills, {asked} turns asked: {answered} answered, {cut} cut by a kill, {len(wrong)} faults")
    print(f"refused: {dict(refused)}")
    print(f"started anew in {sorted(starts)[len(starts) // 2]:.1f} s (median), {max(starts):.1f} s (longest)")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers: dict[str, Any] = {"--kills": 20, "--users": 12, "--workers": 1, "--turns": 64, "--queue": 64, "--seed": 1}
    for name, default in numbers.items():
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--up", type=float, default=14.0, help="seconds until a kill, at most")
    parser.add_argument("--preset", default="full")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ModelProcess(options.latency) as model:
        return asyncio.run(run(options, Path(folder), model.url))


if __name__ == "__main__":
    raise SystemExit(main())
