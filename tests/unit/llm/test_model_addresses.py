"""Addresses of models as people write them, and that no proxy stands before this machine's own."""

import asyncio
import socket
from pathlib import Path

import numpy as np
import pytest

from selfright import Selfright
from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import ModelRejected, ModelUnavailable, SettingsError, UsageError
from selfright.llm import openai_chat, provider_table
from selfright.llm.backend import Mode
from selfright.llm.provider_table import client_address, is_loopback, split_name
from selfright.llm.providers import ModelSpec, chat_model, embedder
from tests.support.llm import QUESTION, write_index
from tests.support.model_server import Asked, Said, completion, serving

PLAIN = ChatRequest(Job.ANSWER, "s", "u")


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that nobody answers at, for everything."""
    monkeypatch.setenv("OPENAI_PROXY", "http://127.0.0.1:9")  # LangChain's own
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai:m@http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("openai:m@http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("openai:m@HTTP://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("openai:m@http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1"),
        ("openai:m@http://127.0.0.1:8000/v1/embeddings", "http://127.0.0.1:8000/v1"),
        ("openai:m@http://127.0.0.1:8000/v1/models/", "http://127.0.0.1:8000/v1"),
        ("openai:m@https://host/gateway/openai", "https://host/gateway/openai"),
        ("openai:m@https://host/chat/completions", "https://host/chat/completions"),
        ("openai:m@127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("openai:m@127.0.0.1", "http://127.0.0.1/v1"),
        ("openai:m@localhost:1234/v1", "http://localhost:1234/v1"),
        ("openai:m@localhost", "http://localhost/v1"),
        ("openai:m@gpu-box:8000", "http://gpu-box:8000/v1"),
        ("openai:m@gpu.local:8000", "http://gpu.local:8000/v1"),
        ("openai:m@192.168.1.7:8000", "http://192.168.1.7:8000/v1"),
        ("openai:m@[::1]:8000", "http://[::1]:8000/v1"),
        ("openai:org/m@main@localhost:8000", "http://localhost:8000/v1"),
        ("ollama:qwen3:8b@localhost", "http://localhost:11434"),
        ("ollama:qwen3:8b@127.0.0.1:11434/", "http://127.0.0.1:11434"),
        ("ollama:qwen3:8b@http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
        ("ollama:qwen3:8b@http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434"),
        ("mistral:m@http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("anthropic:m@https://gateway.example.org/v1/messages", "https://gateway.example.org"),
        ("google_genai:m@https://gateway.example.org/v1beta", "https://gateway.example.org"),
        (
            "azure:m@https://n.openai.azure.com/openai/deployments/m/chat/completions?api-version=1",
            "https://n.openai.azure.com/openai/v1",
        ),
    ],
)
def test_an_address_is_read_as_it_is_meant(name: str, expected: str) -> None:
    spec = ModelSpec.parse(name)
    assert spec.base_url == expected
    assert ModelSpec.parse(str(spec)) == spec
    assert ModelSpec.parse(f"{spec.provider}:m", name.rpartition("@")[2]).base_url == expected


@pytest.mark.parametrize("model", ["m@v1.2", "claude@20250929", "@cf/meta/llama", "a@b/c", "ft:gpt-4o:org::x@y"])
def test_a_name_may_have_the_sign_itself(model: str) -> None:
    assert split_name(model) == (model, None)


@pytest.mark.parametrize("name", ["openai:m@api.example.org", "openai:m@user:hush@api.example.org:8000/v1"])
def test_nobody_guesses_the_scheme_of_a_public_server(name: str) -> None:
    for given in ((name,), ("openai:m", name.partition("m@")[2])):
        with pytest.raises(UsageError, match=r"write https://api\.example\.org") as seen:
            ModelSpec.parse(*given)
        assert "hush" not in str(seen.value)


def test_a_server_whose_interface_is_at_the_root() -> None:
    with serving(Said(completion())) as server:
        model = chat_model("openai:m", f"{server.url}/chat/completions", {})
        assert asyncio.run(model.attempt(PLAIN, Mode.TEXT)).text == "hello"
    assert server.requests[0].path == "/chat/completions"
    assert client_address(None) is None


def test_an_address_that_leads_nowhere_says_what_to_write() -> None:
    nowhere = Said({"detail": "Not Found"}, status=404)
    with serving(nowhere) as server, pytest.raises(ModelRejected, match="/chat/completions") as seen:
        asyncio.run(chat_model("openai:m", server.url, {}).attempt(PLAIN, Mode.TEXT))
    assert f"{server.url}/v1" in str(seen.value)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_https_to_a_port_that_waits_for_plain_http_ends_early(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (openai_chat, provider_table):
        monkeypatch.setattr(module, "CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"https://127.0.0.1:{silent.getsockname()[1]}"
        model = chat_model(f"{provider}:m@{address}", None, {})
        async with asyncio.timeout(20):
            with pytest.raises(ModelUnavailable, match="write the address with http://"):
                await model.attempt(PLAIN, Mode.TEXT)


def test_a_turn_says_so_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = Said({"detail": "Not Found"}, status=404)
    with serving(nowhere) as server, Selfright.open(**write_index(tmp_path), base_url=server.url) as selfright:
        selfright.ask(QUESTION, preset="basic")
    (record,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert f"{server.url}/v1 turned the call down (status 404)" in record.getMessage()


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:8000/v1", True), ("http://LOCALHOST", True), ("http://a.localhost:1", True),
        ("http://[::1]:8000", True), ("0.0.0.0:11434", True), (":11434", True), ("http://192.168.1.7", False),
        ("https://localhost.example.org", False),
    ],
)  # fmt: skip
def test_which_addresses_are_this_machines(address: str, own: bool) -> None:
    assert is_loopback(address) is own


# No proxy before this machine


@pytest.mark.usefixtures("proxied")
@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "http://localhost:{port}/v1"])
@pytest.mark.parametrize("provider", ["openai", "mistral", "azure"])
def test_who_speaks_as_openai_goes_straight_to_this_machine(provider: str, address: str) -> None:
    keys = {"MISTRAL_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k"}
    with serving(Said(completion())) as server:
        port = server.url.rpartition(":")[2]
        model = chat_model(f"{provider}:m", address.format(port=port), keys)
        assert asyncio.run(model.attempt(PLAIN, Mode.TEXT)).text == "hello"
    assert server.requests[0].path.endswith("/v1/chat/completions")


@pytest.mark.usefixtures("proxied")
def test_ollama_goes_straight_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = {"model": "m", "message": {"role": "assistant", "content": "hello"}, "done": True, "done_reason": "stop"}
    with serving(Said(reply)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        for model in (chat_model("ollama:m", f"{server.url}/api/chat"), chat_model("ollama:m")):
            assert asyncio.run(model.attempt(PLAIN, Mode.TEXT)).text == "hello"
    assert {one.path for one in server.requests} == {"/api/chat"}


@pytest.mark.usefixtures("proxied")
def test_embedders_go_straight_to_this_machine() -> None:
    def embeddings(asked: Asked) -> Said:
        rows = [{"object": "embedding", "index": 0, "embedding": [3.0, 4.0]}]
        return Said({"object": "list", "data": rows, "model": "m", "embeddings": [[3.0, 4.0]], "usage": {}})

    with serving(embeddings) as server:
        openai, ollama = (embedder(f"{provider}:m", server.url, {}) for provider in ("openai", "ollama"))
        assert np.allclose([openai.embed(["x"]), ollama.embed(["x"])], [0.6, 0.8])
        for models in (ollama._embeddings, ollama._questions):
            models._client._client.close()  # else its sockets are left to chance
    assert {one.path for one in server.requests} == {"/v1/embeddings", "/api/embed"}


@pytest.mark.usefixtures("proxied")
def test_a_client_that_cannot_do_so_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"ANTHROPIC_API_KEY": "k"}
    with pytest.raises(SettingsError, match=r"set NO_PROXY=127\.0\.0\.1"):
        chat_model("anthropic:m", "http://127.0.0.1:8000", keys)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    chat_model("anthropic:m", "http://127.0.0.1:8000", keys)
