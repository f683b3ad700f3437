"""What a caller must not be able to do: send too much, too slowly, too often; hang up halfway; lead files astray."""

import asyncio
import concurrent.futures
import contextlib
import functools
import io
import json
import select
import socket
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from selfright.background import Deadline, working_for
from selfright.domain.errors import UnreadableFile
from selfright.domain.judgements import Grading
from selfright.ingest import reading as ingest_reading
from selfright.ingest.files import SourceFile
from selfright.ingest.sandbox import Bounds
from selfright.processes import usable_cpus
from selfright.roles.grade.offline import OfflineGrader
from selfright.server.admission import Limits
from selfright.server.keys import KeyRing
from selfright.wiring import uploads
from tests.support.scripted.server import ScriptedServer
from tests.support.service import QUESTION, Running, http_client, serving, write_index
from tests.support.waiting import wait_for

BIDI = "\N{RIGHT-TO-LEFT OVERRIDE}dm.md"
TIGHT = Limits(idle_s=1, body_bytes=20_000, upload_bytes=200_000, upload_files=3, body_s=0.6)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(write_index(tmp_path_factory.mktemp("limits")), TIGHT) as running:
        yield running


@pytest.fixture
def http(running: Running) -> Iterator[httpx.Client]:
    with http_client(running.url) as http:
        yield http


