"""Through the real client libraries and real sockets, for what they send and give back changes with their versions."""

import asyncio
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import SecretStr

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.llm.chat import LangChainBackend
from selfright.llm.clients import PerLoop
from selfright.llm.openai_chat import OpenAIBackend
from selfright.llm.providers import chat_model
from tests.support.model_server import Asked, ModelServer, Said, completion, events, refusal, serving

SCHEMA = {
    "title": "verdict of one",
    "type": "object",
    "properties": {
        "score": {"type": "number", "default": 0.5},
        "claims": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
    },
}
PLAIN = ChatRequest(Job.ANSWER, "be brief", "안녕, who are you?", temperature=0.3, max_tokens=50)
OBJECT = ChatRequest(Job.EVALUATE, "judge", "this", max_tokens=200, schema=SCHEMA)


Build = Callable[..., LangChainBackend | OpenAIBackend]


def openai(server: ModelServer, name: str = "m") -> LangChainBackend | OpenAIBackend:
    return chat_model(f"openai:{name}", f"{server.url}/v1", {})


@functools.cache
def _blocking_client() -> Any:
    return DefaultHttpxClient(verify=False)  # one for all, for each would read the certificates


def openai_by_langchain(server: ModelServer, name: str = "m") -> LangChainBackend:
    """As a user may hand it over, but that it serves one event loop after the other."""

    def client() -> ChatOpenAI:
        http: dict[str, Any] = {
            "http_async_client": DefaultAsyncHttpxClient(verify=False),
            "http_client": _blocking_client(),
        }
        options: dict[str, Any] = {"max_retries": 0, "stream_usage": True, "stream_chunk_timeout": None}
        return ChatOpenAI(model=name, api_key=SecretStr("none"), base_url=f"{server.url}/v1", **options, **http)

    async def close(client: ChatOpenAI) -> None:
        await client.root_async_client.close()

    return LangChainBackend(PerLoop(client, close), key="OPENAI_API_KEY")


@pytest.fixture(params=[openai, openai_by_langchain], ids=["openai", "langchain"])
def openai_model(request: pytest.FixtureRequest) -> Build:
    """OpenAI's interface by either way: what holds for the one holds for the other."""
    build: Build = request.param
    return build


def ollama(server: ModelServer) -> LangChainBackend | OpenAIBackend:
    return chat_model("ollama:m:8b", server.url, {})


def gemini(server: ModelServer, name: str = "g") -> LangChainBackend | OpenAIBackend:
    return chat_model(f"google_genai:{name}", server.url, {})


def ask(backend: Backend, request: ChatRequest = PLAIN, mode: Mode = Mode.TEXT) -> RawReply:
    return asyncio.run(backend.attempt(request, mode))


def hear(backend: Backend, request: ChatRequest = PLAIN) -> tuple[RawReply, list[str]]:
    heard: list[str] = []
    return asyncio.run(backend.attempt(request, Mode.TEXT, heard.append)), heard


def ollama_says(content: str = "hello", **more: Any) -> Said:
    last = {"model": "m", "message": {"role": "assistant", "content": content}, "done": True, "done_reason": "stop"}
    return Said(json.dumps({**last, "prompt_eval_count": 11, "eval_count": 7, **more}) + "\n")


def gemini_says(*parts: Mapping[str, Any], finish: str = "STOP", **more: Any) -> Said:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    return Said({"candidates": [candidate], "usageMetadata": usage, **more})


# What is sent


def test_openai_is_asked_for_a_chat_completion_with_the_limit_that_local_servers_know(openai_model: Build) -> None:
    with serving(Said(completion())) as server:
        reply = ask(openai_model(server))
    assert reply == RawReply("hello", Finish.STOP, 11, 7)
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "안녕, who are you?"},
    ]
    assert server.body["temperature"] == 0.3
    assert server.body["max_tokens"] == 50
    assert "max_completion_tokens" not in server.body


