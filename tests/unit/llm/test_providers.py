import asyncio
import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import MissingExtra, SettingsError, UsageError
from selfright.llm.backend import Mode
from selfright.llm.providers import PROVIDERS, ModelSpec, chat_model, embedder
from tests.support.model_server import Asked, Said, completion, serving

KEY = {"OPENAI_API_KEY": "sk-1", "GOOGLE_API_KEY": "g-1"}
PLAIN = ChatRequest(Job.ANSWER, "s", "u")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-4o-mini", ModelSpec("openai", "gpt-4o-mini")),
        ("ollama:qwen3:8b", ModelSpec("ollama", "qwen3:8b")),
        (" google_genai:gemini-2.5-flash ", ModelSpec("google_genai", "gemini-2.5-flash")),
        ("openai:org/name@http://127.0.0.1:8000/v1", ModelSpec("openai", "org/name", "http://127.0.0.1:8000/v1")),
        ("openai:a@b@https://host", ModelSpec("openai", "a@b", "https://host/v1")),
        ("openai:m@http://user:p@ss@host/v1", ModelSpec("openai", "m", "http://user:p@ss@host/v1")),
    ],
)
def test_names_of_models(text: str, expected: ModelSpec) -> None:
    assert ModelSpec.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "address", "why"),
    [
        *((t, None, "gpt-4o-mini") for t in ("", "gpt-4o-mini", "openai", "openai:", "openai: ", "openai:@http://x")),
        *(
            (f"openai:m@{address}", None, "base URL")
            for address in ("http://", "http://:80", "http://host:port", "http://host:99999", "http://[1")
        ),
        *(("openai:m", address, "base URL") for address in ("ftp://host", "http:/host", "host:port")),
        *(("openai:m", address, "base URL") for address in ("http://no address", "not an address")),
        ("openai:m", "nonsense", "write http://nonsense:8000/v1"),
        ("google:gemini", None, "google_genai"),
    ],
)
def test_what_is_no_name_or_address_of_a_model(text: str, address: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ModelSpec.parse(text, address)


def test_what_is_no_address_after_a_name_does_not_go_to_the_provider() -> None:
    with pytest.raises(UsageError, match="'nonsense' is no base URL: write openai:m@http"):
        chat_model("openai:m@nonsense", environment=KEY)
    assert chat_model("openai:a@b", "http://host:8000", KEY).name == "openai:a@b@http://host:8000/v1"


@pytest.mark.parametrize(
    ("name", "address", "whole"),
    [
        ("openai:m", "localhost", "http://localhost/v1"),
        ("openai:m", "gpu-box:8000", "http://gpu-box:8000/v1"),
        ("openai:m", "http://gpu-box", "http://gpu-box/v1"),
        ("ollama:m", "gpu-box", "http://gpu-box:11434"),
    ],
)
def test_a_host_of_the_network_has_a_port_or_a_scheme(name: str, address: str, whole: str) -> None:
    assert ModelSpec.parse(name, address).base_url == whole


@given(st.sampled_from(sorted(PROVIDERS.keys() - {"local"})), st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_a_name_reads_as_it_is_written(provider: str, model: str) -> None:
    spec = ModelSpec.parse(f"{provider}:{model}", "http://host:8000/v1")
    assert ModelSpec.parse(str(spec)) == spec


def test_passwords_are_neither_in_the_name_nor_in_the_provider() -> None:
    secret = "http://user:hush@host:8000/v1?key=hush"
    backend = chat_model("openai:m", secret, KEY)
    assert backend.name == "openai:m@http://host:8000/v1"
    assert backend.provider == "openai@host:8000"
    assert "hush" not in repr(ModelSpec.parse("openai:m", secret))


def test_without_an_address_the_provider_is_all_that_is_said() -> None:
    backend = chat_model("openai:gpt-4o-mini", environment=KEY)
    assert (backend.name, backend.provider) == ("openai:gpt-4o-mini", "openai")


@pytest.mark.parametrize(
    ("make", "name", "variable"),
    [
        *((make, "openai:m", "OPENAI_API_KEY") for make in (chat_model, embedder)),
        *((make, "google_genai:m", "GOOGLE_API_KEY") for make in (chat_model, embedder)),
        (chat_model, "anthropic:m", "ANTHROPIC_API_KEY"),
        (chat_model, "mistral:m", "MISTRAL_API_KEY"),
    ],
)
def test_a_missing_key_is_named(make: Any, name: str, variable: str) -> None:
    for environment in ({}, {variable: " "}):
        with pytest.raises(SettingsError, match=f"set {variable}"):
            make(name, environment=environment)


def test_a_providers_own_address_still_needs_its_key() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        chat_model("openai:m", "https://api.openai.com/v1", {})


@pytest.mark.parametrize("key", ["sk 1", "sk-키", "sk\n1"])
def test_what_cannot_be_a_key_is_not_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY") as seen:
        chat_model("openai:m", environment={"OPENAI_API_KEY": key})
    assert key not in str(seen.value)


@pytest.mark.parametrize("make", [chat_model, embedder])
def test_a_missing_package_comes_with_the_command(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[google\]"'):
        make("google_genai:m", environment=KEY)


def test_naming_a_model_imports_no_client() -> None:
    code = (
        "import sys; from selfright.llm.providers import chat_model;"
        "[chat_model(n, 'http://127.0.0.1:9', {}) for n in ('openai:m', 'ollama:m', 'google_genai:m')];"
        "print(*{'openai', 'ollama', 'google', 'langchain_core', 'httpx'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


@pytest.mark.parametrize(("environment", "expected"), [({}, "Bearer none"), (KEY, "Bearer sk-1")])
def test_a_server_without_keys_gets_one_that_is_none(environment: dict[str, str], expected: str) -> None:
    with serving(Said(completion())) as server:
        asyncio.run(chat_model("openai:m", f"{server.url}/v1", environment).attempt(PLAIN, Mode.TEXT))
    assert server.requests[0].headers["authorization"] == expected


def test_the_address_may_be_in_the_providers_variable() -> None:
    with serving(Said(completion())) as server:
        backend = chat_model("openai:m", environment={"OPENAI_BASE_URL": f"{server.url}/v1"})
        assert asyncio.run(backend.attempt(PLAIN, Mode.TEXT)).text == "hello"
    assert backend.name == f"openai:m@{server.url}/v1"


def test_keys_and_prompts_take_no_way_through_a_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_GATEWAY", "http://127.0.0.1:9")
    monkeypatch.setenv("LANGSMITH_API_KEY", "ls-1")
    with serving(Said(completion())) as server:
        asyncio.run(chat_model("openai:gpt-5-pro", f"{server.url}/v1", KEY).attempt(PLAIN, Mode.TEXT))
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


# Embedders


def embeddings(asked: Asked) -> Said:
    texts = asked.body["input"]
    rows = [{"object": "embedding", "index": n, "embedding": [3.0, 4.0]} for n in range(len(texts))]
    return Said({"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}})


def test_an_openai_embedder_sends_text_and_reads_numbers() -> None:
    with serving(embeddings) as server:
        model = embedder("openai:local", f"{server.url}/v1", {})
        vectors = model.embed(["안녕", "hello"])
    assert np.allclose(vectors, [[0.6, 0.8], [0.6, 0.8]])
    assert model.dimension == 2
    assert server.requests[-1].path == "/v1/embeddings"
    assert server.requests[-1].body["input"] == ["안녕", "hello"]
    assert server.requests[-1].body["encoding_format"] == "float"


def test_the_dimension_of_a_known_model_needs_no_request() -> None:
    model = embedder("openai:text-embedding-3-small", environment=KEY)
    assert model.dimension == 1536
    assert model.name == "langchain:OpenAIEmbeddings:text-embedding-3-small"


def test_an_ollama_embedder() -> None:
    with serving(lambda asked: Said({"embeddings": [[1.0, 0.0]] * len(asked.body["input"])})) as server:
        model = embedder("ollama:nomic-embed-text", server.url, {})
        assert model.embed(["a"]).shape == (1, 2)
        for one in (model._embeddings, model._questions):  # else their sockets are left to chance
            one._client._client.close()
    assert server.requests[-1].path == "/api/embed"
    assert model.name == "langchain:OllamaEmbeddings:nomic-embed-text"


def test_a_gemini_embedder() -> None:
    def vectors(asked: Asked) -> Said:
        return Said({"embeddings": [{"values": [0.0, 2.0]}] * len(asked.body["requests"])})

    with serving(vectors) as server:
        model = embedder("google_genai:gemini-embedding-001", server.url, {})
        assert model.embed(["a"]).tolist() == [[0.0, 1.0]]
        for one in (model._embeddings, model._questions):
            one.client.close()
    assert server.requests[-1].path.endswith(":batchEmbedContents")
