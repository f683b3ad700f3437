"""What the clients of Anthropic, Azure, Bedrock and Mistral really send, and how their replies are read."""

import asyncio
import importlib.util
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import MissingExtra, ModelRejected, ModelUnavailable, SettingsError, UnknownName
from selfright.llm.backend import Mode, RawReply
from selfright.llm.providers import PROVIDERS, ModelSpec, chat_model, embedder
from tests.support.model_server import ModelServer, Said, completion, events, refusal, serving

PLAIN = ChatRequest(Job.ANSWER, "be brief", "안녕, who are you?", temperature=0.3, max_tokens=50)
SCHEMA = {"title": "verdict", "type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
OBJECT = ChatRequest(Job.EVALUATE, "judge", "this", schema=SCHEMA)
KEYS = {"ANTHROPIC_API_KEY": "a-1", "AZURE_OPENAI_API_KEY": "z-1", "MISTRAL_API_KEY": "m-1"}
MODEL = {"bedrock": "anthropic.claude-3-haiku-20240307-v1:0"}  # its client looks up what a model can
NEW = ("anthropic", "azure", "bedrock", "mistral")


@pytest.fixture(autouse=True)
def amazon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amazon's library looks for keys by itself; these open nothing."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)


def address(provider: str, server: ModelServer) -> str:
    return f"{server.url}/v1" if provider == "mistral" else server.url


def attempt(
    provider: str,
    server: ModelServer,
    request: ChatRequest = PLAIN,
    mode: Mode = Mode.TEXT,
    heard: list[str] | None = None,
) -> RawReply:
    backend = chat_model(f"{provider}:{MODEL.get(provider, 'm-1')}", address(provider, server), KEYS)

    async def once() -> RawReply:
        try:
            return await backend.attempt(request, mode, None if heard is None else heard.append)
        finally:
            await backend.aclose()

    return asyncio.run(once())


def anthropic_says(*content: Mapping[str, Any], stop: str = "end_turn") -> Said:
    usage = {"input_tokens": 11, "output_tokens": 7}
    message = {"id": "1", "type": "message", "role": "assistant", "model": "m-1", "content": list(content)}
    return Said({**message, "stop_reason": stop, "stop_sequence": None, "usage": usage})


def bedrock_says(*content: Mapping[str, Any], stop: str = "end_turn") -> Said:
    message = {"message": {"role": "assistant", "content": list(content)}}
    usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
    return Said({"output": message, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}})


HELLO = {
    "anthropic": anthropic_says({"type": "text", "text": "hello"}),
    "azure": Said(completion()),
    "bedrock": bedrock_says({"text": "hello"}),
    "mistral": Said(completion()),
}


@pytest.mark.parametrize("provider", NEW)
def test_a_reply_is_read_with_its_tokens_and_its_end(provider: str) -> None:
    with serving(HELLO[provider]) as server:
        assert attempt(provider, server) == RawReply("hello", Finish.STOP, 11, 7)
        assert len(server.requests) == 1


# What is sent


def test_what_anthropic_is_sent() -> None:
    with serving(HELLO["anthropic"]) as server:
        attempt("anthropic", server)
    (asked,) = server.requests
    assert asked.path == "/v1/messages"
    assert "a-1" in (asked.headers.get("x-api-key"), asked.headers.get("authorization", "").removeprefix("Bearer "))
    assert asked.body["system"] in ("be brief", [{"type": "text", "text": "be brief"}])
    assert asked.body["messages"] == [{"role": "user", "content": "안녕, who are you?"}]
    assert (asked.body["max_tokens"], asked.body["temperature"]) == (50, 0.3)


@pytest.mark.parametrize(
    ("provider", "path", "key"),
    [("azure", "/openai/v1/chat/completions", "Bearer z-1"), ("mistral", "/v1/chat/completions", "Bearer m-1")],
)
def test_what_azure_and_mistral_are_sent(provider: str, path: str, key: str) -> None:
    with serving(HELLO[provider]) as server:
        attempt(provider, server)
    (asked,) = server.requests
    assert (asked.path, asked.headers["authorization"]) == (path, key)
    assert [m["role"] for m in asked.body["messages"]] == ["system", "user"]
    assert 50 in (asked.body.get("max_tokens"), asked.body.get("max_completion_tokens"))
    assert provider == "azure" or (asked.body["max_tokens"], asked.body["temperature"]) == (50, 0.3)


