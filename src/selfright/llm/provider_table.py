"""The providers whose models can be named: what is needed to reach each, and what its client library is told.

Keys come from each one's usual variables; the libraries' own retries are off for chat, for ours know the turn's budget.
"""

import functools
import importlib.util
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfright.llm.model_addresses import client_address

if TYPE_CHECKING:
    import ssl

TIMEOUT_S = 600.0  # the last resort: time-outs that count are set for each call, outside
_EMBEDDING_RETRIES = 5  # an index that is being built can wait
_OLLAMA_CONTEXT = 8_192  # tokens; Ollama's default is less, and it cuts longer prompts without a word
_AZURE_VERSION = "2024-10-21"  # the latest that is no preview


@dataclass(frozen=True, slots=True)
class Provider:
    """What is needed to reach a provider.

    ``chat``, ``embeddings``: the classes of ``package``, LangChain's for the provider, that make its models. ``keys``:
    variables that may hold its key, the usual one first; none when it needs no key. ``addresses``: variables that its
    users set its address with. ``home``: its own address, where a key is a must; empty when it has none. ``needs_key``:
    a key is a must at any address.
    """

    package: str
    extra: str
    chat: str = ""
    embeddings: str = ""
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    home: str = ""
    needs_key: bool = False


PROVIDERS = {
    "openai": Provider(
        package="langchain_openai",
        extra="openai",
        embeddings="OpenAIEmbeddings",
        keys=("OPENAI_API_KEY",),
        addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        home="https://api.openai.com/v1",
    ),
    "google_genai": Provider(
        package="langchain_google_genai",
        extra="google",
        chat="ChatGoogleGenerativeAI",
        embeddings="GoogleGenerativeAIEmbeddings",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        home="https://generativelanguage.googleapis.com",
    ),
    "ollama": Provider(package="langchain_ollama", extra="ollama", chat="ChatOllama", embeddings="OllamaEmbeddings"),
    "local": Provider(package="xllamacpp", extra="local"),
    "anthropic": Provider(
        package="langchain_anthropic",
        extra="anthropic",
        chat="ChatAnthropic",
        keys=("ANTHROPIC_API_KEY",),
        addresses=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"),
        home="https://api.anthropic.com",
    ),
    "azure": Provider(
        package="langchain_openai",
        extra="azure",
        chat="AzureChatOpenAI",
        keys=("AZURE_OPENAI_API_KEY",),
        addresses=("AZURE_OPENAI_ENDPOINT",),
        needs_key=True,
    ),
    "bedrock": Provider(package="langchain_aws", extra="bedrock", chat="ChatBedrockConverse"),
    "mistral": Provider(
        package="langchain_mistralai",
        extra="mistral",
        chat="ChatMistralAI",
        keys=("MISTRAL_API_KEY",),
        home="https://api.mistral.ai/v1",
    ),
}


ALIASES = {"gemini": "google_genai", "azure_openai": "azure", "mistralai": "mistral", "bedrock_converse": "bedrock"}
"""Other names of providers, as LangChain and their users have them."""

DIRECT = ("openai", "ollama", "google_genai", "local")
"""Providers whose clients can be told to use no proxy."""


@functools.cache
def trusted_certificates() -> "ssl.SSLContext":
    """The certificates that are trusted: read once, for it takes a tenth of a second."""
    library: Any = importlib.import_module("httpx2" if importlib.util.find_spec("httpx2") else "httpx")
    context: ssl.SSLContext = library.create_ssl_context()
    return context


def chat_settings(
    provider: str, model: str, address: str | None, key: str | None, *, direct: bool = False
) -> dict[str, Any]:
    """What the class of a provider's chat models is made with; ``direct`` is without the environment's proxies."""
    told: dict[str, Any] = {"model": model, "base_url": address}
    client = {"verify": trusted_certificates(), "trust_env": not direct}
    if provider == "google_genai":
        told |= {"google_api_key": key, "timeout": TIMEOUT_S, "vertexai": False, "client_args": client}
        return told | {"max_retries": 1}  # 1 is "no retry": 0 would be its default of five
    if provider == "ollama":
        return told | {"num_ctx": _OLLAMA_CONTEXT, "client_kwargs": {"timeout": TIMEOUT_S, **client}}
    if provider == "bedrock":
        return told | _amazons()
    told |= {"api_key": key, "timeout": TIMEOUT_S, "max_retries": 0}
    if provider == "mistral":
        return told | {"timeout": int(TIMEOUT_S), "max_retries": 1}  # attempts: in its library's count, 0 is no limit
    if provider == "azure":
        del told["base_url"]
        version = os.environ.get("OPENAI_API_VERSION", "").strip() or _AZURE_VERSION
        return told | {"azure_deployment": model, "azure_endpoint": address, "api_version": version}
    return told


def _amazons() -> dict[str, Any]:
    """Keys, profiles and roles are found by Amazon's own library, which knows where else they may be."""
    library: Any = importlib.import_module("botocore.config")
    told = {"config": library.Config(read_timeout=TIMEOUT_S, retries={"total_max_attempts": 1})}
    region = os.environ.get("AWS_REGION", "").strip() or os.environ.get("AWS_DEFAULT_REGION", "").strip()
    return {**told, "region_name": region} if region else told


def embedding_settings(
    provider: str, model: str, address: str | None, key: str | None, *, direct: bool = False
) -> dict[str, Any]:
    """What the class of a provider's embedding models is made with; ``direct`` as for chat."""
    told: dict[str, Any] = {"model": model, "base_url": address}
    if provider == "openai":
        # Text as it is: to count its tokens, LangChain would download a vocabulary, and other servers want text anyway.
        told |= {"check_embedding_ctx_length": False, "model_kwargs": {"encoding_format": "float"}}
        told |= {"base_url": client_address(address), "api_key": key, "max_retries": _EMBEDDING_RETRIES}
        return told | (_own_clients() if direct else {})
    if provider == "google_genai":
        told |= {"google_api_key": key, "vertexai": False}
        return told | ({"client_args": {"trust_env": False}} if direct else {})
    return told | ({"client_kwargs": {"trust_env": False}} if direct else {})


def _own_clients() -> dict[str, Any]:
    """OpenAI's clients without the environment's proxies; the one that is used is closed when it goes, as theirs is."""
    openai: Any = importlib.import_module("openai")
    closing = type("Client", (openai.DefaultHttpxClient,), {"__del__": lambda client: client.close()})
    kinds = {"http_client": closing, "http_async_client": openai.DefaultAsyncHttpxClient}
    clients = {name: kind(verify=trusted_certificates(), trust_env=False) for name, kind in kinds.items()}
    return {**clients, "openai_proxy": ""}
