"""What OpenAI's client does by its own way; what it has in common with LangChain's is in ``test_chat``."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.backend import Backend, CompletionReading, Mode, RawReply
from selfright.llm.chat import LangChainBackend
from selfright.llm.clients import PerLoop
from selfright.llm.openai_chat import first_style
from selfright.llm.providers import chat_model
from tests.support.model_server import Said, completion, events, serving
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.rules import Rule, When
from tests.support.scripted.server import ScriptedServer

PLAIN = ChatRequest(Job.ANSWER, "be brief", "안녕, who are you?", max_tokens=50)
OBJECT = ChatRequest(
    Job.EVALUATE,
    "judge",
    "this",
    schema={"title": "verdict", "type": "object", "properties": {"score": {"type": "number"}}},
)
Heard = list[str]
STALL_S = 0.2


def ask(url: str, request: ChatRequest = PLAIN, mode: Mode = Mode.TEXT) -> RawReply:
    return asyncio.run(chat_model("openai:m", url, {}).attempt(request, mode))


def hear(*pieces: str, request: ChatRequest = PLAIN, mode: Mode = Mode.TEXT) -> tuple[RawReply, Heard]:
    heard: Heard = []
    with serving(Said(pieces=pieces)) as server:
        backend = chat_model("openai:m", f"{server.url}/v1", {})
        return asyncio.run(backend.attempt(request, mode, heard.append)), heard


# Faults: as the client that LangChain has, or better


@pytest.fixture(scope="module")
def scripted() -> Any:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def loop() -> Any:
    """One event loop for all, for each new one would need new clients."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def both(scripted: ScriptedServer, loop: asyncio.Runner) -> Any:
    """The same model by both clients."""

    def client() -> ChatOpenAI:
        return ChatOpenAI(model="m", api_key=SecretStr("none"), base_url=scripted.url, max_retries=0, stream_usage=True)

    async def close(client: ChatOpenAI) -> None:
        await client.root_async_client.close()

    backends = (chat_model("openai:m", scripted.url, {}), LangChainBackend(PerLoop(client, close)))
    yield backends
    for backend in backends:
        loop.run(backend.aclose())


async def outcome(backend: Backend, request: ChatRequest, mode: Mode, *, stream: bool) -> object:
    """What a caller gets, in a form that can be compared."""
    heard: Heard = []
    try:
        reply = await backend.attempt(request, mode, heard.append if stream else None)
    except (ModelUnavailable, ModelRejected) as error:
        return type(error), error.status, getattr(error, "retry_after", None), heard
    return reply.text, reply.finish, reply.prompt_tokens, reply.completion_tokens, heard


STALLS = ("stall", "stall-midway")
BETTER = (("refusal", True), ("repeated", True))  # see the tests behind
FAULTY = [(name, stream) for name in sorted(set(FAULTS) - set(STALLS)) for stream in (False, True)]


@pytest.mark.parametrize("mode", [Mode.TEXT, Mode.SCHEMA])
@pytest.mark.parametrize(("fault", "stream"), [case for case in FAULTY if case not in BETTER])
def test_a_fault_comes_to_the_same_as_with_langchains_client(
    fault: str, stream: bool, mode: Mode, scripted: ScriptedServer, both: tuple[Backend, ...], loop: asyncio.Runner
) -> None:
    scripted.use([Rule(When(), FAULTS[fault])])
    request = PLAIN if mode is Mode.TEXT else OBJECT
    ours, theirs = (loop.run(outcome(backend, request, mode, stream=stream)) for backend in both)
    assert ours == theirs


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", STALLS)
def test_a_stalled_call_ends_when_its_caller_gives_up(
    fault: str, stream: bool, scripted: ScriptedServer, both: tuple[Backend, ...], loop: asyncio.Runner
) -> None:
    async def given_up() -> None:
        async with asyncio.timeout(STALL_S):
            await both[0].attempt(PLAIN, Mode.TEXT, (lambda _: None) if stream else None)

    scripted.use([Rule(When(), FAULTS[fault])])
    with pytest.raises(TimeoutError):
        loop.run(given_up())


