"""A real small model in a child process: it loads, writes, streams, stops when told to, and comes back after a death.

One child serves the whole file; replies are bounded to few tokens.
"""

import asyncio
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.budget import Meter
from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import ModelUnavailable
from selfright.llm.backend import Mode
from selfright.llm.calling import CallPolicy, TurnModel
from selfright.llm.local.backend import LocalBackend, bound_schema, demo_weights, is_looping, local_model
from selfright.llm.local.running import RunningModel
from tests.support.gguf import CHAT, header

SHORT = ChatRequest(Job.ANSWER, "You answer in one sentence.", "What is the capital of France?", max_tokens=12)
LONG = ChatRequest(Job.ANSWER, "You are a novelist.", "Write a long story about the sea.", max_tokens=400)
COUNTED = {
    "title": "grade",
    "type": "object",
    "properties": {"sufficiency": {"type": "number"}, "reason": {"type": "string"}},
    "required": ["sufficiency", "reason"],
}


@pytest.fixture(scope="module")
def model() -> Iterator[LocalBackend]:
    backend = local_model("smollm2")
    yield backend
    backend.close()


def on(model: LocalBackend, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Runs it on a loop of its own, and leaves no connection behind."""

    async def closing() -> Any:
        try:
            return await work()
        finally:
            await model.aclose()

    return asyncio.run(closing())


def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    backend = local_model(str(shutil.copyfile(demo_weights(), tmp_path / "own.gguf")))  # which no other test runs
    assert backend.running.pid is None
    backend.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        asyncio.run(backend.attempt(SHORT, Mode.TEXT))


def test_it_writes_the_same_whole_and_in_pieces_within_its_bound(model: LocalBackend) -> None:
    heard: list[str] = []
    whole = on(model, lambda: model.attempt(SHORT, Mode.TEXT))
    streamed = on(model, lambda: model.attempt(SHORT, Mode.TEXT, heard.append))
    assert whole.text
    assert whole.text == streamed.text == "".join(heard)
    assert len(heard) > 1
    assert 0 < (whole.completion_tokens or 0) <= 12
    assert whole.prompt_tokens
    assert whole.prompt_tokens > 10


def test_an_endless_reply_ends_at_its_bound(model: LocalBackend) -> None:
    reply = on(model, lambda: model.attempt(dataclasses.replace(LONG, max_tokens=24), Mode.TEXT, lambda _: None))
    assert (reply.finish, reply.completion_tokens) == (Finish.LENGTH, 24)


def test_a_reply_that_loops_is_broken_off_and_the_model_is_free_again(model: LocalBackend) -> None:
    asked = ChatRequest(Job.ANSWER, "", "The sea is wide and blue.\n" * 12, max_tokens=500)
    reply = on(model, lambda: model.attempt(asked, Mode.TEXT))
    assert is_looping(reply.text)
    assert len(reply.text) < 500  # characters; 500 tokens have about 2,000
    assert reply.finish is Finish.LENGTH
    assert on(model, lambda: model.attempt(SHORT, Mode.TEXT)).text


def test_an_object_keeps_to_its_schema_whatever_is_in_it(model: LocalBackend) -> None:
    asked = ChatRequest(Job.GRADE, "Grade. Answer with JSON.", "Is water wet?", max_tokens=120, schema=COUNTED)
    reply = on(model, lambda: model.attempt(asked, Mode.SCHEMA))
    assert reply.finish is Finish.STOP
    assert json.loads(reply.text).keys() == {"sufficiency", "reason"}


def test_lists_and_texts_of_an_object_are_bounded() -> None:
    inner = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    schema = {"type": "object", "properties": {"texts": inner, "why": {"type": "string"}}}
    bounded = bound_schema(schema)["properties"]
    assert bounded["texts"] == {**inner, "maxItems": 12}
    assert bounded["why"] == {"type": "string", "maxLength": 240}


def test_a_prompt_that_is_too_long_is_cut_and_counted(model: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "context", 400)  # as if it read no more: two thousand tokens take a minute
    text = "The ferry leaves at seven. " * 700
    question = "<question-0a1b2c3d>\nWhen?\n</question-0a1b2c3d>"
    user = f"<passages-0a1b2c3d>\npassage-0a1b2c3d [1]\n{text}\n</passages-0a1b2c3d>\n{question}"
    meter = Meter(4, 100_000, 300.0)
    chat = TurnModel(model, meter, CallPolicy(timeout_s=200.0, attempts=1))
    reply = on(model, lambda: chat.complete(ChatRequest(Job.ANSWER, "Answer.", user, max_tokens=8)))
    assert reply.prompt_tokens < 400
    assert meter.left_out[Job.ANSWER] > 10_000


def test_a_call_that_is_given_up_stops_the_model(model: LocalBackend) -> None:
    """The next call need not wait for the four hundred tokens that nobody hears."""

    async def given_up() -> float:
        heard = asyncio.Event()
        task = asyncio.create_task(model.attempt(LONG, Mode.TEXT, lambda _: heard.set()))
        await heard.wait()
        began = time.perf_counter()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        stopped = time.perf_counter() - began
        await model.attempt(SHORT, Mode.TEXT)
        return stopped

    assert on(model, given_up) < 5.0


def test_only_who_has_the_key_is_answered(model: LocalBackend) -> None:
    on(model, model.open)
    asked = urllib.request.Request(f"{model.running.address()}/v1/chat/completions", b"{}")
    with pytest.raises(urllib.error.HTTPError) as seen:
        urllib.request.urlopen(asked, timeout=20)
    assert seen.value.code == 401
    seen.value.close()


def test_a_child_that_died_is_started_anew(model: LocalBackend) -> None:
    on(model, model.open)
    before = model.running.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while model.running.is_alive and time.monotonic() < deadline:
        time.sleep(0.02)
    assert on(model, lambda: model.attempt(SHORT, Mode.TEXT)).text
    assert model.running.pid not in (None, before)


def test_one_that_dies_while_it_writes_says_so(model: LocalBackend) -> None:
    async def killed() -> None:
        def kill(_: str) -> None:
            pid = model.running.pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

        await model.attempt(LONG, Mode.TEXT, kill)

    with pytest.raises(ModelUnavailable):
        on(model, killed)


def test_two_users_share_a_child_and_the_last_one_ends_it(tmp_path: Path) -> None:
    own = shutil.copyfile(demo_weights(), tmp_path / "own.gguf")  # which no other test runs
    first, second = local_model(str(own)), local_model(str(own))
    assert first.running is second.running
    running: RunningModel = first.running
    asyncio.run(asyncio.to_thread(running.address))
    first.close()
    assert running.is_alive
    second.close()
    assert not running.is_alive


def test_a_file_that_only_looks_like_a_model_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.write_bytes(header(CHAT))
    backend = local_model(str(path))
    with pytest.raises(ModelUnavailable, match="could not be loaded"):
        asyncio.run(backend.attempt(SHORT, Mode.TEXT))
    backend.close()


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from selfright.llm.local.backend import demo_weights, local_model\n"
        "model = local_model('smollm2')\n"
        "model.running.address()\n"
        "print(model.running.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    pid = int(run.stdout)
    deadline = time.monotonic() + 20
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