def test_an_empty_system_prompt_is_left_out(openai_model: Build) -> None:
    with serving(Said(completion())) as server:
        ask(openai_model(server), ChatRequest(Job.CLASSIFY, "", "hello"))
    assert [message["role"] for message in server.body["messages"]] == ["user"]


def test_openai_by_schema(openai_model: Build) -> None:
    with serving(Said(completion('{"score": 1}'))) as server:
        assert ask(openai_model(server), OBJECT, Mode.SCHEMA).text == '{"score": 1}'
    form = server.body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "verdict_of_one", "strict": True, "schema": SCHEMA}
    assert "tools" not in server.body


def test_by_text_nothing_is_said_of_the_schema(openai_model: Build) -> None:
    with serving(Said(completion("{}"))) as server:
        ask(openai_model(server), OBJECT, Mode.TEXT)
    assert not {"response_format", "tools"} & set(server.body)


def test_ollama_keeps_its_own_settings_beside_ours() -> None:
    with serving(ollama_says()) as server:
        assert ask(ollama(server)) == RawReply("hello", Finish.STOP, 11, 7)
    assert server.requests[0].path == "/api/chat"
    assert server.body["model"] == "m:8b"
    assert server.body["options"] == {"temperature": 0.3, "num_predict": 50, "num_ctx": 8192}


def test_ollama_by_schema() -> None:
    with serving(ollama_says('{"score": 1}')) as server:
        by_schema = ask(ollama(server), OBJECT, Mode.SCHEMA)
    assert by_schema.text == '{"score": 1}'
    assert server.requests[0].body["format"] == SCHEMA


def test_gemini_by_text_and_by_schema() -> None:
    with serving(gemini_says({"text": "hello"}), gemini_says({"text": "{}"})) as server:
        assert ask(gemini(server)) == RawReply("hello", Finish.STOP, 11, 7)
        ask(gemini(server), OBJECT, Mode.SCHEMA)
    plain, by_schema = (request.body["generationConfig"] for request in server.requests)
    assert (plain["temperature"], plain["maxOutputTokens"]) == (0.3, 50)
    assert "responseMimeType" not in plain
    assert by_schema["responseMimeType"] == "application/json"
    assert by_schema["responseJsonSchema"]["properties"].keys() == {"score", "claims"}


# What comes back


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (completion(None), Finish.STOP),
        (completion("", "stop", refusal="I will not"), Finish.REFUSED),
        (completion("half of", "length"), Finish.LENGTH),
        (completion("", "content_filter"), Finish.REFUSED),
        (completion("hello", None), Finish.STOP),
    ],
    ids=["null", "refusal", "length", "filter", "no reason"],
)
@pytest.mark.parametrize("mode", [Mode.TEXT, Mode.SCHEMA])
def test_how_openai_finished(openai_model: Build, message: dict[str, Any], expected: Finish, mode: Mode) -> None:
    with serving(Said(message)) as server:
        reply = ask(openai_model(server), OBJECT, mode)
    assert reply.finish is expected
    assert reply.text == (message["choices"][0]["message"]["content"] or "")


def test_reasoning_beside_the_answer_is_no_answer(openai_model: Build) -> None:
    with serving(Said(completion("42", reasoning_content="let me see"))) as server:
        assert ask(openai_model(server)).text == "42"
    parts = ({"text": "let me see", "thought": True}, {"text": "42"})
    with serving(gemini_says(*parts, modelVersion="gemini-3-pro")) as server:
        assert ask(gemini(server)).text == "42"


@pytest.mark.parametrize("finish", ["SAFETY", "MAX_TOKENS"])
def test_how_gemini_finished(finish: str) -> None:
    with serving(gemini_says({"text": "ha"}, finish=finish)) as server:
        assert ask(gemini(server)).finish is {"SAFETY": Finish.REFUSED, "MAX_TOKENS": Finish.LENGTH}[finish]


def test_a_prompt_that_gemini_blocks_is_refused() -> None:
    with serving(Said({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})) as server:
        assert ask(gemini(server)).finish is Finish.REFUSED


