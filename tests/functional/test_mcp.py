"""MCP with its official client: over stdio as a program starts it, and over HTTP behind the service's authenticator."""

import asyncio
import itertools
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from selfright.server.admission import Limits
from selfright.server.keys import KeyRing
from tests.support.scripted.server import ScriptedServer
from tests.support.service import QUESTION, serving, write_index
from tests.support.waiting import wait_for

ASK = {"question": QUESTION}
ACCEPT = {"Accept": "application/json, text/event-stream"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": "x", "k": 500}, "k"),
    ("search", {"query": "x", "k": "many"}, "k"),
    ("search", {}, "query"),
    ("search", {"query": 7}, "query"),
    ("search", {"query": "x", "collections": {"a": 1}}, "collections"),
    ("search", {"query": "x", "collections": ["a", ""]}, "collections.1"),
    ("search", {"querry": "x"}, "query"),
    ("ask", {"question": "x" * 10_001}, "question"),
    ("guess", {}, "guess"),
]
"""Calls that cannot be done, and what the error names."""


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gave; its text when it failed, under ``error``."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return {"error": " ".join(getattr(part, "text", "") for part in result.content)}
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def over_stdio(folder: Path, work: Callable[[Client], Awaitable[None]], more: Mapping[str, object] = {}) -> None:
    write_index(folder)
    options = ["--index", str(folder / "index"), "--set", "embedder=none", "--set", f"home={folder / 'home'}"]
    options += [part for name, value in more.items() for part in ("--set", f"{name}={value}")]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "selfright", "mcp", *options], env=dict(os.environ)
    )

    async def run() -> None:
        async with Client(server) as client:
            await work(client)

    asyncio.run(asyncio.wait_for(run(), 120))


