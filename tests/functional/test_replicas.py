"""Two services over one PostgreSQL and one index: sessions go from one to the other, whatever happens to either."""

import concurrent.futures
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from selfright.memory.postgres import open_database
from selfright.server.keys import DatabaseKeys
from tests.support.postgres import PostgresServer
from tests.support.scripted.server import ScriptedServer
from tests.support.service import QUESTION, Spawned, http_client, spawned, write_index

if sys.platform == "win32":
    pytest.skip("processes are ended by signals here", allow_module_level=True)

CALLERS = 4
AWAY = {"database_unavailable", "session_lost", "session_busy", "store_unusable"}


@dataclass
class Replicas:
    """The services, the key that opens both, and the server of their database."""

    running: list[Spawned]
    key: str
    other_key: str
    keys: DatabaseKeys
    server: PostgresServer

    def to(self, number: int) -> httpx.Client:
        return http_client(self.running[number].url, self.key)


@pytest.fixture(scope="module")
def replicas(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    with _both(postgres, tmp_path_factory.mktemp("replicas")) as both:
        yield both


@pytest.fixture
def mortals(postgres: PostgresServer, tmp_path: Path) -> Iterator[Replicas]:
    """Two of which one may be killed."""
    with _both(postgres, tmp_path) as both:
        yield both


@contextmanager
def _both(postgres: PostgresServer, folder: Path) -> Iterator[Replicas]:
    if not postgres.is_running:
        postgres.start()
    settings, uri = write_index(folder), postgres.fresh_database()
    keys = DatabaseKeys(open_database(uri, 2))
    with ExitStack() as stack, ScriptedServer(latency_s=0.1) as model:
        stack.callback(keys.close)
        environment = {
            "SELFRIGHT_INDEX": str(settings["path"]),
            "SELFRIGHT_DATABASE": uri,
            "SELFRIGHT_EMBEDDER": "none",
            "SELFRIGHT_PRESET": "basic",
            "SELFRIGHT_SERVE_RATE": "100000",  # the callers ask as quickly as they can, for as long as a lease lasts
            "SELFRIGHT_LLM": "openai:scripted",
            "SELFRIGHT_BASE_URL": model.url,
            "OPENAI_API_KEY": "key-of-a-test",
        }
        homes = [{**environment, "SELFRIGHT_HOME": str(folder / f"home-{n}")} for n in range(2)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # both make the tables at the same moment
            both = list(pool.map(lambda home: _enter(stack, spawned(environment=home)), homes))
        (_, key), (_, other) = keys.add("ana", admin=True), keys.add("ben")
        yield Replicas(both, key, other, keys, postgres)


def _enter(stack: ExitStack, service: AbstractContextManager[Spawned]) -> Spawned:
    running = service.__enter__()
    stack.push(service)
    return running


def ask(http: httpx.Client, session: str, question: str = QUESTION) -> httpx.Response:
    return http.post("/v1/ask", json={"question": question, "session": session})


def test_a_session_hops_from_replica_to_replica(replicas: Replicas) -> None:
    with replicas.to(0) as one, replicas.to(1) as two:
        asked = [
            ask(http, "hopping", f"{QUESTION} {n}").json()["trace_id"] for n, http in enumerate((one, two, one, two))
        ]
        seen = [http.get("/v1/sessions/hopping").json() for http in (one, two)]
        assert seen[0] == seen[1]
        assert [turn["trace_id"] for turn in seen[0]["kept"]] == asked
        assert {trace["id"] for trace in one.get("/v1/traces").json()["traces"]} >= set(asked)
        assert one.delete("/v1/sessions/hopping").json() == {"deleted": 1}
        assert two.get("/v1/sessions/hopping").status_code == 404
        assert two.delete("/v1/traces").json()["deleted"] >= 4
        assert one.get("/v1/traces").json()["traces"] == []


def test_profiles_and_keys_are_the_same_on_every_replica(replicas: Replicas) -> None:
    with replicas.to(0) as one, replicas.to(1) as two:
        assert one.patch("/v1/profiles/me", json={"facts": {"age": "61"}}).status_code < 300
        assert "61" in two.get("/v1/profiles/me").text
    headers = {"Authorization": f"Bearer {replicas.other_key}"}
    urls = [running.url for running in replicas.running]
    assert [httpx.get(f"{url}/v1/me", headers=headers, trust_env=False).json()["user"] for url in urls] == ["ben"] * 2
    assert replicas.keys.revoke(replicas.other_key.split("-")[1])
    assert [httpx.get(f"{url}/v1/me", headers=headers, trust_env=False).status_code for url in urls] == [401] * 2


def test_two_turns_of_one_session_never_interleave(replicas: Replicas) -> None:
    """Many callers on both replicas: as many turns as answers, one after the other; the others are told to wait."""
    answers: list[httpx.Response] = []

    def hurry(number: int) -> None:
        with replicas.to(number % 2) as http:
            answers.extend(ask(http, "crowded", f"{QUESTION} {number}") for _ in range(3))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(hurry, range(4)))
    assert {reply.status_code for reply in answers} == {200, 409}
    assert {reply.json()["error"]["code"] for reply in answers if reply.status_code == 409} == {"session_busy"}
    with replicas.to(0) as http:
        kept = http.get("/v1/sessions/crowded").json()
    answered = sorted(reply.json()["trace_id"] for reply in answers if reply.status_code == 200)
    assert sorted(turn["trace_id"] for turn in kept["kept"]) == answered
    assert kept["turns"] == len(answered)


@dataclass
class Caller:
    """Asks in a session of its own until told to stop, now here, now there; remembers what it was answered."""

    replicas: Replicas
    session: str
    stop: threading.Event
    answered: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    cut: int = 0

    def __call__(self) -> None:
        with self.replicas.to(0) as one, self.replicas.to(1) as two:
            for n in range(500):
                if self.stop.is_set():
                    return
                try:
                    self._heard(ask((one, two)[n % 2], self.session, f"{QUESTION} {len(self.answered)}"))
                except httpx.HTTPError:
                    self.cut += 1
                    time.sleep(0.05)

    def _heard(self, reply: httpx.Response) -> None:
        if reply.status_code == 200:
            self.answered.append(reply.json()["trace_id"])
        else:
            self.refused.append(reply.json()["error"]["code"])
            time.sleep(0.5)  # what a killed replica held is free after a few seconds


def under_load(replicas: Replicas, name: str, happens: Callable[[], Any]) -> list[Caller]:
    """What callers were answered while something happened in the middle of their turns."""
    stop = threading.Event()
    callers = [Caller(replicas, f"{name} {n}", stop) for n in range(CALLERS)]

    def all_answered(more: int) -> None:
        so_far, end = [len(caller.answered) for caller in callers], time.monotonic() + 60
        while any(len(c.answered) < before + more for c, before in zip(callers, so_far, strict=True)):
            assert time.monotonic() < end, [(len(c.answered), c.cut, c.refused[-3:]) for c in callers]
            time.sleep(0.02)

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        try:
            at_work = [pool.submit(caller) for caller in callers]
            all_answered(1)
            happens()
            all_answered(2)
        finally:
            stop.set()
        for each in at_work:
            each.result()
    return callers


def check_nothing_lost(callers: list[Caller], replica: int) -> None:
    """Every turn that was answered is kept, in its order; of what was cut off, one end may be kept for each cut."""
    for caller in callers:
        kept = [turn["trace_id"] for turn in _session(caller, replica)["kept"]]
        there = [trace for trace in kept if trace in caller.answered]
        assert there == caller.answered
        assert len(kept) == len(set(kept)) <= len(caller.answered) + caller.cut + len(caller.refused)


def _session(caller: Caller, replica: int) -> Any:
    """The caller's session; a replica that has just lost its connections says so, and is asked again."""
    with caller.replicas.to(replica) as http:
        for _ in range(20):
            reply = http.get(f"/v1/sessions/{caller.session}")
            if reply.status_code == 200:
                return reply.json()
            assert reply.json()["error"]["code"] in AWAY, reply.text
            time.sleep(0.5)
    raise AssertionError(reply.text)


def test_postgresql_restarted_under_load(replicas: Replicas) -> None:
    callers = under_load(replicas, "restart", lambda: replicas.server.restart(down_s=0.5))
    assert {code for caller in callers for code in caller.refused} <= AWAY
    assert sum(caller.cut for caller in callers) == 0
    check_nothing_lost(callers, 0)


def test_one_replica_killed_under_load(mortals: Replicas) -> None:
    victim = mortals.running[1].process
    callers = under_load(mortals, "killed", lambda: victim.send_signal(signal.SIGKILL))
    assert mortals.running[1].ended() == -signal.SIGKILL
    assert sum(caller.cut for caller in callers) > 0
    refused = {code for caller in callers for code in caller.refused}
    assert refused <= {"session_busy"}, "\n".join(mortals.running[0].said[-60:])
    check_nothing_lost(callers, 0)
