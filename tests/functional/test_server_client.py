"""The wire client against the real service."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from selfright.domain.errors import ServiceError, ServiceUnreachable
from selfright.schemas import NodeOutcome
from selfright.server.keys import KeyRing
from selfright.server.logging import JsonLines
from selfright.wire.answers import AnswerToken, DoneEvent, NodeFinished, VerdictReached
from selfright.wire.client import Client
from tests.support.service import QUESTION, Running, serving, write_index


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {**write_index(tmp_path_factory.mktemp("client")), "pack": "medical"}


@pytest.fixture(scope="module")
def running(settings: dict[str, Any]) -> Iterator[Running]:
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[Client]:
    with Client(running.url) as client:
        yield client


def test_asking_and_looking_back(client: Client) -> None:
    answer = client.ask(
        QUESTION, session="client", flags={"top_k": 4}, profile={"job": "keeper"}, collections=["default"]
    )
    assert "90 days" in answer.answer
    assert answer.citations[0].document_id == "lighthouse.md"
    assert [each.session for each in client.sessions()] == ["client"]
    kept = client.session("client").kept
    assert [(turn.question, turn.answer) for turn in kept] == [(QUESTION, answer.answer)]
    assert client.forget("client") == 1


def test_a_turn_is_heard_as_it_happens(client: Client) -> None:
    events = list(client.stream(QUESTION))
    kinds = {type(event) for event in events}
    assert {NodeFinished, VerdictReached, AnswerToken, DoneEvent} <= kinds
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].answer.answer == client.ask(QUESTION).answer
    outcomes = {event.node: event.outcome for event in events if isinstance(event, NodeFinished)}
    assert outcomes["finalize"] == NodeOutcome(ended=events[-1].answer.stop_reason)


def test_a_stream_that_is_left_breaks_the_turn_off(client: Client, running: Running) -> None:
    events = client.stream(QUESTION)
    next(events)
    events.close()
    assert client.ask(QUESTION).answer
    assert running.service.limiter.running == 0


def test_documents_in_and_out(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "부두.md"
    path.write_text("# 부두\n\n던모어 부두는 1911년에 지었습니다.\n", encoding="utf-8")
    report = client.upload([path, ("crane.txt", b"The crane of Dunmore lifts forty tons.")], "quay")
    assert [file.documents for file in report.files] == [["부두.md"], ["crane.txt"]]
    assert [line.id for line in client.documents(named="부두").documents] == ["부두.md"]
    assert client.documents(after="crane.txt", limit=1).documents[0].id > "crane.txt"
    assert {"ann", "bob", "default", "quay"} <= {each.name for each in client.collections()}
    assert client.ask("How much does the crane lift?", collections="quay").citations[0].document_id == "crane.txt"
    assert [file.unchanged for file in client.upload(path, "quay").files] == [1]
    assert [file.unchanged for file in client.upload(str(path), "quay").files] == [1]
    assert [file.added for file in client.upload(("pier.txt", b"The pier is long."), "quay").files] == [1]
    client.delete_document("pier.txt")
    client.delete_document("부두.md")
    with pytest.raises(ServiceError, match="no document") as caught:
        client.delete_document("부두.md")
    assert (caught.value.status, caught.value.code) == (404, "document_not_found")


def test_names_with_every_character_find_their_way(client: Client) -> None:
    for name in ("a/b c?d#e%2F", "세션/1", "..", "a\\b", "%", "a\nb", "\r\n", "\u2028", "a\0"):
        client.ask(QUESTION, session=name, preset="basic")
        assert client.session(name).session == name
        assert client.forget(name) == 1


def test_a_line_break_makes_another_name(client: Client) -> None:
    client.ask(QUESTION, session="pier", preset="basic")
    with pytest.raises(ServiceError, match="no session"):
        client.forget("pier\n")
    assert client.forget("pier") == 1


def test_what_goes_wrong_is_one_of_our_errors(client: Client, running: Running) -> None:
    for wrong in (lambda: client.ask(QUESTION, preset="fulll"), lambda: list(client.stream(QUESTION, preset="fulll"))):
        with pytest.raises(ServiceError, match="did you mean 'full'") as caught:
            wrong()
        assert caught.value.status == 400
    with Client("http://127.0.0.1:9") as nobody, pytest.raises(ServiceUnreachable):
        nobody.me()
    html = httpx.MockTransport(lambda _: httpx.Response(200, text="<html>"))
    with Client(transport=html) as other, pytest.raises(ServiceError, match="has not the form"):
        other.me()
    gone = httpx.MockTransport(lambda _: httpx.Response(502, text="bad gateway", headers={"Retry-After": "3"}))
    with Client(transport=gone) as other, pytest.raises(ServiceError, match="status 502") as caught:
        other.me()
    assert caught.value.retry_after == 3
    event = 'event: token\ndata: {"event":"token","text":"a","iteration":0}\n\n'
    half = httpx.MockTransport(lambda _: httpx.Response(200, text=event))
    with Client(transport=half) as other, pytest.raises(ServiceUnreachable, match="broke off"):
        list(other.stream(QUESTION))
    del running


def test_a_stream_that_was_heard_to_its_end_is_not_logged_as_left(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="selfright.service"):
        for _ in range(5):
            list(client.stream(QUESTION, preset="basic"))
        for _ in range(200):  # a line is written once its reply is out
            lines = [JsonLines().format(each) for each in caplog.records if each.getMessage() == "request"]
            if len(lines) == 5:
                break
            time.sleep(0.02)
    assert [json.loads(line)["status"] for line in lines] == [200] * 5


def test_a_key_is_sent(settings: dict[str, Any], tmp_path: Path) -> None:
    ring = KeyRing(tmp_path)
    _, token = ring.add("ann", ["ann"])
    with serving(settings, keys=ring) as running:
        with Client(running.url, token) as client:
            assert client.me().user == "ann"
            assert "xylophone" in client.ask("What does Ann keep in the cellar?").answer
        with Client(running.url) as client, pytest.raises(ServiceError) as caught:
            client.me()
    assert caught.value.code == "no_key"


def test_a_profile_is_seen_corrected_and_erased(client: Client) -> None:
    known = client.correct_profile({"age": 60, "conditions": ["gout"]})
    assert known.user == "local"
    assert {(slot.name, slot.value) for slot in known.slots} == {("age", "60"), ("conditions", "gout")}
    assert all(slot.by_hand for slot in known.slots)
    assert client.profile() == known
    assert "60" in client.profile("ko").summary
    assert len(client.correct_profile({"age": ""}).slots) == 1
    assert client.erase_profile() >= 1
    assert client.profile().history == []
    with pytest.raises(ServiceError, match="nonsense") as caught:
        client.correct_profile({"nonsense": 1})
    assert caught.value.status == 400
