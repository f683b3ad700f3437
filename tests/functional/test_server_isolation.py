"""Two keys, two users: no endpoint shows one of them anything of the other; a new endpoint without a check fails."""

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

import httpx
import pytest

from selfright.server.admission import Limits
from selfright.server.keys import KeyRing
from tests.support.service import DOCUMENTS, Running, http_client, serving, write_index

OURS, THEIRS = "purple xylophone", "golden theremin"
OPEN = {("get", "/healthz"), ("get", "/readyz")}


@dataclass(frozen=True)
class Two:
    """Ann, whom the checks are made for, Bob, whose things she must not see, and an admin."""

    ann: httpx.Client
    bob: httpx.Client
    admin: httpx.Client
    reader: httpx.Client
    nobody: httpx.Client
    keys: KeyRing
    url: str


Check = Callable[[Two], None]
CHECKS: dict[tuple[str, str], Check] = {}


def checks(method: str, path: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        CHECKS[method, path] = check
        return check

    return keep


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = write_index(tmp_path_factory.mktemp("isolation"))
    with serving(settings, Limits(rate=6_000, burst=1_000), keyed=True) as running:
        yield running


@pytest.fixture(scope="module")
def two(running: Running) -> Iterator[Two]:
    ring = KeyRing(running.service.selfright.settings.home)
    tokens = {
        "ann": ring.add("ann", ["ann"])[1],
        "bob": ring.add("bob", ["bob"])[1],
        "admin": ring.add("root", admin=True)[1],
        "reader": ring.add("rita")[1],
        "nobody": "",
    }
    clients = {name: http_client(running.url, token) for name, token in tokens.items()}
    yield Two(**clients, keys=ring, url=running.url)
    for client in clients.values():
        client.close()
    ring.close()


@checks("post", "/v1/search")
def search(two: Two) -> None:
    reply = two.ann.post("/v1/search", json={"query": "What is kept in the cellar and in the attic?", "k": 50})
    assert OURS in reply.text
    assert THEIRS not in reply.text
    assert {hit["document_id"] for hit in reply.json()["hits"]} == {"ann-diary.md"}
    assert two.ann.post("/v1/search", json={"query": "attic", "collections": ["bob"]}).status_code == 404
    assert two.ann.post("/v1/search", json={"query": "attic", "collections": ["default"]}).status_code == 404


@checks("post", "/v1/ask")
def ask(two: Two) -> None:
    reply = two.ann.post("/v1/ask", json={"question": "What does Bob keep in the attic of the barn?"})
    assert reply.status_code == 200
    assert "theremin" not in reply.text
    assert two.ann.post("/v1/ask", json={"question": "attic?", "collections": ["bob"]}).status_code == 404
    with two.ann.stream("POST", "/v1/ask", json={"question": "What does Bob keep?", "stream": True}) as stream:
        assert "theremin" not in stream.read().decode()
    raised = two.ann.post("/v1/ask", json={"question": "a?", "flags": {"max_llm_calls": 900}})
    assert (raised.status_code, raised.json()["error"]["code"]) == (403, "flag_too_high")
    retries = two.ann.post("/v1/ask", json={"question": "a?", "flags": {"max_retries": 9}})  # a flag's other name
    assert (retries.status_code, retries.json()["error"]["code"]) == (403, "flag_too_high")
    assert two.ann.post("/v1/ask", json={"question": "What does Ann keep?", "flags": {"top_k": 1}}).status_code == 200


@checks("post", "/v1/chat/completions")
def chat(two: Two) -> None:
    said = [{"role": "user", "content": "What does Bob keep in the attic of the barn?"}]
    reply = two.ann.post("/v1/chat/completions", json={"model": "full", "messages": said})
    assert reply.status_code == 200
    assert "theremin" not in reply.text
    body = {"model": "full", "messages": said, "selfright": {"collections": ["bob"]}}
    assert two.ann.post("/v1/chat/completions", json=body).status_code == 404


@checks("get", "/v1/documents")
def documents(two: Two) -> None:
    ids = [document["id"] for document in two.ann.get("/v1/documents").json()["documents"]]
    assert "ann-diary.md" in ids
    assert "bob-diary.md" not in ids
    assert "lighthouse.md" not in ids
    assert two.ann.get("/v1/documents", params={"collection": "bob"}).json()["documents"] == []


@checks("get", "/v1/documents/{document_id}")
def document(two: Two) -> None:
    assert OURS in two.ann.get("/v1/documents/ann-diary.md").text
    hidden, missing = two.ann.get("/v1/documents/bob-diary.md"), two.ann.get("/v1/documents/no-diary.md")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace("bob-diary", "no-diary") == missing.text


@checks("post", "/v1/documents")
def upload(two: Two) -> None:
    forged = {"files": ("bob-diary.md", b"# Diary\n\nBob keeps nothing at all in the barn.")}
    assert two.ann.post("/v1/documents", files=forged, data={"collection": "bob"}).status_code == 403
    (told,) = two.ann.post("/v1/documents", files=forged).json()["files"]
    assert told["documents"] == ["ann/bob-diary.md"]
    rows = b'{"_id": "bob-diary.md", "title": "t", "text": "Bob keeps nothing."}\n'
    (told,) = two.ann.post("/v1/documents", files={"files": ("rows.jsonl", rows)}).json()["files"]
    assert told["documents"] == ["ann/bob-diary.md~2"]
    assert two.bob.get("/v1/documents/bob-diary.md").json()["text"] == DOCUMENTS["bob"]["bob-diary.md"]
    (own,) = two.bob.post("/v1/documents", files=forged).json()["files"]
    assert own["documents"] == ["bob/bob-diary.md"]  # what came from a folder stays beside what he sends
    assert two.reader.post("/v1/documents", files=forged).status_code == 403
    assert two.bob.delete("/v1/documents/bob%2Fbob-diary.md").status_code == 200
    for name in ("ann%2Fbob-diary.md", "ann%2Fbob-diary.md~2"):
        assert two.ann.delete(f"/v1/documents/{name}").status_code == 200


@checks("delete", "/v1/documents/{document_id}")
def delete_document(two: Two) -> None:
    assert two.ann.delete("/v1/documents/bob-diary.md").status_code == 404
    assert two.reader.delete("/v1/documents/bob-diary.md").status_code == 403
    assert two.bob.get("/v1/documents/bob-diary.md").status_code == 200


@checks("get", "/v1/collections")
def collections(two: Two) -> None:
    (only,) = two.ann.get("/v1/collections").json()["collections"]
    assert (only["name"], only["writable"]) == ("ann", True)
    assert all(not each["writable"] for each in two.reader.get("/v1/collections").json()["collections"])


def talked(two: Two, session: str) -> None:
    assert two.bob.post("/v1/ask", json={"question": "What does Bob keep?", "session": session}).status_code == 200


@checks("get", "/v1/sessions")
def sessions(two: Two) -> None:
    talked(two, "bob's own")
    assert "bob's own" in two.bob.get("/v1/sessions").text
    assert two.ann.get("/v1/sessions").json() == {"sessions": []}
    assert two.admin.get("/v1/sessions").json() == {"sessions": []}


@checks("get", "/v1/sessions/{session}")
def session(two: Two) -> None:
    talked(two, "bob's own")
    assert two.ann.get("/v1/sessions/bob's own").status_code == 404
    body = {"question": "What did I ask before?", "session": "bob's own"}
    assert "theremin" not in two.ann.post("/v1/ask", json=body).text
    assert two.ann.delete("/v1/sessions/bob's own").status_code == 200
    assert two.bob.get("/v1/sessions/bob's own").status_code == 200


@checks("delete", "/v1/sessions/{session}")
def delete_session(two: Two) -> None:
    talked(two, "kept")
    assert two.ann.delete("/v1/sessions/kept").status_code == 404
    assert two.bob.get("/v1/sessions/kept").status_code == 200


@checks("delete", "/v1/sessions")
def delete_sessions(two: Two) -> None:
    talked(two, "kept")
    two.ann.delete("/v1/sessions")
    assert two.bob.get("/v1/sessions/kept").status_code == 200


@checks("get", "/v1/profiles")
def profiles(two: Two) -> None:
    two.bob.patch("/v1/profiles/me", json={"facts": {"medications": ["unobtainium"]}})
    two.ann.patch("/v1/profiles/me", json={"facts": {"age": 33}})
    assert two.ann.get("/v1/profiles").json() == {"users": ["ann"]}
    assert set(two.admin.get("/v1/profiles").json()["users"]) >= {"ann", "bob"}


@checks("get", "/v1/profiles/{user}")
def profile(two: Two) -> None:
    two.bob.patch("/v1/profiles/me", json={"facts": {"medications": ["unobtainium"]}})
    hidden, missing = two.ann.get("/v1/profiles/bob"), two.ann.get("/v1/profiles/eve")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace("bob", "eve") == missing.text
    assert "unobtainium" not in two.ann.get("/v1/profiles/me").text
    assert "unobtainium" in two.bob.get("/v1/profiles/bob").text


def test_a_user_is_one_however_the_name_is_composed(two: Two) -> None:
    names = [normalize(form, "지은") for form in ("NFC", "NFD")]
    clients = [http_client(two.url, two.keys.add(name)[1]) for name in names]
    for client in clients:
        with client:
            client.patch("/v1/profiles/me", json={"facts": {"age": 41}})
            assert [client.get(f"/v1/profiles/{name}").status_code for name in names] == [200, 200]
            assert client.get("/v1/profiles").json() == {"users": names[:1]}


@checks("patch", "/v1/profiles/{user}")
def correct_profile(two: Two) -> None:
    assert two.ann.patch("/v1/profiles/bob", json={"facts": {"age": 12}}).status_code == 404
    assert "12" not in [slot["value"] for slot in two.bob.get("/v1/profiles/me").json()["slots"]]


@checks("delete", "/v1/profiles/{user}")
def erase_profile(two: Two) -> None:
    two.bob.patch("/v1/profiles/me", json={"facts": {"medications": ["unobtainium"]}})
    assert two.ann.delete("/v1/profiles/bob").status_code == 404
    assert two.bob.get("/v1/profiles/me").json()["slots"]


@checks("delete", "/v1/users/{user}")
def erase_user(two: Two) -> None:
    talked(two, "kept")
    hidden, missing = two.reader.delete("/v1/users/bob"), two.reader.delete("/v1/users/eve")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace("bob", "eve") == missing.text
    assert two.bob.delete("/v1/users/me").status_code == 403  # his key sees one collection only
    assert two.bob.get("/v1/sessions/kept").status_code == 200


def traced(two: Two) -> str:
    trace_id = two.bob.post("/v1/ask", json={"question": "What does Bob keep?"}).json()["trace_id"]
    assert isinstance(trace_id, str)
    return trace_id


@checks("get", "/v1/traces")
def traces(two: Two) -> None:
    trace_id = traced(two)
    assert trace_id in two.bob.get("/v1/traces").text
    assert trace_id not in two.ann.get("/v1/traces").text


@checks("get", "/v1/traces/{trace_id}")
def trace(two: Two) -> None:
    trace_id = traced(two)
    assert two.bob.get(f"/v1/traces/{trace_id}").status_code == 200
    for part in (trace_id, trace_id[:8], trace_id[:31]):
        hidden = two.ann.get(f"/v1/traces/{part}")
        assert (hidden.status_code, hidden.json()["error"]["message"]) == (404, f"there is no trace '{part}'")
    # Of one's own, too: whether a few digits are enough would tell of the ids of others.
    assert two.bob.get(f"/v1/traces/{trace_id[:8]}").status_code == 404


@checks("delete", "/v1/traces/{trace_id}")
def delete_trace(two: Two) -> None:
    trace_id = traced(two)
    assert two.ann.delete(f"/v1/traces/{trace_id}").status_code == 404
    assert two.bob.get(f"/v1/traces/{trace_id}").status_code == 200


@checks("delete", "/v1/traces")
def delete_traces(two: Two) -> None:
    trace_id = traced(two)
    two.ann.delete("/v1/traces")
    assert two.bob.get(f"/v1/traces/{trace_id}").status_code == 200


@checks("post", "/v1/traces/{trace_id}/rating")
def rate(two: Two) -> None:
    trace_id = traced(two)
    hidden = two.ann.post(f"/v1/traces/{trace_id}/rating", json={"rating": "down"})
    missing = two.ann.post(f"/v1/traces/{'0' * 32}/rating", json={"rating": "down"})
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace(trace_id, "0" * 32) == missing.text
    assert two.bob.post(f"/v1/traces/{trace_id}/rating", json={"rating": "up"}).json()["rating"] == "up"
    assert two.bob.get(f"/v1/traces/{trace_id}").json()["rating"] == "up"


@checks("get", "/v1/me")
def me(two: Two) -> None:
    found = two.ann.get("/v1/me").json()
    assert (found["user"], found["admin"], found["collections"]) == ("ann", False, ["ann"])


@checks("get", "/metrics")
def metrics(two: Two) -> None:
    assert two.ann.get("/metrics").status_code == 403
    shown = two.admin.get("/metrics").text
    assert "ann" not in shown.replace("channel", "")
    assert "bob" not in shown


@checks("get", "/v1/models")
def models(two: Two) -> None:
    assert two.ann.get("/v1/models").text == two.bob.get("/v1/models").text


@checks("get", "/v1/models/{model}")
def model(two: Two) -> None:
    assert two.ann.get("/v1/models/full").text == two.bob.get("/v1/models/full").text


@pytest.mark.parametrize("endpoint", sorted(CHECKS), ids=" ".join)
def test_a_key_opens_only_what_is_its_own(endpoint: tuple[str, str], two: Two) -> None:
    CHECKS[endpoint](two)


def endpoints(two: Two) -> set[tuple[str, str]]:
    described = two.nobody.get("/openapi.json").json()["paths"]
    return {(method, path) for path, methods in described.items() for method in methods}


def test_every_endpoint_has_a_check(two: Two) -> None:
    assert endpoints(two) == set(CHECKS) | OPEN


def test_no_endpoint_answers_without_a_valid_key(two: Two) -> None:
    key, token = two.keys.add("ann", ["ann"])
    with http_client(two.url, token) as held:
        assert held.get("/v1/me").status_code == 200
        two.keys.revoke(key.id)
        wrong = ["", "Bearer", f"Basic {token}", f"Bearer {token[:-1]}x", "Bearer sr-", "Bearer " + "a" * 5_000]
        for method, path in sorted(endpoints(two) - OPEN):
            url = path.replace("{document_id}", "ann-diary.md").replace("{session}", "s").replace("{model}", "full")
            url = url.replace("{user}", "ann").replace("{trace_id}", "0123456789abcdef")
            assert held.request(method, url).status_code == 401
            for header in wrong:
                reply = two.nobody.request(method, url, headers={"Authorization": header} if header else {})
                assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer"), (method, path, header)
                assert reply.json()["error"]["type"] == "authentication_error"


def test_a_body_is_not_waited_for_without_a_key(two: Two) -> None:
    port = int(two.url.rpartition(":")[2])
    head = "POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as caller:
        caller.sendall(head.encode())
        assert caller.recv(100).startswith(b"HTTP/1.1 401")


def test_the_first_key_closes_the_door_of_a_running_service(tmp_path: Path) -> None:
    settings: dict[str, Any] = write_index(tmp_path)
    with serving(settings) as running, http_client(running.url) as http:
        assert http.get("/v1/me").json()["user"] == "local"
        ring = KeyRing(settings["home"])
        key, token = ring.add("ann")
        assert http.get("/v1/me").status_code == 401
        assert http.get("/v1/me", headers={"Authorization": f"Bearer {token}"}).json()["user"] == "ann"
        ring.revoke(key.id)
        assert http.get("/v1/me").status_code == 401  # revoking the last one does not open it again
        ring.close()


def test_a_page_elsewhere_cannot_use_an_open_service(tmp_path: Path) -> None:
    settings = write_index(tmp_path)
    with serving(settings) as running, http_client(running.url) as http:
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "10.0.0.1", "", "a b"):
            reply = http.get("/v1/me", headers={"Host": host})
            assert reply.status_code in (400, 421), host
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "127.9.9.9"):
            assert http.get("/v1/me", headers={"Host": host}).status_code == 200, host
        for name in ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via"):
            reply = http.get("/v1/me", headers={"Host": "127.0.0.1", name: "192.0.2.1"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (403, "not_this_machine"), name
        for origin, status in (("https://evil.example", 403), ("null", 403), ("http://localhost:8501", 200)):
            files = {"files": ("a.md", b"# A\n\nText of the letter A.")}
            assert http.post("/v1/documents", files=files, headers={"Origin": origin}).status_code == status, origin


def test_a_service_behind_a_name_answers_to_it_alone(tmp_path: Path) -> None:
    settings = {**write_index(tmp_path), "serve_hosts": "docs.example"}
    ring = KeyRing(settings["home"])
    headers = {"Authorization": f"Bearer {ring.add('ann')[1]}"}
    with serving(settings, keys=ring) as running, http_client(running.url) as http:
        assert http.get("/v1/me", headers={"Host": "docs.example", **headers}).status_code == 200
        assert http.get("/v1/me", headers={"Host": "evil.example", **headers}).status_code == 421
