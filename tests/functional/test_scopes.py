"""A key limited to one collection reads nothing of the others, whoever asked: every endpoint, every tool, every id.

The checks are generated from the service's own description and from what there is to be seen, so that a new endpoint or
a new kind of record is looked at, too.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from selfright.domain.turns import Scope
from selfright.server.admission import Limits
from selfright.server.keys import KeyRing
from tests.support.service import Running, http_client, serving, write_index

ANN, BOB, OPEN = "purple xylophone", "golden theremin", "every 90 days"
ASKED = {
    "ann": "What does Ann keep in the cellar?",
    "bob": "What does Bob keep in the attic?",
    "default": "Dunmore lamp?",
}
SECRETS = {"ann": ANN, "bob": BOB, "default": OPEN}
# user, collections (none: all of them), admin
KEYS = {
    "ann, all": ("ann", [], False),
    "ann, her own": ("ann", ["ann"], False),
    "ann, two": ("ann", ["ann", "default"], False),
    "bob, his own": ("bob", ["bob"], False),
    "admin of one": ("root", ["default"], True),
}


@dataclass
class Seen:
    """The service with something of everybody's to see: ``kept`` are ids of traces and names of sessions by owner."""

    running: Running
    tokens: dict[str, str]
    kept: list[tuple[str, str, tuple[str, ...] | None]] = field(default_factory=list)  # id, user, collections

    def client(self, key: str) -> httpx.Client:
        return http_client(self.running.url, self.tokens[key])

    def hidden(self, key: str) -> list[str]:
        """Ids of what this key may not see."""
        user, collections, admin = KEYS[key]
        scope = Scope(None if admin else user, tuple(collections) or None)
        return [name for name, owner, searched in self.kept if not scope.shows(owner, searched)]

    def shown(self, key: str) -> list[str]:
        return [name for name, _, _ in self.kept if name not in self.hidden(key)]

    def forget_own(self, key: str) -> None:
        """Deletes what a key began in names that it may not see."""
        with self.client(key) as http:
            for one in self.hidden(key):
                if " on " in one:
                    http.delete(f"/v1/sessions/{one.replace(' ', '%20')}")

    def forbidden(self, key: str) -> list[str]:
        """Words that this key may never read."""
        collections = KEYS[key][1]
        return [secret for name, secret in SECRETS.items() if collections and name not in collections]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    settings = {**write_index(tmp_path_factory.mktemp("scopes")), "traces": "full"}
    with serving(settings, Limits(rate=60_000, burst=10_000), keyed=True) as running:
        ring = KeyRing(running.service.selfright.settings.home)
        tokens = {name: ring.add(user, names, admin=admin)[1] for name, (user, names, admin) in KEYS.items()}
        found = Seen(running, tokens)
        for key, (user, names, _) in KEYS.items():
            searched = tuple(names) or None
            with found.client(key) as http:
                for name in names or SECRETS:
                    session = f"{key} on {name}"
                    body = {"question": ASKED[name], "session": session}
                    reply = http.post("/v1/ask", json=body)
                    assert SECRETS[name] in reply.text, (key, name, reply.text)
                    found.kept += [(reply.json()["trace_id"], user, searched), (session, user, searched)]
        yield found
        ring.close()


