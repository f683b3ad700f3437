"""The page's views without a browser: keys, a service that is gone, what is kept in mind."""

import html
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright.server.keys import KeyRing
from selfright.wire.answers import DoneEvent
from selfright.wire.client import Client
from tests.support.service import QUESTION, Running, http_client, serving, write_index

pytest.importorskip("streamlit", reason="streamlit is not installed")
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

WAIT_S = 60


def chat() -> None:
    from selfright.ui.chat_view import show_chat

    show_chat()


def documents() -> None:
    from selfright.ui.documents_view import show_documents

    show_documents()


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit puts the page in the place of ``__main__``, and processes that are spawned later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving({**write_index(tmp_path_factory.mktemp("views")), "pack": "none"}) as running:
        yield running


@pytest.fixture
def at_service(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_UI_SERVICE", service.url)


def shown(app: AppTest) -> str:
    """All markup on the page."""
    return " ".join(element.proto.body for element in app.get("html"))


def conversations(app: AppTest) -> list[str]:
    """The keys of the buttons that open conversations."""
    return [button.key for button in app.button if button.key and button.key.startswith("session-")]


def test_a_key_is_asked_for_and_taken_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = write_index(tmp_path)
    keys = KeyRing(settings["home"])
    _, key = keys.add("ann", ["ann"])
    keys.close()
    with serving(settings, keyed=True) as running:
        monkeypatch.setenv("SELFRIGHT_UI_SERVICE", running.url)
        app = AppTest.from_function(chat, default_timeout=WAIT_S).run()
        assert not app.chat_input
        app.text_input[0].input("sr-wrong")
        app.button[0].click().run()
        assert any("unknown or was revoked" in error.value for error in app.error)
        app.text_input[0].input(key)
        app.button[0].click().run()
        assert app.chat_input
        monkeypatch.setenv("SELFRIGHT_API_KEY", key)
        assert AppTest.from_function(chat, default_timeout=WAIT_S).run().chat_input


def page() -> None:
    from selfright.ui.page import main

    main()


def test_nobody_behind_a_proxy_sees_the_page(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_UI_SERVICE", service.url)
    headers: dict[str, str] = {"Host": "127.0.0.1:8501"}
    monkeypatch.setattr(ContextProxy, "headers", property(lambda _: headers))
    assert AppTest.from_function(page, default_timeout=WAIT_S).run().chat_input
    headers["X-Forwarded-For"] = "192.0.2.1"
    app = AppTest.from_function(page, default_timeout=WAIT_S).run()
    assert not app.chat_input
    assert "x\\-forwarded\\-for" in app.error[0].value


def test_a_service_that_is_gone_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_UI_SERVICE", "http://127.0.0.1:9")
    app = AppTest.from_function(chat, default_timeout=WAIT_S).run()
    assert len(app.error) == 1
    assert "did not answer" in app.error[0].value
    assert not app.exception


def test_the_evidence_of_an_answer_is_told_with_exact_places(service: Running) -> None:
    with Client(service.url) as client, http_client(service.url) as http:
        *_, done = client.stream(QUESTION)
        assert isinstance(done, DoneEvent)
        assert done.evidence
        for passage in done.evidence:
            document = http.get(f"/v1/documents/{passage.document_id}").json()["text"]
            assert document[passage.start : passage.end] == passage.text
            assert passage.strips
            assert all(passage.start <= strip.start < strip.end <= passage.end for strip in passage.strips)
        cited = done.answer.citations[0]
        assert any(e.document_id == cited.document_id and e.start <= cited.start <= e.end for e in done.evidence)


@pytest.mark.usefixtures("at_service")
def test_single_questions_leave_no_conversation(service: Running) -> None:
    app = AppTest.from_function(chat, default_timeout=WAIT_S).run()
    before = len(service.service.selfright.sessions())
    app.radio(key="memory").set_value("ask").run()
    app.chat_input[0].set_value(QUESTION).run()
    assert "90 days" in shown(app)
    assert len(conversations(app)) == len(service.service.selfright.sessions()) == before
    app.radio(key="memory").set_value("chat").run()
    app.chat_input[0].set_value(QUESTION).run()
    assert len(conversations(app)) == len(service.service.selfright.sessions()) == before + 1


@pytest.mark.usefixtures("at_service")
def test_a_turn_that_the_service_refuses_is_told_and_the_chat_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from selfright.domain.errors import ServiceError
    from selfright.wire.client import Client

    def refuse(*_: object, **__: object) -> Iterator[None]:
        raise ServiceError("too many turns are running", status=429, retry_after=3.0)
        yield

    app = AppTest.from_function(chat, default_timeout=WAIT_S).run()
    with monkeypatch.context() as patched:
        patched.setattr(Client, "stream", refuse)
        app.chat_input[0].set_value(QUESTION).run()
    assert "too many turns are running Try again in 3 s." in shown(app)
    app.chat_input[0].set_value(QUESTION).run()
    assert "90 days" in shown(app)


@pytest.mark.usefixtures("at_service")
def test_documents_are_listed_page_by_page_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    from selfright.ui import documents_view

    monkeypatch.setattr(documents_view, "PAGE", 1)
    app = AppTest.from_function(documents, default_timeout=WAIT_S).run()
    first = shown(app)
    more = next(button for button in app.button if button.label == "Show more")
    more.click().run()
    assert len(shown(app)) > len(first)
    delete(app, "ann-diary.md")
    assert "ann-diary.md" not in shown(app)


def delete(app: AppTest, name: str) -> None:
    """Deletes a document by its row's button."""
    rows = [element.proto.body for element in app.get("html") if "data-row" in element.proto.body]
    (row,) = (number for number, body in enumerate(rows) if html.escape(name, quote=True) in body)
    app.button(key=f"delete-{row}").click().run()
    app.button(key="sure").click().run()


@pytest.mark.usefixtures("at_service")
def test_a_name_of_a_document_is_no_markdown_in_a_toast_or_an_error(service: Running) -> None:
    name = "![p](http://example.org/p.png) http://example.org/q"
    row = json.dumps({"_id": name, "text": "The buoy of Kilbray is green."})
    with Client(service.url) as client:
        client.upload([("named.jsonl", row.encode())])
    toasts = AppTest.from_function(removing, default_timeout=WAIT_S).run()
    delete(toasts, name)
    error = AppTest.from_function(removing, default_timeout=WAIT_S)
    error.session_state["missing"] = name
    error.run()
    for shown in (toasts.toast[0].value, error.error[0].value):
        assert r"\!\[p\]\(http" in shown
        assert "http:" not in shown.replace("\\", "")


def removing() -> None:
    import streamlit as st

    from selfright.ui.documents_view import show_documents
    from selfright.ui.state import memory, report_errors, say_once, service

    say_once(memory())
    with report_errors(memory()):
        if "missing" in st.session_state:
            service(memory()).delete_document(st.session_state["missing"])
    show_documents()


def test_the_page_takes_every_kind_of_file_that_is_read() -> None:
    from selfright.ingest.reading import SUFFIXES
    from selfright.ui.documents_view import TYPES

    assert {f".{kind}" for kind in TYPES} == SUFFIXES
