"""The scripted server through the real OpenAI client, real sockets, and whatever bytes one can think of."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import openai
import pytest

from tests.support.scripted.rules import Rule, When
from tests.support.scripted.server import ScriptedServer

POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\n\r\n"
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _as_new(server: ScriptedServer) -> None:
    server.use(())
    server.forget()


@pytest.fixture(scope="module")
def client(server: ScriptedServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="sk-test-key", max_retries=0, timeout=10) as one:
        yield one


def ask(client: openai.OpenAI, text: str = "hello", **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], **more)


class TestAnswers:
    def test_the_token_limit_cuts(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), "word " * 100)])
        choice = ask(client, max_tokens=5).choices[0]
        assert (choice.finish_reason, choice.message.content) == ("length", "word word word word ")


class TestRefusals:
    def test_a_key_may_be_wanted(self) -> None:
        with ScriptedServer(key="sk-right") as server:
            for key, fine in (("sk-wrong", False), ("sk-right", True)):
                with openai.OpenAI(base_url=server.url, api_key=key, max_retries=0) as client:
                    if fine:
                        assert ask(client).choices
                    else:
                        with pytest.raises(openai.AuthenticationError):
                            ask(client)

    def test_keys_are_not_kept(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        ask(client, extra_headers={"api-key": "sk-second", "Cookie": "sk-third"})
        (request,) = server.requests
        assert request.headers["content-type"] == "application/json"
        assert "sk-" not in repr(dict(request.headers)) + repr(request)


class TestWhatIsSeen:
    def test_calls_rounds_and_how_many_at_once(self) -> None:
        """Two calls at the same time, then one: three calls in two rounds."""

        async def turn(url: str) -> None:
            async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
                await asyncio.gather(*(client.chat.completions.create(model="m", messages=HELLO) for _ in range(2)))
                await client.chat.completions.create(model="m", messages=HELLO)

        with ScriptedServer(latency_s=0.2) as server:
            asyncio.run(turn(server.url))
            assert (server.count, server.most_at_once, server.rounds()) == (3, 2, 2)
            assert all(r.ended - r.started >= 0.2 for r in server.calls())
            server.forget()
            assert (server.count, server.most_at_once, server.rounds(), server.requests) == (0, 0, 0, [])

    def test_one_that_hangs_up_is_noticed(self) -> None:
        async def impatient(url: str) -> None:
            async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
                await asyncio.wait_for(client.chat.completions.create(model="m", messages=HELLO), 0.1)

        with ScriptedServer(latency_s=0.3) as server:
            with pytest.raises(TimeoutError):
                asyncio.run(impatient(server.url))
            (call,) = server.calls()
            while call.ended is None:
                threading.Event().wait(0.01)
            assert call.hung_up

    def test_only_the_last_requests_are_kept_but_all_are_counted(self) -> None:
        with ScriptedServer(keep=2) as server, openai.OpenAI(base_url=server.url, api_key="k") as client:
            for n in range(4):
                ask(client, f"question {n}")
            assert [call.user for call in server.calls()] == ["question 2", "question 3"]
            assert server.calls(user="3")[0].number == server.count == 4


class TestStarting:
    def test_it_stops_cleanly_with_calls_under_way(self) -> None:
        gc.collect()  # what tests before left open is not to be counted
        before, files = threading.active_count(), len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
        with ScriptedServer(latency_s=30) as server:
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(POST + b'{"messages": [{"role": "user", "x": "yyy"}]}'[:42])
            idle = socket.create_connection(("127.0.0.1", server.port))
        for one in (connection, idle):
            one.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))
        server.close()
        gc.collect()
        assert threading.active_count() == before
        assert not files or len(os.listdir("/proc/self/fd")) <= files

    def test_command_line(self) -> None:
        command = [sys.executable, "-m", "tests.support.scripted", "--port", "0", "--latency", "0", "--fault", "503"]
        with subprocess.Popen([*command, "--share", "0.5"], stdout=subprocess.PIPE, text=True) as process:
            try:
                lines = [process.stdout.readline() for _ in range(4)]
                assert lines[2] == "export SELFRIGHT_LLM=openai:scripted\n"
                url = lines[3].strip().removeprefix("export SELFRIGHT_BASE_URL=")
                outcomes = []
                with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
                    for _ in range(20):
                        try:
                            outcomes.append(ask(client).choices[0].message.content)
                        except openai.InternalServerError:
                            outcomes.append("503")
            finally:
                process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0
        assert 2 < outcomes.count("503") < 18
        assert any(a != b for a, b in pairwise(outcomes))
