"""MCP with its official client: over stdio as a program starts it, and over HTTP behind the service's gate."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from selfright.entrypoints.server.keys import KeyRing
from tests.support.service import QUESTION, serving, write_index

ASK = {"question": QUESTION}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gave; its text when it failed, under ``error``."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return {"error": " ".join(getattr(part, "text", "") for part in result.content)}
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def over_stdio(folder: Path, work: Callable[[Client], Awaitable[None]]) -> None:
    write_index(folder)
    program = "from selfright.entrypoints.cli import run; run()"
    options = ["--index", str(folder / "index"), "--set", "embedder=none", "--set", f"home={folder / 'home'}"]
    server = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp", *options], env=dict(os.environ))

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
        assert "less than or equal to 50" in (await called(client, "search", query="x", k=500))["error"]
        assert "folders" in (await called(client, "ingest", name="../../etc/x.md", text="x"))["error"]
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
            stranger = await called(client, "explain", trace_id=told["ann"]["trace_id"])
            assert "xylophone" not in str(stranger)
            assert "error" in stranger

        over_http(service.url, ann, as_ann)
        over_http(service.url, bob, as_bob)


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
