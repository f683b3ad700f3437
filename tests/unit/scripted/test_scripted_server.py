"""The scripted server through the real OpenAI client, real sockets, and whatever bytes one can think of."""

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.scripted.http import BadRequest, body_length, parsed_head
from tests.support.scripted.replies import Said
from tests.support.scripted.rules import Rule, When
from tests.support.scripted.server import ScriptedServer

SCHEMA = {"title": "grade", "type": "object", "properties": {"sufficiency": {"type": "number"}}}
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\n\r\n"
FIELDS = [
    "messages",
    "role",
    "content",
    "user",
    "tools",
    "tool_choice",
    "function",
    "response_format",
    "type",
    "json_schema",
    "schema",
    "properties",
    "stream",
    "n",
    "max_tokens",
    "items",
    "enum",
    "title",
    "name",
]
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


def tool(name: str) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}


class TestAnswers:
    def test_text(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(user="capital"), "Paris. [1]")])
        reply = ask(client, "What is the capital?")
        assert reply.choices[0].message.content == "Paris. [1]"
        assert reply.choices[0].finish_reason == "stop"
        assert reply.model == "m"
        assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0

    def test_a_stream_says_the_same_in_pieces(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        text = "첫 문장입니다. [1]\n\nThe second one.  " + "x" * 1_000
        server.use([Rule(When(), text)])
        pieces = list(ask(client, stream=True, stream_options={"include_usage": True}))
        said = [choice.delta.content or "" for piece in pieces for choice in piece.choices]
        assert "".join(said) == text
        assert sum(map(bool, said)) > 5
        assert pieces[-1].usage.completion_tokens == ask(client).usage.completion_tokens
        assert [c.finish_reason for piece in pieces for c in piece.choices][-1] == "stop"

    def test_an_object_for_a_schema(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(job="grade"), {"sufficiency": 0.8})])
        form = {"type": "json_schema", "json_schema": {"name": "grade", "schema": SCHEMA, "strict": True}}
        assert json.loads(ask(client, response_format=form).choices[0].message.content) == {"sufficiency": 0.8}
        (call,) = server.calls(job="grade")
        assert (call.form, call.schema) == ("json_schema", SCHEMA)

    @pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "grade"}}])
    def test_an_object_for_a_forced_tool(self, server: ScriptedServer, client: openai.OpenAI, choice: object) -> None:
        server.use([Rule(When(job="grade", form="tool"), {"sufficiency": 0.8})])
        message = ask(client, tools=[tool("grade"), tool("other")], tool_choice=choice).choices[0].message
        assert message.content is None
        assert message.tool_calls[0].function.name == "grade"
        assert json.loads(message.tool_calls[0].function.arguments) == {"sufficiency": 0.8}

    def test_a_tool_call_is_streamed(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), {"sufficiency": 0.8, "reason": "one of them says it"})])
        choice = {"type": "function", "function": {"name": "grade"}}
        pieces = ask(client, tools=[tool("grade")], tool_choice=choice, stream=True)
        calls = [call for piece in pieces for c in piece.choices for call in c.delta.tool_calls or []]
        assert calls[0].function.name == "grade"
        arguments = "".join(call.function.arguments for call in calls)
        assert json.loads(arguments)["reason"] == "one of them says it"

    def test_the_token_limit_cuts(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), "word " * 100)])
        choice = ask(client, max_tokens=5).choices[0]
        assert (choice.finish_reason, choice.message.content) == ("length", "word word word word ")

    def test_exactly_what_is_said(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), Said("half", finish="length"))])
        assert ask(client).choices[0].finish_reason == "length"

    def test_models(self, client: openai.OpenAI) -> None:
        assert [model.id for model in client.models.list()] == ["scripted"]

    def test_embeddings_are_unit_vectors_of_words(self, client: openai.OpenAI) -> None:
        texts = [
            "the red pump leaks",
            "a leaking red pump",
            "returns within a month",
            "펌프가 샙니다",
            "펌프는 왜 샙니까",
        ]
        for packing in ("float", "base64"):
            data = client.embeddings.create(model="e", input=texts, encoding_format=packing, dimensions=512).data
            if packing == "float":
                vectors = [one.embedding for one in data]
        near = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in vectors] for x in vectors]
        assert all(abs(near[i][i] - 1) < 1e-5 for i in range(5))
        assert near[0][1] > 0.4 > near[0][2]
        assert near[3][4] > 0.2 > near[3][2]
        again = client.embeddings.create(model="e", input=texts[0], dimensions=512).data[0].embedding  # base64
        assert again == pytest.approx(vectors[0])
        assert len(client.embeddings.create(model="e", input="one").data[0].embedding) == 256


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

    @pytest.mark.parametrize(
        ("parameters", "named"),
        [({"temperature": 0}, "temperature"), ({"max_tokens": 9}, "max_tokens"), ({"tools": [tool("t")]}, "tools")],
    )
    def test_parameters_can_be_refused(self, parameters: dict[str, object], named: str) -> None:
        with (
            ScriptedServer(refuses=("temperature", "max_tokens", "tools")) as server,
            openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client,
        ):
            with pytest.raises(openai.BadRequestError) as caught:
                ask(client, **parameters)
            assert (caught.value.param, caught.value.code) == (named, "unsupported_parameter")
            assert ask(client).choices

    @pytest.mark.parametrize(
        ("method", "path", "body", "status"),
        [
            ("GET", "/v1/elsewhere", b"", 404),
            ("GET", "/v1/chat/completions", b"", 405),
            ("DELETE", "/v1/models", b"", 405),
            ("POST", "/v1/chat/completions", b"{", 400),
            ("POST", "/v1/chat/completions", b"[1]", 400),
            ("POST", "/v1/chat/completions", b"\xff", 400),
            ("POST", "/v1/chat/completions", b"[" * 50_000, 400),
            ("POST", "/v1/chat/completions", b'{"messages": []}', 400),
            ("POST", "/v1/chat/completions", b'{"messages": [1]}', 400),
            ("POST", "/v1/chat/completions", b'{"messages": [{}], "n": 2}', 400),
            ("POST", "/v1/embeddings", b'{"input": [{}]}', 400),
            ("POST", "/v1/embeddings", b'{"input": "a", "dimensions": 0}', 400),
            ("POST", "/v1/chat/completions", b'{"messages": "' + b"x" * 20_000 + b'"}', 413),
        ],
    )
    def test_what_cannot_be_answered(self, method: str, path: str, body: bytes, status: int) -> None:
        with ScriptedServer(most_bytes=60_000 if status != 413 else 10_000) as server:
            address = server.url.removesuffix("/v1") + path
            request = urllib.request.Request(address, data=body or None, method=method)
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request, timeout=10)
            with caught.value as answer:
                assert answer.code == status
                assert json.load(answer)["error"]["message"]

    def test_a_rule_that_raises_is_an_error_500(self, server: ScriptedServer, client: openai.OpenAI) -> None:
        server.use([Rule(When(), lambda request: 1 / 0), Rule(When(), "fine")])  # type: ignore[arg-type, return-value]
        with pytest.raises(openai.InternalServerError, match="ZeroDivisionError"):
            ask(client)


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

    def test_latency_may_depend_on_the_request(self) -> None:
        with (
            ScriptedServer(latency_s=lambda request: 0.2 if "slow" in request.user else 0.0) as server,
            openai.OpenAI(base_url=server.url, api_key="k") as client,
        ):
            ask(client, "slow"), ask(client, "quick")
            slow, quick = (call.ended - call.started for call in server.calls())
            assert slow >= 0.2 > quick

    def test_a_stream_keeps_its_pace(self) -> None:
        with (
            ScriptedServer([Rule(When(), "a b c d")], pace_s=0.03) as server,
            openai.OpenAI(base_url=server.url, api_key="k") as client,
        ):
            assert sum(1 for _ in ask(client, stream=True)) >= 6
            (call,) = server.calls()
            assert call.ended - call.started >= 6 * 0.03