def test_what_bedrock_is_sent() -> None:
    with serving(HELLO["bedrock"]) as server:
        attempt("bedrock", server)
    (asked,) = server.requests
    assert asked.path == "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse"
    assert "AKIDEXAMPLE" in asked.headers["authorization"]
    assert "/eu-central-1/bedrock/" in asked.headers["authorization"]
    assert asked.body["system"] == [{"text": "be brief"}]
    assert asked.body["messages"] == [{"role": "user", "content": [{"text": "안녕, who are you?"}]}]
    assert asked.body["inferenceConfig"] == {"maxTokens": 50, "temperature": 0.3}


# Objects


@pytest.mark.parametrize("provider", ["azure", "mistral"])
def test_an_object_by_schema(provider: str) -> None:
    with serving(Said(completion('{"score": 1}'))) as server:
        assert attempt(provider, server, OBJECT, Mode.SCHEMA).text == '{"score": 1}'
    assert server.body["response_format"]["type"] == "json_schema"


# Streams


def anthropic_stream(*pieces: str) -> list[str]:
    usage = {"input_tokens": 11, "output_tokens": 1}
    message = {"id": "1", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    parts: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {part['type']}\ndata: {json.dumps(part)}\n\n" for part in parts]


def amazon_event(kind: str, body: Mapping[str, Any]) -> bytes:
    """One message of Amazon's event stream."""
    headers = b""
    for name, value in ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event")):
        headers += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    payload = json.dumps(body).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def amazon_stream(*pieces: str) -> list[bytes]:
    return [
        amazon_event("messageStart", {"role": "assistant"}),
        *(amazon_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}}) for piece in pieces),
        amazon_event("contentBlockStop", {"contentBlockIndex": 0}),
        amazon_event("messageStop", {"stopReason": "end_turn"}),
        amazon_event("metadata", {"usage": {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}}),
    ]


@pytest.mark.parametrize(
    ("provider", "pieces"),
    [
        ("anthropic", anthropic_stream("hel", "lo")),
        ("azure", events({"content": "hel"}, {"content": "lo"})),
        ("mistral", events({"content": "hel"}, {"content": "lo"})),
        ("bedrock", amazon_stream("hel", "lo")),
    ],
)
def test_a_stream_is_heard_as_it_comes(provider: str, pieces: list[str]) -> None:
    heard: list[str] = []
    kind = {"content-type": "application/vnd.amazon.eventstream"} if provider == "bedrock" else {}
    with serving(Said(pieces=pieces, headers=kind)) as server:
        reply = attempt(provider, server, heard=heard)
    assert (reply.text, heard) == ("hello", ["hel", "lo"])
    assert server.body.get("stream") or server.requests[0].path.endswith("/converse-stream")


# Faults


@pytest.mark.parametrize("provider", NEW)
@pytest.mark.parametrize("status", [401, 503])
def test_a_refusal_is_told_with_its_status_and_not_tried_again(provider: str, status: int) -> None:
    expected = ModelRejected if status == 401 else ModelUnavailable
    with serving(refusal(status, "sk-hush")) as server:
        with pytest.raises(expected) as seen:
            attempt(provider, server)
        assert seen.value.status == status
        assert "hush" not in str(seen.value)
        assert len(server.requests) == 1


@pytest.mark.parametrize("provider", NEW)
def test_nobody_there(provider: str) -> None:
    with serving(Said()) as server:
        gone = ModelServer(server.url)
    with pytest.raises(ModelUnavailable):
        attempt(provider, gone)


# Names, keys and installs


def test_other_names_of_providers() -> None:
    assert ModelSpec.parse("gemini:gemini-2.5-flash") == ModelSpec("google_genai", "gemini-2.5-flash")
    assert str(ModelSpec.parse("azure_openai:d")) == "azure:d"


def test_azure_wants_the_address_of_the_resource() -> None:
    with pytest.raises(SettingsError, match="AZURE_OPENAI_ENDPOINT"):
        chat_model("azure:d", environment=KEYS)


@pytest.mark.parametrize("provider", NEW)
def test_a_missing_client_comes_with_its_install_line(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = PROVIDERS[provider].package
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(MissingExtra, match=rf'pip install "selfright\[{provider}\]"'):
        chat_model(f"{provider}:m", "http://127.0.0.1:9", KEYS)


def test_who_has_no_embedders_is_not_asked_for_one() -> None:
    with pytest.raises(UnknownName, match="openai"):
        embedder("anthropic:m", environment=KEYS)