def requests(seen: Seen, key: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every endpoint that the service describes, with every hidden id in its path, and bodies that ask for everything.

    In the name of a hidden session one begins one's own.
    """
    ids = seen.hidden(key)
    own = [name for name in ids if " on " in name]
    described = httpx.get(f"{seen.running.url}/openapi.json", trust_env=False).json()["paths"]
    bodies: dict[str, list[dict[str, Any]]] = {
        "/v1/ask": [{"question": q, **({"session": s} if s else {})} for q in ASKED.values() for s in ["", *own]],
        "/v1/search": [{"query": q, "k": 50} for q in ASKED.values()],
        "/v1/chat/completions": [
            {"model": m, "messages": [{"role": "user", "content": q}]}
            for q in ASKED.values()
            for m in ("basic", "full")
        ],
        "/v1/profiles/{user}": [{"facts": {}}],
    }
    names = {
        "trace_id": [part for one in ids for part in (one, one[:8])],
        "session": ids,
        "document_id": ["bob-diary.md", "ann-diary.md", "lighthouse.md"],
        "user": ["me", "ann", "bob", "root"],
        "model": ["full"],
    }
    for path, methods in described.items():
        (name,) = re.findall(r"{(\w+)}", path) or [""]
        paths = [path.replace(f"{{{name}}}", given.replace(" ", "%20")) for given in names[name]] if name else [path]
        for method in sorted(set(methods) - {"delete"}):
            for url in paths:
                for body in bodies.get(path, [{}]) if method != "get" else [{}]:
                    yield method, url, body


@pytest.mark.parametrize("key", KEYS)
def test_no_endpoint_gives_out_what_a_key_may_not_see(key: str, seen: Seen) -> None:
    hidden, forbidden, calls = seen.hidden(key), seen.forbidden(key), 0
    with seen.client(key) as http:
        for method, url, body in requests(seen, key):
            reply = http.request(method, url, **({"json": body} if method != "get" else {}))
            calls += 1
            assert reply.status_code < 500, (method, url, body, reply.text)
            leaked = [secret for secret in forbidden if secret in reply.text]
            assert not leaked, (method, url, body, reply.text)
            # What a request itself named may come back in an error's words, or as a session that it began.
            begun = [one for one in hidden if " on " in one] if url == "/v1/sessions" else []
            named = unquote(url) + json.dumps(body)
            told = [one for one in hidden if one in reply.text and one[:8] not in named and one not in begun]
            assert not told, (method, url, body, told)
    assert calls > 20
    seen.forget_own(key)


@pytest.mark.parametrize("key", KEYS)
def test_what_a_key_may_see_it_sees(key: str, seen: Seen) -> None:
    with seen.client(key) as http:
        listed = http.get("/v1/traces", params={"limit": 500}).text + http.get("/v1/sessions").text
        for one in seen.shown(key):
            if KEYS[key][2] and " on " in one:
                continue  # an admin oversees traces, and keeps out of conversations
            assert one in listed
        traces = [one for one in seen.shown(key) if " on " not in one]
        assert all(http.get(f"/v1/traces/{one}").status_code == 200 for one in traces)


@pytest.mark.parametrize("key", KEYS)
def test_what_is_hidden_is_told_like_what_does_not_exist(key: str, seen: Seen) -> None:
    nothing = "f" * 32
    with seen.client(key) as http:
        for one in seen.hidden(key):
            kind = "sessions" if " on " in one else "traces"
            for method, path in (("get", ""), ("delete", ""), ("post", "/rating")):
                if path and kind == "sessions":
                    continue
                body = {"json": {"rating": None}} if method == "post" else {}
                hidden = http.request(method, f"/v1/{kind}/{one.replace(' ', '%20')}{path}", **body)
                missing = http.request(method, f"/v1/{kind}/{nothing}{path}", **body)
                assert (hidden.status_code, missing.status_code) == (404, 404)
                assert hidden.text.replace(one, nothing) == missing.text


def test_a_conversation_is_not_gone_on_with_outside_its_scope(seen: Seen) -> None:
    body = {"question": "And what did I ask before?", "session": "ann, all on bob"}
    with seen.client("ann, her own") as http:
        reply, free = (http.post("/v1/ask", json=one) for one in (body, {**body, "session": "a free name"}))
        assert (reply.status_code, reply.json()["answer"]) == (free.status_code, free.json()["answer"])
        assert BOB not in reply.text
        chat = {"model": "full", "messages": [{"role": "user", "content": "And then?"}]}
        reply = http.post("/v1/chat/completions", json=chat, headers={"X-Selfright-Session": body["session"]})
        assert BOB not in reply.text
        own = http.get(f"/v1/sessions/{body['session']}").json()
        assert (own["turns"], BOB in str(own)) == (2, False)
    with seen.client("ann, all") as http:
        assert BOB in http.get(f"/v1/sessions/{body['session']}").text
    seen.forget_own("ann, her own")


@pytest.mark.parametrize("key", ["ann, her own", "bob, his own"])
def test_no_tool_gives_out_what_a_key_may_not_see(key: str, seen: Seen) -> None:
    hidden, forbidden = seen.hidden(key), seen.forbidden(key)
    traces = [one for one in hidden if " on " not in one]
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("search", {"query": question, "k": 50}) for question in ASKED.values()),
        *(("search", {"query": question, "collections": [name]}) for name, question in ASKED.items()),
        *(("ask", {"question": question}) for question in ASKED.values()),
        *(("ask", {"question": "And then?", "session": one}) for one in hidden if " on " in one),
        *(("explain", {"trace_id": one[:length]}) for one in traces for length in (4, 5, 8, 32)),
        ("explain", {}),
    ]

    async def run() -> None:
        headers = {"Authorization": f"Bearer {seen.tokens[key]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{seen.running.url}/mcp", http_client=http)) as client,
        ):
            assert {tool.name for tool in (await client.list_tools()).tools} == {"search", "ask", "ingest", "explain"}
            for tool, arguments in calls:
                result = await client.call_tool(tool, arguments)
                text = " ".join(getattr(part, "text", "") for part in result.content)
                assert not [secret for secret in forbidden if secret in text], (tool, arguments)
                if tool == "explain" and arguments:
                    named = arguments["trace_id"]
                    unknown = await client.call_tool(tool, {"trace_id": "f" * len(named)})
                    told = " ".join(getattr(part, "text", "") for part in unknown.content)
                    assert result.is_error
                    assert text.replace(named, "f" * len(named)) == told

    asyncio.run(asyncio.wait_for(run(), 120))
    seen.forget_own(key)


def test_all_of_a_user_is_erased_by_one_request(tmp_path: Path) -> None:
    settings = {**write_index(tmp_path), "traces": "full"}
    with serving(settings, keyed=True) as running:
        ring = KeyRing(running.service.selfright.settings.home)
        (_, limited), (_, full), (_, root) = ring.add("ann", ["ann"]), ring.add("ann"), ring.add("root", admin=True)
        with http_client(running.url, full) as http, http_client(running.url, limited) as narrow:
            http.post("/v1/ask", json={"question": ASKED["ann"], "session": "s"})
            http.patch("/v1/profiles/me", json={"facts": {"age": 44}})
            assert (narrow.delete("/v1/users/me").status_code, http.delete("/v1/users/bob").status_code) == (403, 404)
            assert http.delete("/v1/users/me").json() == {"sessions": 1, "facts": 1, "traces": 1}
            assert http.get("/v1/traces").json() == {"traces": []}
        with http_client(running.url, root) as admin:
            assert admin.delete("/v1/users/ann").json() == {"sessions": 0, "facts": 0, "traces": 0}
        ring.close()
