"""Every endpoint of the service, over a real connection; a new endpoint without a test here fails."""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.service import DOCUMENTS, QUESTION, Running, http_client, serving, write_index

ASKED_TWICE = {"question": "a", "session": "s", "history": [{"role": "user", "content": "hello"}]}
NO_COLLECTION = "collection_not_found"
Endpoint = tuple[str, str]
Test = Callable[[httpx.Client], None]
TESTS: dict[Endpoint, Test] = {}
LIGHTHOUSE = DOCUMENTS["default"]["lighthouse.md"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {**write_index(tmp_path_factory.mktemp("service")), "pack": "medical"}


@pytest.fixture(scope="module")
def running(settings: dict[str, Any]) -> Iterator[Running]:
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def http(running: Running) -> Iterator[httpx.Client]:
    with http_client(running.url) as http:
        yield http


def checks(method: str, path: str) -> Callable[[Test], Test]:
    def keep(test: Test) -> Test:
        TESTS[method, path] = test
        return test

    return keep


@checks("post", "/v1/ask")
def ask(http: httpx.Client) -> None:
    reply = http.post("/v1/ask", json={"question": QUESTION, "preset": "full", "flags": {"top_k": 3}}).json()
    assert "90 days" in reply["answer"]
    (citation, *_) = reply["citations"]
    assert citation["text"] == LIGHTHOUSE[citation["start"] : citation["end"]]
    assert reply["evaluation"]["claims"][0]["status"] == "supported"
    with http.stream("POST", "/v1/ask", json={"question": QUESTION, "stream": True}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        frames = "".join(stream.iter_text()).strip().split("\n\n")
    events = [re.fullmatch(r"event: (\w+)\ndata: (.*)", frame) for frame in frames]
    assert all(events)
    told = [(event[1], json.loads(event[2])) for event in events if event]
    assert [name for name, data in told] == [data["event"] for _, data in told]
    names = [name for name, _ in told]
    assert {"node", "verdict", "token"} <= set(names)
    assert names[-1] == "done"
    assert told[-1][1]["answer"]["answer"] == reply["answer"]


@checks("post", "/v1/search")
def search(http: httpx.Client) -> None:
    reply = http.post("/v1/search", json={"query": "fog horn", "k": 2}).json()
    hits = reply["hits"]
    assert reply["searched"]["by"] in ("words", "both")
    assert reply["searched"]["why"]
    assert 1 <= len(hits) <= 2
    assert hits[0]["document_id"] == "lighthouse.md"
    assert hits[0]["text"] == LIGHTHOUSE[hits[0]["start"] : hits[0]["end"]]


@checks("get", "/v1/collections")
def collections(http: httpx.Client) -> None:
    found = http.get("/v1/collections").json()["collections"]
    counts = {each["name"]: each["documents"] for each in found}
    assert (counts["ann"], counts["bob"]) == (1, 1)


@checks("get", "/v1/documents")
def documents(http: httpx.Client) -> None:
    ids, after = [], ""
    while after is not None:
        page = http.get("/v1/documents", params={"limit": 1, "after": after}).json()
        ids += [document["id"] for document in page["documents"]]
        after = page["next"]
    assert set(ids) >= {"lighthouse.md", "ko/등대.md", "ann-diary.md", "bob-diary.md"}
    assert ids == sorted(ids)
    only = http.get("/v1/documents", params={"collection": "ann"}).json()["documents"]
    assert [document["id"] for document in only] == ["ann-diary.md"]


@checks("get", "/v1/documents/{document_id}")
def document(http: httpx.Client) -> None:
    found = http.get("/v1/documents/ko%2F등대.md").json()
    assert found["text"] == DOCUMENTS["default"]["ko/등대.md"]
    assert found["language"] == "ko"
    assert "source" not in found
    assert http.get("/v1/documents/nothing").json()["error"]["code"] == "document_not_found"


@checks("post", "/v1/documents")
def upload(http: httpx.Client) -> None:
    text = "# Quay\n\nThe quay of Dunmore was rebuilt in 1911 by the firm of Larch and Sons.\n"
    files = [("files", ("quay.md", text.encode())), ("files", ("bad.pdf", b"%PDF-1.4 this is none"))]
    reply = http.post("/v1/documents", files=files, data={"collection": "harbour"}).json()
    good, bad = reply["files"]
    assert (good["added"], good["documents"], good["errors"]) == (1, ["quay.md"], [])
    assert (bad["added"], len(bad["errors"])) == (0, 1)
    again = http.post("/v1/documents", files=files[:1], data={"collection": "harbour"}).json()["files"][0]
    assert (again["added"], again["unchanged"]) == (0, 1)
    changed = [("files", ("quay.md", text.replace("1911", "1913").encode()))]
    assert http.post("/v1/documents", files=changed, data={"collection": "harbour"}).json()["files"][0]["replaced"] == 1
    hits = http.post("/v1/search", json={"query": "quay rebuilt", "collections": ["harbour"]}).json()["hits"]
    assert "1913" in hits[0]["text"]


@checks("delete", "/v1/documents/{document_id}")
def delete_document(http: httpx.Client) -> None:
    http.post("/v1/documents", files={"files": ("gone.md", b"# Gone\n\nThe zeppelin left at dawn.")})
    assert http.delete("/v1/documents/gone.md").json() == {"deleted": 1}
    assert http.delete("/v1/documents/gone.md").status_code == 404
    hits = http.post("/v1/search", json={"query": "zeppelin at dawn"}).json()["hits"]
    assert all("zeppelin" not in hit["text"] for hit in hits)


def talk(http: httpx.Client, session: str) -> str:
    reply = http.post("/v1/ask", json={"question": QUESTION, "session": session})
    assert reply.status_code == 200, reply.text
    answer = reply.json()["answer"]
    assert isinstance(answer, str)
    return answer


@checks("get", "/v1/sessions")
def sessions(http: httpx.Client) -> None:
    talk(http, "listed/with slash")
    names = [each["session"] for each in http.get("/v1/sessions").json()["sessions"]]
    assert "listed/with slash" in names


@checks("get", "/v1/sessions/{session}")
def session(http: httpx.Client) -> None:
    answer = talk(http, "shown/with slash")
    found = http.get("/v1/sessions/shown%2Fwith%20slash").json()
    assert [(turn["question"], turn["answer"]) for turn in found["kept"]] == [(QUESTION, answer)] * found["turns"]
    assert found["kept"][0]["documents"] == ["lighthouse.md"]
    assert http.get("/v1/sessions/nobody").json()["error"]["code"] == "session_not_found"


@checks("delete", "/v1/sessions/{session}")
def delete_session(http: httpx.Client) -> None:
    talk(http, "deleted")
    assert http.delete("/v1/sessions/deleted").json() == {"deleted": 1}
    assert http.delete("/v1/sessions/deleted").status_code == 404


@checks("delete", "/v1/sessions")
def delete_sessions(http: httpx.Client) -> None:
    talk(http, "one of all")
    assert http.delete("/v1/sessions").json()["deleted"] >= 1
    assert http.get("/v1/sessions").json() == {"sessions": []}


@checks("post", "/v1/chat/completions")
def chat(http: httpx.Client) -> None:
    said = [{"role": "user", "content": QUESTION}]
    reply = http.post("/v1/chat/completions", json={"model": "full", "messages": said}).json()
    assert "90 days" in reply["choices"][0]["message"]["content"]
    assert reply["selfright"]["citations"][0]["document_id"] == "lighthouse.md"


@checks("get", "/v1/models")
def models(http: httpx.Client) -> None:
    ids = [model["id"] for model in http.get("/v1/models").json()["data"]]
    assert {"full", "basic", "crag", "self_refine", "self_correcting", "llm"} <= set(ids)


@checks("get", "/v1/models/{model}")
def model(http: httpx.Client) -> None:
    assert http.get("/v1/models/crag").json()["object"] == "model"
    assert http.get("/v1/models/gpt-4o").json()["error"]["code"] == "model_not_found"


@checks("get", "/healthz")
def healthz(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}


@checks("get", "/readyz")
def readyz(http: httpx.Client) -> None:
    assert http.get("/readyz").json() == {"status": "ok"}


@checks("get", "/metrics")
def metrics(http: httpx.Client) -> None:
    def turns() -> float:
        found = re.search(r'^selfright_turns_total\{preset="basic".*\} (\S+)$', http.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    before = turns()
    http.post("/v1/ask", json={"question": QUESTION, "preset": "basic"})
    assert turns() == before + 1
    assert "selfright_turns_running 0.0" in http.get("/metrics").text


@checks("get", "/v1/profiles")
def profiles(http: httpx.Client) -> None:
    http.patch("/v1/profiles/listed", json={"facts": {"age": 31}})
    assert "listed" in http.get("/v1/profiles").json()["users"]


@checks("patch", "/v1/profiles/{user}")
def correct_profile(http: httpx.Client) -> None:
    reply = http.patch("/v1/profiles/me", json={"facts": {"age": 62}}).json()
    assert [(slot["name"], slot["value"]) for slot in reply["slots"] if slot["name"] == "age"] == [("age", "62")]
    refused = http.patch("/v1/profiles/me", json={"facts": {"nonsense": 1}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")


@checks("get", "/v1/profiles/{user}")
def profile(http: httpx.Client) -> None:
    http.patch("/v1/profiles/seen", json={"facts": {"age": 45}})
    http.patch("/v1/profiles/seen", json={"facts": {"age": 46}})
    found = http.get("/v1/profiles/seen", params={"language": "ko"}).json()
    assert "46" in found["summary"]
    assert [fact["value"] for fact in found["history"]][-1] == "46"


@checks("delete", "/v1/profiles/{user}")
def erase_profile(http: httpx.Client) -> None:
    http.patch("/v1/profiles/erased", json={"facts": {"age": 50, "allergies": ["dust"]}})
    assert http.delete("/v1/profiles/erased", params={"name": "age"}).json()["deleted"] >= 1
    assert "dust" in http.get("/v1/profiles/erased").text
    assert http.delete("/v1/profiles/erased").json()["deleted"] >= 1
    assert http.get("/v1/profiles/erased").json()["history"] == []


def traced(http: httpx.Client) -> str:
    trace_id = http.post("/v1/ask", json={"question": QUESTION}).json()["trace_id"]
    assert isinstance(trace_id, str)
    return trace_id


@checks("get", "/v1/traces")
def traces(http: httpx.Client) -> None:
    trace_id = traced(http)
    assert http.get("/v1/traces", params={"limit": 1}).json()["traces"][0]["id"] == trace_id


@checks("get", "/v1/traces/{trace_id}")
def trace(http: httpx.Client) -> None:
    reply = http.get(f"/v1/traces/{traced(http)}")
    last = reply.json()["steps"][-1]
    assert last["node"] == "finalize"
    assert last["outcome"] == {"ended": reply.json()["stop_reason"]}  # and no nulls
    assert "lamp" not in reply.text  # an outline holds no content
    assert "location" not in reply.text
    assert http.get("/v1/traces/0000000000").json()["error"]["code"] == "trace_not_found"


@checks("delete", "/v1/traces/{trace_id}")
def delete_trace(http: httpx.Client) -> None:
    trace_id = traced(http)
    assert http.delete(f"/v1/traces/{trace_id}").json() == {"deleted": 1}
    assert http.delete(f"/v1/traces/{trace_id}").status_code == 404


@checks("delete", "/v1/traces")
def delete_traces(http: httpx.Client) -> None:
    traced(http)
    assert http.delete("/v1/traces").json()["deleted"] >= 1
    assert http.get("/v1/traces").json() == {"traces": []}


@checks("post", "/v1/traces/{trace_id}/rating")
def rate(http: httpx.Client) -> None:
    trace_id = traced(http)
    for rating in ("up", "down", None):
        reply = http.post(f"/v1/traces/{trace_id}/rating", json={"rating": rating})
        assert reply.json() == {"trace_id": trace_id, "rating": rating}
        assert http.get(f"/v1/traces/{trace_id}").json()["rating"] == rating
    assert http.post(f"/v1/traces/{trace_id}/rating", json={"rating": "sideways"}).status_code == 400


@checks("delete", "/v1/users/{user}")
def erase_user(http: httpx.Client) -> None:
    traced(http)
    assert http.delete("/v1/users/me").json()["traces"] >= 1
    assert http.get("/v1/traces").json() == {"traces": []}


@checks("get", "/v1/me")
def me(http: httpx.Client) -> None:
    found = http.get("/v1/me").json()
    assert (found["user"], found["admin"], found["collections"]) == ("local", True, [])


@pytest.mark.parametrize("endpoint", sorted(TESTS), ids=" ".join)
def test_endpoint(endpoint: Endpoint, http: httpx.Client) -> None:
    TESTS[endpoint](http)


def test_every_endpoint_has_a_test(http: httpx.Client) -> None:
    described = http.get("/openapi.json").json()["paths"]
    assert {(method, path) for path, methods in described.items() for method in methods} == set(TESTS)


def test_replies_carry_safe_headers_and_an_id(http: httpx.Client) -> None:
    for reply in (http.get("/healthz"), http.get("/nothing"), http.post("/v1/ask", content=b"{")):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-request-id"]
        assert "access-control-allow-origin" not in reply.headers
        assert "server" not in reply.headers
    assert http.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert http.get("/healthz", headers={"X-Request-Id": "a b\tc"}).headers["x-request-id"] != "a b\tc"


def test_a_refused_method_names_the_one_that_is_taken(http: httpx.Client) -> None:
    for path in ("/v1/ask", "/mcp"):
        reply = http.put(path)
        assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        ({"method": "GET", "url": "/nothing"}, 404, "not_found"),
        ({"method": "PUT", "url": "/v1/ask"}, 405, "method_not_allowed"),
        ({"method": "POST", "url": "/v1/ask", "content": b'{"question": '}, 400, "bad_json"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": ""}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": "   "}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": "a" * 10_001}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": "a", "sesion": "s"}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": "a", "preset": "fulll"}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": ASKED_TWICE}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/ask", "json": {"question": "a", "flags": {"topk": 1}}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/search", "json": {"query": "a", "collections": ["x"]}}, 404, NO_COLLECTION),
        ({"method": "POST", "url": "/v1/search", "json": {"query": "a", "k": 0}}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/search", "json": {"query": "\ud800"}, "surrogate": True}, 400, "bad_request"),
        ({"method": "POST", "url": "/v1/documents", "json": {}}, 415, "no_form"),
        ({"method": "POST", "url": "/v1/documents", "files": {"x": ("a", b"")}}, 400, "no_files"),
        ({"method": "POST", "url": "/v1/documents", "files": {"files": ("a.exe", b"MZ")}}, 422, "unreadable"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_a_request_that_cannot_be_used_is_told_why(
    request_: dict[str, Any], status: int, code: str, http: httpx.Client
) -> None:
    given = dict(request_)
    if given.pop("surrogate", False):
        given["content"] = json.dumps(given.pop("json"))
    headers = {"content-type": "application/json"} if "content" in given else {}
    reply = http.request(**given, headers=headers)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (status, code)
    assert len(error["message"]) > 10
    assert set(error) == {"message", "type", "code", "param"}


def test_lone_surrogates_of_a_callers_own_do_no_harm(http: httpx.Client) -> None:
    history = [{"role": "user", "content": f"\ud800 {QUESTION}"}, {"role": "assistant", "content": "\ud800"}]
    for profile, status in (({"conditions": "\ud800", "\ud800": "1"}, 200), ({"age": "\ud800"}, 400)):
        body = {"question": "And who signs the log?", "profile": profile, "history": history}
        reply = http.post("/v1/ask", content=json.dumps(body), headers={"content-type": "application/json"})
        assert reply.status_code == status


def test_the_body_of_a_reply_does_not_wait_for_the_caller_to_acknowledge_its_head(
    running: Running, http: httpx.Client
) -> None:
    assert http.get("/healthz").status_code == 200
    sockets = [each.transport.get_extra_info("socket") for each in list(running.server.server_state.connections)]
    assert sockets
    assert all(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets)


def test_the_log_tells_of_requests_but_not_what_was_said(
    running: Running, http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    from selfright.server.logging import JsonLines

    for _ in range(200):  # the line of an earlier request may still be to come
        if not running.server.server_state.tasks:
            break
        time.sleep(0.02)
    with caplog.at_level("INFO", logger="selfright.service"):
        http.post("/v1/ask", json={"question": QUESTION, "session": "secret-session"})
        http.get("/v1/documents/secret-document")
        http.post("/v1/ask", json={"question": "secret?", "preset": "secret-preset"})
        for _ in range(200):  # a line is written once its reply is out
            if sum(record.getMessage() == "request" for record in caplog.records) == 3:
                break
            time.sleep(0.02)
    lines = [JsonLines().format(record) for record in caplog.records if record.name == "selfright.service"]
    told = [json.loads(line) for line in lines]
    assert [each["status"] for each in told if each["message"] == "request"] == [200, 404, 400]
    (turn,) = [each for each in told if each["message"] == "turn"]
    assert turn["stop_reason"] == "adequate"
    assert {each["route"] for each in told if "route" in each} == {"/v1/ask", "/v1/documents/{document_id:name}"}
    for line in lines:
        assert "secret" not in line
        assert "lamp" not in line.lower()


def test_without_an_index_the_service_starts_and_takes_documents(tmp_path: Path) -> None:
    settings = {"path": tmp_path / "index", "embedder": "none", "home": tmp_path / "home"}
    with serving(settings) as running, http_client(running.url) as http:
        assert http.get("/readyz").status_code == 200
        assert http.get("/v1/documents").json() == {"documents": [], "next": None}
        assert http.get("/v1/collections").json() == {"collections": []}
        refused = http.post("/v1/ask", json={"question": QUESTION})
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "index_not_found")
        assert str(tmp_path) not in refused.text
        http.post("/v1/documents", files={"files": ("lighthouse.md", LIGHTHOUSE.encode())})
        assert "90 days" in http.post("/v1/ask", json={"question": QUESTION}).json()["answer"]