class TestManyAtOnce:
    def test_two_hundred_are_answered_side_by_side(self) -> None:
        """One connection each, all waiting at the same time; each gets its own answer."""

        async def one(port: int, n: int) -> bool:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = json.dumps({"messages": [{"role": "user", "content": f"number {n}"}]}).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n\r\n"
            fine = True
            for _ in range(2):
                writer.write(head.encode() + body)
                answered = await reader.readuntil(b"\r\n\r\n")
                length = int(answered.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                content = json.loads(await reader.readexactly(length))["choices"][0]["message"]["content"]
                fine &= content == f"you said number {n}"
            writer.close()
            await writer.wait_closed()
            return fine

        async def all_of(port: int) -> list[bool]:
            return await asyncio.gather(*(one(port, n) for n in range(200)))

        with ScriptedServer([Rule(When(), lambda r: f"you said {r.user}")], latency_s=0.3) as server:
            assert all(asyncio.run(all_of(server.port)))
            assert server.count == 400
            assert server.most_at_once > 100


def posted(tree: object) -> bytes:
    """A sound request around a body that has the right names and the wrong values."""
    message = {"messages": [{"role": "user", "content": "x"}], "more": tree}
    body = json.dumps(message | (tree if isinstance(tree, dict) else {})).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=20,
)
RAW = st.binary(max_size=400) | st.binary(max_size=60).map(POST.__add__) | TREES.map(posted)