def talk(running: Running, *pieces: bytes, pause: float = 0.0, half_close: bool = False) -> bytes:
    """Sends the pieces over a bare connection and gives back all that came until the service hung up."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as caller:
        try:
            for piece in pieces:
                caller.sendall(piece)
                time.sleep(pause)
            if half_close:
                caller.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it hung up on us: what it said is still to be read
        heard = b""
        try:
            while part := caller.recv(65_536):
                heard += part
        except ConnectionError:
            pass
        return heard


def head(length: object, path: str = "/v1/ask", *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, *more, "Connection: close", "", ""]).encode()


def test_a_body_that_is_too_large_is_refused(http: httpx.Client, running: Running) -> None:
    body = json.dumps({"question": "a", "profile": {"x": "y" * 30_000}})
    assert http.post("/v1/ask", content=body).status_code == 413
    assert talk(running, head(10**12)).startswith(b"HTTP/1.1 413")

    def unannounced() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 2_000

    assert http.post("/v1/ask", content=unannounced()).status_code == 413
    files = {"files": ("a.txt", b"word " * 50_000)}
    assert http.post("/v1/documents", files=files).json()["error"]["code"] == "too_large"


def test_a_packed_body_is_refused(http: httpx.Client) -> None:
    reply = http.post("/v1/ask", content=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, "packed_body")


def test_a_body_that_does_not_come_is_not_waited_for(running: Running) -> None:
    began = time.monotonic()
    assert talk(running, head(1_000), b'{"question": ').startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < 20


def test_a_head_that_is_too_large_is_refused(running: Running) -> None:
    assert talk(running, b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 100_000).startswith(b"HTTP/1.1 4")


def test_what_is_no_http_is_refused(running: Running, http: httpx.Client) -> None:
    for noise in (b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n"):
        heard = talk(running, noise)
        assert heard == b"" or heard.startswith(b"HTTP/1.1 4")
    assert http.get("/healthz").status_code == 200


def test_two_lengths_or_a_length_and_chunks_are_refused(running: Running) -> None:
    smuggled = head(5, "/v1/ask", "Content-Length: 6"), head(5, "/v1/ask", "Transfer-Encoding: chunked")
    for sent in smuggled:
        assert talk(running, sent, b"0\r\n\r\n").startswith(b"HTTP/1.1 4")


def test_a_length_beside_chunks_is_refused_and_the_connection_closed(running: Running) -> None:
    chunks = b'5\r\n{"a":\r\n0\r\n\r\n'
    for version, length in (("1.1", "Content-Length: 30\r\n"), ("1.0", "")):
        for path in ("/v1/ask", "/healthz"):
            first = f"POST {path} HTTP/{version}\r\nHost: localhost\r\n{length}Transfer-Encoding: chunked\r\n\r\n"
            heard = talk(running, first.encode() + chunks, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert heard.startswith(b"HTTP/1.1 400")
            assert b"bad_framing" in heard
            assert heard.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("sign", ["\0", "\n", "\u202e", "\u200b", "\u2028", "\x7f"])
def test_names_of_collections_that_nobody_can_read_are_refused(sign: str, http: httpx.Client) -> None:
    form = {"files": {"files": ("a.md", b"# A\n\nThe text of it.")}, "data": {"collection": f"let{sign}ters"}}
    reply = http.post("/v1/documents", **form)
    assert (reply.status_code, f"U+{ord(sign):04X}" in reply.json()["error"]["message"]) == (400, True)


def test_callers_that_hang_up_leave_nothing_behind(running: Running, http: httpx.Client) -> None:
    body = json.dumps({"question": QUESTION}).encode()
    for _ in range(3):
        talk(running, head(1_000), b"{", half_close=True)
        talk(running, head(len(body)), body, half_close=True)
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as caller:
            caller.sendall(head(len(body)) + body)
    wait_for(lambda: running.service.limiter.running == 0 and not running.server.server_state.tasks)
    assert "90 days" in http.post("/v1/ask", json={"question": QUESTION}).json()["answer"]


@pytest.mark.parametrize(
    "name",
    ["../up.md", "..\\up.md", "/etc/up.md", "a/b.md", ".hidden.md", "nul\x7f.md", "x" * 200 + ".md", BIDI],
    ids=["up", "backslash", "absolute", "folder", "hidden", "control", "long", "bidi"],
)
def test_names_that_lead_astray_are_refused(name: str, http: httpx.Client, running: Running) -> None:
    reply = http.post("/v1/documents", files={"files": (name, b"# Up\n\nThe text that went up.")})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "unreadable")
    assert not list(running.service.selfright.settings.home.parent.rglob("*up.md"))


def test_files_that_cannot_be_read_stop_no_other(http: httpx.Client) -> None:
    files = [("files", ("good.md", b"# Kelp\n\nThe kelp of Dunmore is dried on racks.")), ("files", ("empty.md", b""))]
    rows = ("files", ("rows.jsonl", b'{"text": 1}\n{"_id": "kelp-2", "text": "Kelp is sold by weight."}\n'))
    good, bad, mixed = http.post("/v1/documents", files=[*files, rows]).json()["files"]
    assert (good["added"], bad["added"], mixed["added"], len(mixed["errors"])) == (1, 0, 1, 1)
    assert "empty" in bad["errors"][0]
    assert http.post("/v1/documents", files=[*files, *files]).json()["error"]["code"] == "bad_form"  # too many files


def test_no_file_that_is_sent_is_read_in_the_service_itself(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(file: SourceFile) -> Any:
        raise AssertionError(f"{file.name} is read in the service")

    monkeypatch.setattr(ingest_reading, "read", read)
    for name, content in (
        ("weir.txt", "The weir of Dunmore is of oak."),
        ("weir.md", "# Weir\n\nThe weir of Dunmore is of ash."),
        ("weir.html", "<p>The weir of Dunmore is of elm."),
        ("weir.csv", "id,text\nweir-1,The weir of Dunmore is of yew."),
        ("weir.json", '[{"id": "weir-2", "text": "The weir of Dunmore is of fir."}]'),
        ("weir.jsonl", '{"_id": "weir-3", "text": "The weir of Dunmore is of pine."}'),
    ):
        (told,) = http.post("/v1/documents", files={"files": (name, content.encode())}).json()["files"]
        assert (told["added"], told["errors"]) == (1, []), name


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, http: httpx.Client) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"<a>" + b" " * 140_000_000)
    assert len(packed.getvalue()) < 190_000
    reply = http.post("/v1/documents", files={"files": ("bomb.docx", packed.getvalue())})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "unreadable")


def upload_head(length: int, key: str = "") -> bytes:
    sent = head(length, "/v1/documents", *([f"Authorization: Bearer {key}"] if key else []))
    return sent.replace(b"application/json", b"multipart/form-data; boundary=x")


def test_a_key_that_may_only_read_sends_no_file(tmp_path: Path) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    _, reader = ring.add("rita")
    with (
        serving(settings, keys=ring) as running,
        socket.create_connection(("127.0.0.1", running.port), timeout=20) as caller,
    ):
        caller.sendall(upload_head(90_000_000, reader))  # and nothing after it: the refusal waits for no body
        assert caller.recv(100).startswith(b"HTTP/1.1 403")


def test_all_uploads_together_are_bounded(tmp_path: Path) -> None:
    limits = Limits(upload_bytes=200_000, spool_bytes=500_000, body_s=60)
    with serving(write_index(tmp_path), limits) as running, http_client(running.url) as http:
        part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"a" * 150_000
        waiting = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(3)]
        for caller in waiting:
            caller.sendall(upload_head(190_000) + part)
        files = {"files": ("b.txt", b"The buoy of Dunmore is green. " * 5_000)}
        wait_for(lambda: http.post("/v1/documents", files=files).status_code == 503)
        refused = http.post("/v1/documents", files=files)
        assert (refused.json()["error"]["code"], refused.headers["retry-after"]) == ("uploads_full", "10")
        assert http.post("/v1/search", json={"query": "fog horn"}).status_code == 200  # the rest has room of its own
        for caller in waiting:
            caller.close()
        wait_for(lambda: http.post("/v1/documents", files=files).status_code == 200)


def test_one_keys_uploads_leave_room_for_anothers(tmp_path: Path) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    first, second = (ring.add(name, name)[1] for name in ("ann", "bob"))
    limits = Limits(upload_bytes=200_000, spool_bytes=400_000, body_s=60)
    with serving(settings, limits, keys=ring) as running, http_client(running.url, second) as http:
        part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"a" * 150_000
        with contextlib.ExitStack() as stack:
            make = functools.partial(socket.create_connection, ("127.0.0.1", running.port), timeout=60)
            callers = [stack.enter_context(make()) for _ in range(3)]
            for caller in callers:
                caller.sendall(upload_head(190_000, first) + part)
            wait_for(lambda: len(select.select(callers, [], [], 0)[0]) == 2)  # they are refused, and one is waited for
            files = {"files": ("b.txt", b"The buoy of Dunmore is green. " * 5_000)}
            assert http.post("/v1/documents", files=files).status_code == 200


def test_nobody_waits_for_a_file_that_is_slow_to_come_or_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    first, second = (ring.add(name, name)[1] for name in ("ann", "bob"))
    read, reading, done = uploads.read_apart, threading.Event(), threading.Event()

    def slowly(file: SourceFile, bounds: Bounds, deadline: Deadline) -> Any:
        if file.name == "slow.txt":
            reading.set()
            assert done.wait(120)
        return (yield from read(file, bounds, deadline))

    monkeypatch.setattr(uploads, "read_apart", slowly)
    with (
        serving(settings, keys=ring) as running,
        http_client(running.url, first) as ann,
        http_client(running.url, second) as bob,
        concurrent.futures.ThreadPoolExecutor(1) as callers,
        socket.create_connection(("127.0.0.1", running.port), timeout=60) as slow_sender,
    ):
        slow_sender.sendall(upload_head(1_000, first) + b"--x")
        slow = callers.submit(ann.post, "/v1/documents", files={"files": ("slow.txt", b"Ann's mill turns slowly.")})
        try:
            assert reading.wait(60)
            sent = bob.post("/v1/documents", files={"files": ("barn.txt", b"Bob's barn is red.")}, timeout=30)
            assert sent.status_code == 200
            assert bob.delete("/v1/documents/bob-diary.md", timeout=30).json() == {"deleted": 1}
            assert not slow.done()
        finally:
            done.set()
        assert slow.result().json()["files"][0]["added"] == 1


def test_an_upload_ends_with_its_caller(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended = threading.Event(), threading.Event()

    def read(_path: object, name: str, deadline: Deadline) -> None:
        began.set()
        while deadline.left:
            time.sleep(0.05)
        ended.set()
        raise UnreadableFile(name, "its caller has left")

    monkeypatch.setattr(running.service.selfright, "read_upload", read)
    files = {"files": ("left.txt", b"The caller of this one leaves.")}
    with http_client(running.url) as http, pytest.raises(httpx.ReadTimeout):
        http.post("/v1/documents", files=files, timeout=httpx.Timeout(60, read=3))
    assert began.is_set()
    assert ended.wait(20)
    wait_for(lambda: not running.server.server_state.tasks)
    with http_client(running.url) as http:
        assert http.get("/v1/documents/left.txt").status_code == 404


def test_looking_whether_turns_can_be_taken_is_not_done_anew_for_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(write_index(tmp_path)) as running, http_client(running.url) as http:
        looked = []
        collections = running.service.selfright.collections
        monkeypatch.setattr(running.service.selfright, "collections", lambda: looked.append(1) or collections())
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(8) as callers:
            replies = list(callers.map(lambda _: http.get("/readyz").status_code, range(100)))
        assert replies == [200] * 100
        assert 1 <= len(looked) <= 1 + time.monotonic() - began


def test_forms_that_are_none_are_refused(http: httpx.Client) -> None:
    for content, kind in (
        (b"--x\r\nno", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n--x',
            "multipart/form-data; boundary=x; charset=undefined",
        ),
        (b"--x\r\nContent-Disposition: form-data; name=files\r\n\r\ntext\r\n--x--", "multipart/form-data; boundary=x"),
    ):
        reply = http.post("/v1/documents", content=content, headers={"Content-Type": kind})
        assert reply.status_code == 400, kind


def test_too_many_requests_of_a_key_are_refused_and_others_are_not(tmp_path: Path) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    first, second = (ring.add(name)[1] for name in ("ann", "bob"))
    with serving(settings, Limits(rate=1, burst=3), keys=ring) as running, http_client(running.url) as http:
        replies = [http.get("/v1/me", headers={"Authorization": f"Bearer {first}"}) for _ in range(6)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429, 429, 429]
        assert replies[-1].json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
        assert http.get("/v1/me", headers={"Authorization": f"Bearer {second}"}).status_code == 200
        assert http.get("/healthz").status_code == 200


def test_searches_of_one_key_are_bounded_like_its_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    first, second = ({"Authorization": f"Bearer {ring.add(name)[1]}"} for name in ("ann", "bob"))
    with (
        serving(settings, Limits(turns_each=2), keys=ring) as running,
        http_client(running.url) as http,
        concurrent.futures.ThreadPoolExecutor(2) as callers,
    ):
        begun, let_go = threading.Semaphore(0), threading.Event()
        real = running.service.selfright.aretrieve

        async def slow(*given: Any) -> Any:
            begun.release()
            await asyncio.to_thread(let_go.wait, 60)
            return await real(*given)

        def search(key: dict[str, str]) -> httpx.Response:
            return http.post("/v1/search", json={"query": QUESTION}, headers=key)

        monkeypatch.setattr(running.service.selfright, "aretrieve", slow)
        try:
            held = [callers.submit(search, first) for _ in range(2)]
            assert all(begun.acquire(timeout=60) for _ in held)
            for refused in (search(first), http.post("/v1/ask", json={"question": QUESTION}, headers=first)):
                assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_turns")
            monkeypatch.setattr(running.service.selfright, "aretrieve", real)
            assert search(second).status_code == 200
        finally:
            let_go.set()
        assert [reply.result().status_code for reply in held] == [200, 200]
        assert search(first).status_code == 200


def test_one_key_that_floods_leaves_anothers_answers_their_share_of_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_index(tmp_path)
    ring = KeyRing(settings["home"])
    secrets = {name: ring.add(name)[1] for name in ("ann", "bob")}
    real, let_go, jobs, lock = OfflineGrader.grade_now, threading.Event(), Counter[str](), threading.Lock()

    def grade_now(grader: OfflineGrader, question: str, hits: Any) -> Grading:
        with lock:
            jobs[working_for.get()] += 1
            flood = max(jobs, key=jobs.__getitem__)
        if working_for.get() == flood:
            let_go.wait(120)
        return real(grader, question, hits)

    def ask(name: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {secrets[name]}"}
        return http.post("/v1/ask", json={"question": QUESTION, "preset": "crag"}, headers=headers)

    monkeypatch.setattr(OfflineGrader, "grade_now", grade_now)
    with (
        serving(settings, Limits(turns_each=12), keys=ring) as running,
        http_client(running.url) as http,
        concurrent.futures.ThreadPoolExecutor(12) as callers,
    ):
        try:
            flood = [callers.submit(ask, "ann") for _ in range(12)]
            wait_for(lambda: jobs.total() >= usable_cpus() and running.service.limiter.running == 12)
            assert jobs.total() == usable_cpus()  # she has every core, and no more than those
            assert [ask("bob").status_code for _ in range(2)] == [200, 200]
            assert not any(each.done() for each in flood)
        finally:
            let_go.set()
        assert [each.result().status_code for each in flood] == [200] * 12


def test_when_the_service_is_full_it_says_so_at_once_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    settings = write_index(tmp_path)
    opened = threading.Event()
    with (
        ScriptedServer(latency_s=once(opened)) as model,
        serving(
            {**settings, "llm": "openai:scripted", "base_url": model.url}, Limits(turns=2, queue=2, wait_s=120)
        ) as running,
        http_client(running.url) as http,
        concurrent.futures.ThreadPoolExecutor(4) as callers,
    ):
        asked = [callers.submit(http.post, "/v1/ask", json={"question": QUESTION}) for _ in range(4)]
        wait_for(lambda: (running.service.limiter.running, running.service.limiter.waiting) == (2, 2))
        began = time.monotonic()
        for stream in (False, True):
            refused = http.post("/v1/ask", json={"question": QUESTION, "stream": stream})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
            assert int(refused.headers["retry-after"]) >= 1
        assert time.monotonic() - began < 10
        assert http.get("/healthz").status_code == 200
        opened.set()
        assert [each.result().status_code for each in asked] == [200] * 4
        assert http.post("/v1/ask", json={"question": QUESTION}).status_code == 200
        assert (running.service.limiter.running, running.service.limiter.waiting) == (0, 0)


def test_a_second_turn_of_a_session_is_refused_while_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    settings = write_index(tmp_path)
    opened = threading.Event()
    with (
        ScriptedServer(latency_s=once(opened)) as model,
        serving({**settings, "llm": "openai:scripted", "base_url": model.url}) as running,
        http_client(running.url) as http,
        concurrent.futures.ThreadPoolExecutor(1) as caller,
    ):
        body: dict[str, Any] = {"question": QUESTION, "session": "s"}
        asked = caller.submit(http.post, "/v1/ask", json=body)
        wait_for(lambda: model.requests)
        refused = http.post("/v1/ask", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "session_busy")
        assert http.delete("/v1/sessions/s").status_code == 409
        assert "retry-after" in refused.headers
        opened.set()
        assert asked.result().status_code == 200


def test_a_turn_that_takes_too_long_is_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    settings = write_index(tmp_path)
    with (
        ScriptedServer(latency_s=60.0) as model,
        serving(
            {**settings, "llm": "openai:scripted", "base_url": model.url}, Limits(turn_s=1.0, heartbeat_s=0.05)
        ) as running,
        http_client(running.url) as http,
    ):
        assert http.post("/v1/ask", json={"question": QUESTION}).json()["error"]["code"] == "turn_timeout"
        streamed = http.post("/v1/ask", json={"question": QUESTION, "stream": True}).text
        assert ": still at work" in streamed
        assert streamed.rstrip().rpartition("event: ")[2].startswith("error\ndata: ")
        assert "turn_timeout" in streamed


def once(opened: threading.Event) -> Callable[[object], float]:
    """A model's latency: until that happens."""

    def latency(_: object) -> float:
        opened.wait(60)
        return 0.0

    return latency