def over_http(url: str, key: str | None, work: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            await work(client)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_an_agent_over_stdio(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"search", "ask", "ingest", "explain"}
        assert "caller" not in str(tools["ask"].input_schema)
        found = await called(client, "search", query="fog horn", k=2)
        assert "fog horn sounds twice" in found["results"][0]["text"]
        assert found["searched"]["by"] in ("words", "both")
        answer = await called(client, "ask", **ASK)
        assert "90 days" in answer["answer"]
        assert answer["citations"][0]["document_id"].endswith("lighthouse.md")
        trace = await called(client, "explain", trace_id=answer["trace_id"])
        assert trace["id"] == answer["trace_id"]
        assert [step["node"] for step in trace["steps"]][:1] == ["contextualize"]
        added = await called(client, "ingest", name="boat.md", text="# Boat\n\nThe ferry Marlin leaves at seven.")
        assert (added["added"], added["errors"]) == (1, [])
        again = await called(client, "ask", question="When does the ferry Marlin leave?")
        assert "seven" in again["answer"]
        for tool, given, said in WRONG:
            assert said in (await called(client, tool, **given))["error"]
        refused = (await called(client, "ingest", name="../../etc/x.md", text="x"))["error"]
        assert "a plain file name was expected" in refused
        assert "unknown preset" in (await called(client, "ask", question="?x", preset="nope"))["error"]

    over_stdio(tmp_path, work)


def test_keys_decide_over_http(tmp_path: Path) -> None:
    settings = write_index(tmp_path)
    keys = KeyRing(settings["home"])
    _, ann = keys.add("ann", ["ann"])
    _, bob = keys.add("bob", ["bob"])
    with serving(settings, keys=keys) as service:
        told: dict[str, Any] = {}

        async def as_ann(client: Client) -> None:
            told["ann"] = await called(client, "ask", question="Where does Ann keep the purple xylophone?")
            assert "cellar" in told["ann"]["answer"]
            mine = await called(client, "search", query="theremin attic")
            assert all(hit["document_id"].startswith("ann") for hit in mine["results"])
            assert "no collection 'bob'" in (await called(client, "search", query="x", collections=["bob"]))["error"]
            assert (
                "may not change" in (await called(client, "ingest", name="a.md", text="x", collection="bob"))["error"]
            )

        async def as_bob(client: Client) -> None:
            hers = told["ann"]["trace_id"]
            unknown = "0" * len(hers)
            for given in (hers, unknown, *(hers[:n] for n in (1, 4, 8, 16, 31)), "../keys.sqlite", "e\x00", "0" * 64):
                said = (await called(client, "explain", trace_id=given))["error"]
                assert said.endswith(f"there is no trace '{given}'")
            last = await called(client, "explain")
            assert "no turn is kept yet" in last["error"]

        over_http(service.url, ann, as_ann)
        over_http(service.url, bob, as_bob)


async def broken_off(client: Client, is_at_work: Callable[[], bool]) -> None:
    """Asks, and cancels the call once the turn is at work."""
    asked = asyncio.create_task(called(client, "ask", **ASK))
    await asyncio.to_thread(wait_for, is_at_work)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


def test_a_turn_that_takes_too_long_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    settings = write_index(tmp_path)
    with (
        ScriptedServer(latency_s=60.0) as model,
        serving({**settings, "llm": "openai:scripted", "base_url": model.url}, Limits(turn_s=1.0)) as running,
    ):

        async def waits(client: Client) -> None:
            told = await called(client, "ask", **ASK)
            assert told["error"].endswith("the turn took too long and was broken off; ask for less")

        over_http(running.url, None, waits)
        assert running.service.limiter.running == 0


def test_a_turn_ends_when_nobody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    settings = write_index(tmp_path)
    with (
        ScriptedServer(latency_s=120.0) as model,
        serving({**settings, "llm": "openai:scripted", "base_url": model.url}, Limits(turn_s=120.0)) as running,
    ):
        limiter = running.service.limiter
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": ASK}}
        with (
            httpx2.Client(timeout=60) as caller,
            caller.stream("POST", f"{running.url}/mcp", json=body, headers=ACCEPT),
        ):
            wait_for(lambda: limiter.running == 1)
        wait_for(lambda: limiter.running == 0)  # long before the limit: hanging up broke it off
        over_http(running.url, None, lambda client: broken_off(client, lambda: limiter.running == 1))
        wait_for(lambda: limiter.running == 0)


def test_a_call_that_is_cancelled_over_stdio_leaves_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    calls = itertools.count()
    with ScriptedServer(latency_s=lambda _: 0.0 if next(calls) else 120.0) as model:

        async def work(client: Client) -> None:
            await broken_off(client, lambda: model.count > 0)
            assert "90 days" in (await called(client, "ask", **ASK))["answer"]  # there is one place, and it is free

        options = {"llm": "openai:scripted", "base_url": model.url, "serve_turns": 1, "serve_queue": 0}
        over_stdio(tmp_path, work, options)


@pytest.mark.parametrize("key", [None, "sr-0000-wrong"], ids=["none", "wrong"])
def test_without_a_right_key_nothing_is_told(tmp_path: Path, key: str | None) -> None:
    settings = write_index(tmp_path)
    keys = KeyRing(settings["home"])
    keys.add("ann", ["ann"])
    with serving(settings, keys=keys) as service:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"Accept": "application/json, text/event-stream"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )
        reply = httpx2.post(f"{service.url}/mcp", json=body, headers=headers)
        assert reply.status_code == 401
        assert "nputSchema" not in reply.text


def test_a_page_elsewhere_cannot_use_the_open_service(tmp_path: Path) -> None:
    with serving(write_index(tmp_path)) as service:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for header, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)):
            reply = httpx2.post(f"{service.url}/mcp", json=body, headers={**ACCEPT, **header})
            assert reply.status_code == status


def test_no_connection_is_held_for_a_stream_of_nothing(tmp_path: Path) -> None:
    with serving(write_index(tmp_path)) as service:
        for method in ("GET", "DELETE"):
            assert httpx2.request(method, f"{service.url}/mcp", headers=ACCEPT, timeout=60).status_code == 405