class TestBytes:
    """Whatever comes over the wire, the server lives on."""

    @given(st.binary(max_size=300) | st.text(alphabet="GET /v1HTP.\r\n: 019", max_size=80).map(str.encode))
    def test_the_parser_reads_or_refuses(self, raw: bytes) -> None:
        for data in (raw, b"GET " + raw + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + raw + b"\r\n\r\n"):
            with suppress(BadRequest):  # anything else is a failure
                head = parsed_head(data)
                assert head.path.startswith("/")
                assert all(name == name.lower() for name in head.headers)
                assert 0 <= body_length(head) < 10**16

    @pytest.mark.parametrize(
        ("raw", "status"),
        [
            (b"GET /v1/models HTTP/1.1\r\n\r\n", None),
            (b"\r\nGET /v1/models?key=1 HTTP/1.0\r\nA:b\r\n\r\n", None),
            (b"GET / HTTP/2.0\r\n\r\n", 505),
            (b"GET  / HTTP/1.1\r\n\r\n", 400),
            (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nNo colon\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nBad name: x\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 101 + b"\r\n", 431),
        ],
    )
    def test_heads(self, raw: bytes, status: int | None) -> None:
        if status is None:
            assert parsed_head(raw).path == "/v1/models"
        else:
            with pytest.raises(BadRequest) as caught:
                body_length(parsed_head(raw))
            assert caught.value.status == status

    @settings(max_examples=30)
    @given(RAW)
    def test_a_connection_survives_nothing_but_the_server_does(self, server: ScriptedServer, raw: bytes) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := connection.recv(65_536):
                answer += piece
        assert not raw.strip() or answer.startswith(b"HTTP/1.1 ")
        with urllib.request.urlopen(f"{server.url}/models", timeout=10) as fine:
            assert fine.status == 200

    def test_head_longer_than_the_limit(self, server: ScriptedServer) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nA: " + b"x" * 140_000)
            assert connection.recv(100).startswith(b"HTTP/1.1 431")

    def test_requests_one_behind_the_other_are_answered_in_order(self, server: ScriptedServer) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(b"GET /v1/models HTTP/1.1\r\n\r\nGET /v1/none HTTP/1.1\r\nConnection: close\r\n\r\n")
            answer = b""
            while piece := connection.recv(65_536):
                answer += piece
        assert answer.index(b"200 OK") < answer.index(b"404 Not Found")
        assert answer.count(b"Connection: close") == 1


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

    def test_a_port_that_is_taken_is_an_error(self, server: ScriptedServer) -> None:
        with pytest.raises(OSError, match="address already in use"):
            ScriptedServer(port=server.port).start()

    def test_it_starts_once(self) -> None:
        with ScriptedServer() as server, pytest.raises(RuntimeError):
            server.start()

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