ODD = {
    "empty": Said(""),
    "html": Said("<html>busy</html>", headers={"content-type": "text/html"}),
    "no json": Said("{not json"),
    "list": Said("[1, 2]"),
    "reset": Said(reset=True),
    "reset in body": Said("half", headers={"content-length": "4000"}, reset=True),
    "no choices": Said({}),
    "none": Said({**completion(), "choices": []}),
    "null": Said({**completion(), "choices": None}),
    "error in 200": Said({"error": {"message": "overloaded"}}),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_reply_is_unavailable(openai_model: Build, odd: str) -> None:
    with serving(ODD[odd]) as server, pytest.raises(ModelUnavailable):
        ask(openai_model(server))


@pytest.mark.parametrize("odd", list(ODD)[:6])
@pytest.mark.parametrize("build", [ollama, gemini])
def test_what_is_no_reply_of_others_is_unavailable_or_empty(odd: str, build: Build) -> None:
    with serving(ODD[odd]) as server:
        try:
            text = ask(build(server)).text
        except ModelUnavailable:
            text = ""
    assert text == ""


def test_a_refused_request_says_what_to_do(openai_model: Build) -> None:
    with (
        serving(refusal(401, "wrong key: sk-secret", "invalid_api_key")) as server,
        pytest.raises(ModelRejected) as seen,
    ):
        ask(openai_model(server))
    assert "check OPENAI_API_KEY" in str(seen.value)
    assert "sk-secret" not in str(seen.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("build", [openai, openai_by_langchain, ollama, gemini])
def test_nothing_is_retried_here(status: int, build: Build) -> None:
    busy = Said({"error": {"message": "busy", "code": status}}, status, {"retry-after": "3"})
    with serving(busy) as server, pytest.raises(ModelUnavailable) as seen:
        ask(build(server))
    assert seen.value.status == status
    assert len(server.requests) == 1
    if build is not ollama:  # its client drops the headers
        assert seen.value.retry_after == 3.0


# Streams


def test_a_stream_is_heard_piece_by_piece(openai_model: Build) -> None:
    pieces = events({"content": "<think>hm"}, {"content": "</think>안녕"}, {"content": ""}, {"content": " there"})
    with serving(Said(pieces=pieces)) as server:
        reply, heard = hear(openai_model(server))
    assert heard == ["<think>hm", "</think>안녕", " there"]
    assert reply == RawReply("<think>hm</think>안녕 there", Finish.STOP, 11, 7)
    assert server.body["stream"] is True
    assert server.body["stream_options"] == {"include_usage": True}


def test_ollama_and_gemini_stream_too() -> None:
    parts = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False} for text in ("a", "b")]
    lines = [json.dumps(part) + "\n" for part in parts] + [ollama_says("").text]
    with serving(Said(pieces=lines)) as server:
        assert hear(ollama(server)) == (RawReply("ab", Finish.STOP, 11, 7), ["a", "b"])
    chunks = [gemini_says({"text": "a"}, finish="").body, gemini_says({"text": "b"}).body]
    del chunks[0]["candidates"][0]["finishReason"], chunks[0]["usageMetadata"]
    with serving(Said(pieces=[f"data: {json.dumps(chunk)}\n\n" for chunk in chunks])) as server:
        assert hear(gemini(server)) == (RawReply("ab", Finish.STOP, 11, 7), ["a", "b"])


@pytest.mark.parametrize(
    "said",
    [
        Said(pieces=events({"content": "half"}, finish=None, done=False)),
        Said(pieces=events({"content": "half"}, finish=None, done=False), reset=True),
        Said(pieces=[*events({"content": "half"}, finish=None, done=False), 'data: {"error": {"message": "x"}}\n\n']),
        Said(pieces=[*events({"content": "half"}, finish=None, done=False), "data: {nonsense\n\n"]),
        Said(pieces=[]),
    ],
    ids=["ends early", "reset", "error", "nonsense", "nothing"],
)
def test_a_broken_stream_is_unavailable(openai_model: Build, said: Said) -> None:
    with serving(said) as server, pytest.raises(ModelUnavailable):
        hear(openai_model(server))