def test_a_streamed_refusal_is_one() -> None:
    reply, heard = hear(*events({"refusal": "I will"}, {"refusal": " not"}, {"content": None}))
    assert (reply.finish, reply.text, heard) == (Finish.REFUSED, "", [])


def test_a_server_that_counts_in_every_chunk_is_not_added_up() -> None:
    pieces = [
        piece.replace('"choices"', '"usage": {"prompt_tokens": 5, "completion_tokens": 2}, "choices"')
        for piece in events({"content": "a"}, {"content": "b"})[:-2]
    ]
    reply, _ = hear(*pieces, "data: [DONE]\n\n")
    assert (reply.prompt_tokens, reply.completion_tokens) == (5, 2)


# Streams as servers send them


def test_a_stream_may_be_written_in_any_way_that_is_allowed() -> None:
    plain = "".join(events({"content": "안녕"}, {"content": " there"}))
    for text in (
        plain.replace("\n", "\r\n"),
        plain.replace("data: ", "data:"),
        ": ping\n\n" + plain.replace("\n\n", "\n\n: still here\n\n"),
        plain.replace("data: {", "event: message\nid: 1\ndata: {"),
        plain.replace("data: [DONE]\n\n", ""),
        plain.replace('"choices": []', '"choices": null'),
        plain.rstrip("\n"),
    ):
        reply, heard = hear(text)
        assert reply == RawReply("안녕 there", Finish.STOP, 11, 7), text
        assert heard == ["안녕", " there"]


@given(st.lists(st.integers(1, 60), max_size=20))
def test_a_reply_may_come_in_any_pieces(sizes: list[int]) -> None:
    """The text of chunks of a stream is the text of the reply."""
    text = "한 문장 and 🙂 more"
    reading, at = CompletionReading(), 0
    for size in [*sizes, len(text)]:
        reading.add({"choices": [{"delta": {"content": text[at : at + size]}}]})
        at += size
    assert reading.text == text


# Replies as servers write them


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": [{"type": "text", "text": "for"}, {"type": "thinking", "thinking": "hm"}, "ty"]}, "forty"),
        ({"tool_calls": [None], "content": "a"}, "a"),
        ({"tool_calls": {"function": 1}, "content": {"odd": 1}}, ""),
        ({"function": {}, "content": "a", "refusal": None}, "a"),
    ],
    ids=["blocks", "null", "odd", "no refusal"],
)
def test_what_a_message_says(message: dict[str, Any], expected: str) -> None:
    with serving(Said(completion(**{"content": None, **message}))) as server:
        reply = ask(f"{server.url}/v1")
    assert (reply.text, reply.finish) == (expected, Finish.STOP)


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": None}, {"prompt_tokens": True, "completion_tokens": "7"}, {"total_tokens": 1}]
)
def test_a_count_that_is_none_is_no_count(usage: object) -> None:
    with serving(Said({**completion(), "usage": usage})) as server:
        reply = ask(f"{server.url}/v1")
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    "more",
    [
        {"message": {"reasoning_content": "hm"}},
        {"message": {"reasoning": "hm"}},
        {"usage": {"completion_tokens_details": {"reasoning_tokens": 3}}},
    ],
    ids=["reasoning_content", "reasoning", "tokens"],
)
def test_thinking_beside_the_answer_gets_room_from_then_on(more: Mapping[str, Any]) -> None:
    with serving(Said({**completion(**more.get("message", {})), "usage": more.get("usage")})) as server:
        backend = chat_model("openai:m", f"{server.url}/v1", {})
        for _ in range(2):
            assert asyncio.run(backend.attempt(PLAIN, Mode.TEXT)).text == "hello"
    assert [request.body["max_tokens"] for request in server.requests] == [50, 50 + 4_096]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"message": "x", "code": 429}, ModelUnavailable, 429),
        ({"message": "x", "code": 402}, ModelRejected, 402),
        ({"message": "x", "code": "insufficient_quota"}, ModelRejected, None),
        ("x", ModelUnavailable, None),
    ],
)
def test_an_error_behind_status_200_is_told_by_its_code(
    error: object, kind: type[Exception], status: int | None, stream: bool
) -> None:
    body: dict[str, Any] = {"error": error}
    said = Said(pieces=[f"data: {json.dumps(body)}\n\n"]) if stream else Said(body)
    with serving(said) as server:
        told = asyncio.run(outcome(chat_model("openai:m", f"{server.url}/v1", {}), PLAIN, Mode.TEXT, stream=stream))
    assert told == (kind, status, None, [])


