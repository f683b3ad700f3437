"""Conversations that are kept: follow-ups, restarts, forgetting, and a turn that ``kill -9`` broke off."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from selfright import Message, Selfright
from selfright.domain.chat import Job
from selfright.domain.errors import SessionBusy, StoreError, UnknownName, UsageError
from selfright.domain.judgements import StopReason
from selfright.domain.turns import Erased, Scope
from selfright.memory.session_rows import LEASE_S, SessionRows
from tests.functional.conftest import Cli, Outcome
from tests.support.llm import is_job, rules, write_index
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.server import ScriptedServer
from tests.support.waiting import wait_for

QUESTION = "How is FxStore installed?"
CHILD = """
import json, sys
from selfright import Selfright
settings = json.loads(sys.argv[1])
with Selfright.open(**settings) as selfright:
    print(selfright.ask(sys.argv[2], session="s", user="ana").answer)
"""


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return write_index(tmp_path)


def offline(settings: dict[str, Any]) -> Selfright:
    return Selfright.open(**{**settings, "llm": "offline"})


def test_a_follow_up_is_understood_after_a_restart(settings: dict[str, Any]) -> None:
    with offline(settings) as selfright:
        selfright.ask("What does a map of FxStore keep?", session="s")
    with offline(settings) as selfright:
        follow_up = selfright.ask("What may its keys be?", session="s")
        alone = selfright.ask("What may its keys be?", session="other")
        kept = selfright.conversation("s")
    assert "FxStore" in follow_up.question
    assert alone.question == "What may its keys be?"
    assert kept.turns == 2
    assert [message.role for message in kept.messages] == ["user", "assistant"] * 2
    assert kept.messages[1] != Message("assistant", "")


def test_a_long_conversation_is_summed_up_and_bounded(settings: dict[str, Any]) -> None:
    with offline({**settings, "session_turns": 6}) as selfright:
        for n in range(9):
            selfright.ask(f"What is number {n} of FxStore?", session="s")
        kept = selfright.conversation("s")
    assert kept.turns == 9
    assert kept.summary
    assert len(kept.messages) <= 4 + 2


def test_names_are_one_however_they_are_composed(settings: dict[str, Any]) -> None:
    (user, session), (apart, other) = ((normalize(form, "지은"), normalize(form, "출장")) for form in ("NFC", "NFD"))
    with offline({**settings, "traces": "full"}) as selfright:
        selfright.ask(QUESTION, session=session, user=user)
        selfright.ask("And then?", session=other, user=apart)
        selfright.set_profile({"age": 60}, apart)
        assert [(each.session, each.turns) for each in selfright.sessions(apart)] == [(session, 2)]
        assert selfright.conversation(other, Scope(apart)).turns == 2
        assert [len(selfright.traces(user=name)) for name in (user, apart)] == [2, 2]
        assert selfright.profile(user).values("age") == ("60",)
        assert selfright.erase(apart) == Erased(1, 1, 2)


def test_a_session_and_a_history_do_not_go_together(settings: dict[str, Any]) -> None:
    with offline(settings) as selfright:
        with pytest.raises(UsageError, match="either 'session' or 'history'"):
            selfright.ask(QUESTION, session="s", history=[Message("user", "hello")])
        with pytest.raises(UnknownName, match="did you mean 'session'"):
            selfright.ask(QUESTION, sesion="s")


@pytest.mark.parametrize("stuck", [Job.EVALUATE, Job.ANSWER])
def test_after_kill_9_the_turn_goes_on_from_its_last_node(stuck: Job, settings: dict[str, Any]) -> None:
    with ScriptedServer(rules(**{stuck.value: FAULTS["stall"]})) as server:
        given, child = stuck_turn(settings, server)
        done = jobs_of(server)
        kill(child)
        server.use(rules())
        server.forget()
        with Selfright.open(**given) as selfright:
            left = selfright.conversation("s", "ana").unfinished
            answer = selfright.ask(QUESTION, session="s", user="ana")
            kept = selfright.conversation("s", "ana")
            (trace,) = selfright.traces(user="ana")
            assert selfright.traces(user="local") == []
        assert (trace.id, trace.user) == (answer.trace_id, "ana")
        assert left is not None
        assert left.question == QUESTION
        assert "Gradle" in answer.answer
        assert answer.trace[0].node == "contextualize"
        first_again = jobs_of(server)[0]
        assert first_again is stuck, f"{done} were done before; {first_again} is done first after it"
        assert kept.unfinished is None
        assert kept.turns == 1


def test_another_question_lets_the_broken_off_turn_go(settings: dict[str, Any]) -> None:
    with ScriptedServer(rules(answer=FAULTS["stall"])) as server:
        given, child = stuck_turn(settings, server)
        with Selfright.open(**given) as selfright, pytest.raises(SessionBusy):
            selfright.ask("Something else?", session="s", user="ana")
        kill(child)
        server.use(rules())
        with Selfright.open(**given) as selfright:
            answer = selfright.ask("What may keys of a map be?", session="s", user="ana")
            kept = selfright.conversation("s", "ana")
        assert answer.stop_reason is not StopReason.ERROR
        assert [m.content for m in kept.messages if m.role == "user"] == ["What may keys of a map be?"]


def stuck_turn(settings: dict[str, Any], server: ScriptedServer) -> tuple[dict[str, Any], "subprocess.Popen[bytes]"]:
    """A process whose turn waits for a model that says nothing, and the settings it was given."""
    given = {**{name: str(v) if isinstance(v, Path) else v for name, v in settings.items()}, "base_url": server.url}
    child = subprocess.Popen([sys.executable, "-c", CHILD, json.dumps(given), QUESTION], env=dict(os.environ))
    wait_for(lambda: any(request.fault for request in server.calls()))
    return given, child


def kill(child: "subprocess.Popen[bytes]") -> None:
    """Kills a process, and waits until what it held is free."""
    child.send_signal(signal.SIGKILL)
    child.wait()
    time.sleep(LEASE_S)


def jobs_of(server: ScriptedServer) -> list[Job]:
    return [next(job for job in Job if is_job(job, request)) for request in server.calls()]


def test_the_chat_keeps_its_conversation_until_it_is_told_to_forget(
    settings: dict[str, Any], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [f"--set={name}={settings[name]}" for name in ("web_provider", "web_folder", "embedder")]
    command = ["chat", "--index", str(settings["path"]), *options]

    def chat(*lines: str) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        return cli(*command)

    first = subprocess.run(
        [Path(sys.executable).with_name("selfright"), *command],
        input="\n".join([QUESTION, "/sources", "/trace", "/nonsense", "/quit"]),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert "Gradle" in first.stdout
    assert "install.md" in first.stdout
    assert "retrieve" in first.stdout
    assert "no command '/nonsense'" in first.stderr
    second = chat("Which version is it?", "/forget", "/sources")
    assert second.code == 0
    assert "turns so far: 1;" in second.err
    assert "Nothing was asked yet" in second.out
    last = chat("/quit")
    assert last.code == 0
    assert "turns so far" not in last.err


def test_a_turn_whose_end_cannot_be_stored_leaves_its_session_free(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with offline(settings) as selfright:
        with monkeypatch.context() as trouble:
            trouble.setattr(SessionRows, "finish", full_disk)
            with pytest.raises(StoreError, match="the disk is full"):
                selfright.ask(QUESTION, session="s")
        assert "Gradle" in selfright.ask(QUESTION, session="s").answer
        assert len(selfright.turns("s")) == 1


def full_disk(*_: object) -> Any:
    raise StoreError("the disk is full")