def test_a_stream_that_is_cut_or_filtered_says_so(openai_model: Build) -> None:
    with serving(Said(pieces=events({"content": "half"}, finish="length"))) as server:
        assert hear(openai_model(server))[0].finish is Finish.LENGTH
    with serving(Said(pieces=events({"content": ""}, finish="content_filter"))) as server:
        assert hear(openai_model(server))[0].finish is Finish.REFUSED


async def test_cancelling_a_stream_hangs_up_at_once(openai_model: Build) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield from events({"content": "and on "}, finish=None, done=False)

    begun = asyncio.Event()
    with serving(Said(pieces=endless())) as server:
        task = asyncio.create_task(openai_model(server).attempt(PLAIN, Mode.TEXT, lambda _: begun.set()))
        await asyncio.wait_for(begun.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 5)


# What a model turns out to take


def test_a_refused_temperature_is_left_out_from_then_on(openai_model: Build) -> None:
    with serving(refusal(400, "Unsupported value", "unsupported_value", "temperature"), Said(completion())) as server:
        backend = openai_model(server)
        assert ask(backend).text == "hello"
        assert ask(backend, OBJECT, Mode.SCHEMA).text == "hello"
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]
    assert all("max_tokens" in request.body for request in server.requests)


def test_a_refused_limit_goes_by_its_other_name_and_then_without(openai_model: Build) -> None:
    def strict(asked: Asked) -> Said:
        limits = {"max_tokens", "max_completion_tokens"} & set(asked.body)
        return refusal(400, f"Unknown argument: {limits.pop()}") if limits else Said(completion())

    with serving(strict) as server:
        backend = openai_model(server)
        assert ask(backend).text == "hello"
        assert ask(backend).text == "hello"
    assert len(server.requests) == 4


def test_a_stream_that_may_not_be_counted_is_not_counted(openai_model: Build) -> None:
    with serving(
        refusal(400, "stream_options: extra fields not permitted"), Said(pieces=events({"content": "a"}))
    ) as server:
        backend = openai_model(server)
        assert hear(backend)[1] == ["a"]
    assert "stream_options" not in server.requests[-1].body


def test_a_model_that_refuses_everything_is_rejected_in_the_end(openai_model: Build) -> None:
    with serving(lambda asked: refusal(400, "bad temperature, max_tokens")) as server, pytest.raises(ModelRejected):
        ask(openai_model(server))
    assert len(server.requests) <= 5


async def test_requests_side_by_side_learn_the_same_once(openai_model: Build) -> None:
    def strict(asked: Asked) -> Said:
        if "max_tokens" in asked.body:
            return refusal(400, "Use 'max_completion_tokens' instead", param="max_tokens")
        return Said(completion())

    with serving(strict) as server:
        backend = openai_model(server)
        replies = await asyncio.gather(*(backend.attempt(PLAIN, Mode.TEXT) for _ in range(8)))
    assert [reply.text for reply in replies] == ["hello"] * 8
    accepted = [request for request in server.requests if "max_completion_tokens" in request.body]
    assert len(accepted) == 8
    assert len(server.requests) <= 16


def test_a_model_known_to_think_gets_no_temperature_and_room(openai_model: Build) -> None:
    with serving(Said(completion())) as server:
        ask(openai_model(server, "gpt-5-mini"))
    assert "temperature" not in server.body
    assert server.body["max_tokens"] > 4_000


def test_a_model_that_is_seen_to_think_gets_room(openai_model: Build) -> None:
    with serving(Said(completion("<think>hm</think>42"))) as server:
        backend = openai_model(server)
        ask(backend)
        ask(backend)
    first, second = (request.body["max_tokens"] for request in server.requests)
    assert first == 50
    assert second > 4_000


# Event loops and models of one's own