@pytest.mark.parametrize("body", [completion("half", "error"), {"choices": [1]}, {"choices": [{"message": "a"}]}, None])
def test_what_says_itself_that_it_failed_is_no_reply(body: object) -> None:
    with serving(Said(body)) as server, pytest.raises(ModelUnavailable, match="gave something else"):
        ask(f"{server.url}/v1")


# What is sent


@pytest.mark.parametrize(
    "name",
    ["gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-nano", "gpt-5.1", "gpt-5.2", "gpt-5.5-pro", "o1", "o3", "o4-mini"],
)
def test_what_is_known_of_a_model_is_what_langchain_knows(name: str) -> None:
    profile = ChatOpenAI(model=name, api_key=SecretStr("none")).profile or {}
    style = first_style(name, None)
    assert bool(style.room) is bool(profile.get("reasoning_output"))
    assert style.temperature is bool(profile.get("temperature"))
    assert first_style(f"openai/{name}", "https://host/v1") == first_style(name, "https://host/v1")


@pytest.mark.parametrize("name", ["gpt-5-chat-latest", "gpt-oss-20b", "olmo-2", "foo1", "qwen3:8b", "my-gpt-5"])
def test_other_models_are_not_taken_to_think(name: str) -> None:
    assert first_style(name, None).room == 0


@pytest.mark.parametrize(
    ("address", "first"),
    [
        (None, "max_completion_tokens"),
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
        ("http://127.0.0.1:8000/v1", "max_tokens"),
    ],
)
def test_the_limit_goes_by_the_name_that_the_server_heeds(address: str | None, first: str) -> None:
    assert first_style("m", address).limits[0] == first


def test_the_librarys_own_variables_do_not_reach_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with serving(Said(completion())) as server:
        ask(f"{server.url}/v1")
    assert server.requests[0].headers["authorization"] == "Bearer none"
    assert "secret" not in str(server.requests[0].headers)


def test_a_password_in_the_address_is_used() -> None:
    with serving(Said(completion())) as server:
        ask(server.url.replace("//", "//me:hush@") + "/v1")
    assert server.requests[0].headers["authorization"] == "Basic bWU6aHVzaA=="


# Many at a time


async def test_two_hundred_at_a_time_are_under_way_together() -> None:
    said: Heard = []
    with ScriptedServer([Rule(When(), "hello there")], latency_s=0.8, keep=0) as server:
        backend = chat_model("openai:m", server.url, {})
        replies = await asyncio.gather(
            *(backend.attempt(PLAIN, Mode.TEXT, said.append if number % 2 else None) for number in range(200))
        )
        assert [(reply.text, reply.finish) for reply in replies] == [("hello there", Finish.STOP)] * 200
        assert server.most_at_once > 100


def test_asking_imports_the_client_and_nothing_of_langchains() -> None:
    code = (
        "import sys, asyncio; from selfright.llm.providers import chat_model;"
        "asyncio.run(chat_model('openai:m', 'http://127.0.0.1:9', {}).open());"
        "print(*{'openai', 'langchain_core', 'langchain_openai'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "openai"
