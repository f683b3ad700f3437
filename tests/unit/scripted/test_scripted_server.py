"""What the scripted server counts, how it ends, and how it is started by hand."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from itertools import pairwise
from typing import Any

import openai
import pytest

from tests.support.scripted.server import ScriptedServer

POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\n\r\n"
HELLO: list[Any] = [{"role": "user", "content": "hello"}]


def test_calls_rounds_and_how_many_at_once() -> None:
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


def test_it_stops_cleanly_with_calls_under_way() -> None:
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


def test_command_line() -> None:
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
                        client.chat.completions.create(model="m", messages=HELLO)
                        outcomes.append("sound")
                    except openai.InternalServerError:
                        outcomes.append("503")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert 2 < outcomes.count("503") < 18
    assert any(a != b for a, b in pairwise(outcomes))