def test_a_model_serves_one_event_loop_after_the_other_and_keeps_its_connection_within_one() -> None:
    async def twice(backend: Backend) -> None:
        await backend.attempt(PLAIN, Mode.TEXT)
        await backend.attempt(PLAIN, Mode.TEXT)

    for build, said in (
        (openai, Said(completion())),
        (openai_by_langchain, Said(completion())),
        (ollama, ollama_says()),
        (gemini, gemini_says({"text": "a"})),
    ):
        with serving(said) as server:
            backend = build(server)
            for _ in range(3):
                asyncio.run(twice(backend))
        assert len(server.requests) == 6
        assert server.connections == 3


def test_opening_sends_nothing(openai_model: Build) -> None:
    with serving(Said(completion())) as server:
        asyncio.run(openai_model(server).open())
    assert server.requests == []


class Parrot(BaseChatModel):
    """The least a LangChain model can be."""

    failing: BaseException | None = None

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        if self.failing:
            raise self.failing
        return ChatResult(generations=[ChatGeneration(message=AIMessage(messages[-1].content))])


def test_any_model_will_do_for_text() -> None:
    backend = LangChainBackend(Parrot())
    assert ask(backend) == RawReply("안녕, who are you?")
    assert hear(backend)[1] == ["안녕, who are you?"]
    assert backend.name == "langchain:Parrot"
    assert backend.provider == "Parrot"


def test_what_a_model_cannot_do_is_not_tried() -> None:
    with pytest.raises(NotImplementedError):
        ask(LangChainBackend(Parrot()), OBJECT, Mode.SCHEMA)


@pytest.mark.parametrize(
    "error", [NotImplementedError(), RuntimeError("the prompt was: secret"), KeyError(), MemoryError()]
)
def test_a_bug_in_a_model_is_out_of_reach(error: Exception) -> None:
    with pytest.raises(ModelUnavailable, match=type(error).__name__) as seen:
        ask(LangChainBackend(Parrot(failing=error)))
    assert "secret" not in str(seen.value)


class Blocks(Parrot):
    """Answers in blocks."""

    def _generate(self, messages: list[BaseMessage], *_: object, **options: Any) -> ChatResult:
        content: list[Any] = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "for"}, "ty"]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content))])


def test_blocks_of_text_are_joined_and_thinking_is_left_out() -> None:
    assert ask(LangChainBackend(Blocks())).text == "forty"


class Structured(Blocks):
    """Has a way of its own for schemas."""

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **options: Any) -> Any:
        assert options == {"method": "json_schema"}
        assert include_raw
        return RunnableLambda(lambda _: {"raw": AIMessage(json.dumps(schema["title"])), "parsed": None})


def test_a_library_with_schemas_of_its_own_is_asked_that_way() -> None:
    assert ask(LangChainBackend(Structured()), OBJECT, Mode.SCHEMA).text == '"verdict of one"'


async def test_a_model_handed_over_keeps_its_settings_and_its_address_is_told_without_the_password() -> None:
    with serving(Said(completion())) as server:
        address = server.url.replace("//", "//user:pass@") + "/v1"
        model = ChatOpenAI(
            model="m", api_key=SecretStr("k"), base_url=address, seed=7, extra_body={"top_k": 3}, max_retries=0
        )
        backend = LangChainBackend(model)
        assert (await backend.attempt(PLAIN, Mode.TEXT)).text == "hello"
        await model.root_async_client.close()
    assert (server.body["seed"], server.body["top_k"], server.body["max_tokens"]) == (7, 3, 50)
    host = server.url.removeprefix("http://")
    assert (backend.name, backend.provider) == (f"langchain:ChatOpenAI:m@{host}", f"ChatOpenAI@{host}")


def test_an_outer_graphs_callbacks_do_not_hear_the_calls() -> None:
    heard = []

    class Ear(BaseCallbackHandler):
        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            heard.append("start")

    backend = LangChainBackend(Parrot())

    async def inside(_: object) -> str:
        return (await backend.attempt(PLAIN, Mode.TEXT)).text

    asyncio.run(RunnableLambda(inside).ainvoke("", {"callbacks": [Ear()]}))
    assert heard == []
