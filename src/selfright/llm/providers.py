"""Models by name: ``openai:gpt-4o-mini``, ``openai:NAME@http://host:8000/v1``, ``google_genai:…``, ``ollama:…``.

A client library is imported when its model is first asked, not before. Keys come from the provider's own variables and
from nowhere else; the libraries' own retries are off for chat, for ours know the turn's budget.
"""

import functools
import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from selfright.domain.errors import MissingExtra, SettingsError, UnknownName, UsageError
from selfright.llm.chat import Client, LangChainBackend
from selfright.llm.loops import PerLoop
from selfright.llm.openai_chat import OpenAIBackend

if TYPE_CHECKING:
    import ssl

    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from openai import AsyncOpenAI

    from selfright.llm.embedders import LangChainEmbedder

_TIMEOUT_S = 600.0  # the last resort: time-outs that count are set for each call, outside
_EMBEDDING_RETRIES = 5  # an index that is being built can wait
_OLLAMA_CONTEXT = 8_192  # tokens; Ollama's default is less, and it cuts longer prompts without a word
_NO_KEY = "none"  # what a server without keys is told, for the client insists on one
_DIMENSIONS = {"text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "text-embedding-ada-002": 1_536}


@dataclass(frozen=True, slots=True)
class Provider:
    """What is needed to reach a provider.

    ``keys``: variables that may hold its key, the usual one first; none when it needs no key. ``addresses``: variables
    that its users set its address with. ``home``: its own address, where a key is a must; empty when it has none.
    """

    package: str
    extra: str
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    home: str = ""


PROVIDERS = {
    "openai": Provider(
        package="langchain_openai",
        extra="openai",
        keys=("OPENAI_API_KEY",),
        addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        home="https://api.openai.com/v1",
    ),
    "google_genai": Provider(
        package="langchain_google_genai",
        extra="google",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        home="https://generativelanguage.googleapis.com",
    ),
    "ollama": Provider(package="langchain_ollama", extra="ollama"),
}


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model's name in parts; as text it is again what was parsed, without a password in the address."""

    provider: str
    model: str
    base_url: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str, base_url: str | None = None) -> "ModelSpec":
        """Reads ``provider:model`` or ``provider:model@http://host…``; ``base_url`` gives the address apart.

        Raises ``UsageError`` for text of another form and ``UnknownName`` for an unknown provider.
        """
        provider, colon, rest = text.strip().partition(":")
        if not colon:
            raise UsageError(f"a model is named as provider:model (openai:gpt-4o-mini), but got '{provider}'")
        if provider not in PROVIDERS:
            raise UnknownName("model provider", provider, PROVIDERS)
        model, at, address = rest.partition("@http")
        if not model.strip():
            raise UsageError(f"'{provider}:' should be followed by the name of a model, as in openai:gpt-4o-mini")
        return cls(provider, model.strip(), _address("http" + address if at else base_url))

    def __str__(self) -> str:
        where = f"@{public_address(self.base_url)}" if self.base_url else ""
        return f"{self.provider}:{self.model}{where}"


def chat_model(
    spec: ModelSpec | str, base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> LangChainBackend | OpenAIBackend:
    """The model that ``spec`` names. Nothing is imported or connected yet.

    Raises what ``ModelSpec.parse`` does, ``MissingExtra`` without the client library, and ``SettingsError`` without a
    key that is needed.
    """
    access = _Access.of(spec, base_url, environment)
    named = {"name": str(access.spec), "provider": access.provider, "key": access.variable}
    if access.spec.provider == "openai":
        return OpenAIBackend(access.spec.model, lambda: _openai(access), address=access.spec.base_url, **named)
    make: Callable[[], BaseChatModel] = lambda: _CHAT_MODELS[access.spec.provider](access)  # noqa: E731
    return LangChainBackend(PerLoop(lambda: Client(make()), lambda client: _closed(client.model)), **named)


def embedder(
    spec: ModelSpec | str, base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> "LangChainEmbedder":
    """The embedding model that ``spec`` names, under the name that the same model has when it is handed over.

    Raises what ``chat_model`` does. The client library is imported, and retries by itself.
    """
    from selfright.llm.embedders import LangChainEmbedder

    access = _Access.of(spec, base_url, environment)
    at_home = access.spec.provider == "openai" and not access.spec.base_url
    dimension = _DIMENSIONS.get(access.spec.model) if at_home else None  # a server of one's own may serve others
    return LangChainEmbedder(_EMBEDDINGS[access.spec.provider](access), dimension=dimension)


def public_address(address: str) -> str:
    """An address without user, password and query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True, slots=True)
class _Access:
    """A model, and the key that opens it."""

    spec: ModelSpec
    address: str | None = field(repr=False)
    key: str | None = field(repr=False)

    @classmethod
    def of(cls, spec: ModelSpec | str, base_url: str | None, environment: Mapping[str, str] | None) -> "_Access":
        spec = ModelSpec.parse(spec, base_url) if isinstance(spec, str) else spec
        environment = os.environ if environment is None else environment
        provider = PROVIDERS[spec.provider]
        if importlib.util.find_spec(provider.package) is None:
            raise MissingExtra(
                f"the client for {spec.provider} models ({provider.package.replace('_', '-')})",
                f'python -m pip install "selfright[{provider.extra}]"',
            )
        spec = ModelSpec(spec.provider, spec.model, spec.base_url or _address(_first(provider.addresses, environment)))
        return cls(spec, spec.base_url or provider.home or None, _key(spec, provider, environment))

    @property
    def provider(self) -> str:
        where = urlsplit(self.spec.base_url).netloc.rpartition("@")[2] if self.spec.base_url else ""
        return f"{self.spec.provider}@{where}" if where else self.spec.provider

    @property
    def variable(self) -> str:
        return next(iter(PROVIDERS[self.spec.provider].keys), "OLLAMA_API_KEY")


def _key(spec: ModelSpec, provider: Provider, environment: Mapping[str, str]) -> str | None:
    if not provider.keys:
        return None
    key = _first(provider.keys, environment)
    if key is None:
        if spec.base_url and urlsplit(spec.base_url).hostname != urlsplit(provider.home).hostname:
            return _NO_KEY
        raise SettingsError(
            f"{spec} needs a key: set {provider.keys[0]}, or give the base URL of a server that needs none"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise SettingsError(f"{provider.keys[0]} should be a key, but has blanks or letters that keys do not have")
    return key


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    return next((value for name in names if (value := environment.get(name, "").strip())), None)


def _address(text: str | None) -> str | None:
    """An address that can be asked; raises ``UsageError`` for anything else."""
    if text is None or not text.strip():
        return None
    try:
        parts = urlsplit(text.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("a base URL looks like http://127.0.0.1:8000/v1, but the one given does not")
    return text.strip()


@functools.cache
def _trusted() -> "ssl.SSLContext":
    """The certificates that are trusted: read once, for it takes a tenth of a second."""
    library: Any = importlib.import_module("httpx2" if importlib.util.find_spec("httpx2") else "httpx")
    context: ssl.SSLContext = library.create_ssl_context()
    return context


def _openai(access: _Access) -> "AsyncOpenAI":
    import openai

    client = openai.AsyncOpenAI(
        api_key=access.key,
        base_url=access.address,
        default_headers={"Authorization": f"Bearer {access.key}"},  # else a variable of the library's could replace it
        max_retries=0,
        timeout=_TIMEOUT_S,
        http_client=openai.DefaultAsyncHttpxClient(timeout=_TIMEOUT_S, verify=_trusted()),
    )
    if access.spec.base_url:  # an account at OpenAI, of variables that the library reads, is no business of others
        client.organization = client.project = None
    return client


def _google(access: _Access) -> "BaseChatModel":
    from langchain_google_genai import ChatGoogleGenerativeAI

    settings: dict[str, Any] = {
        "model": access.spec.model,
        "google_api_key": access.key,
        "base_url": access.address,
        "timeout": _TIMEOUT_S,
        "vertexai": False,
        "client_args": {"verify": _trusted()},
    }
    return ChatGoogleGenerativeAI(max_retries=1, **settings)  # 1 is "no retry": 0 would be its default of five


def _ollama(access: _Access) -> "BaseChatModel":
    from langchain_ollama import ChatOllama

    return ChatOllama(
        model=access.spec.model,
        base_url=access.address,
        num_ctx=_OLLAMA_CONTEXT,
        client_kwargs={"timeout": _TIMEOUT_S, "verify": _trusted()},
    )


def _openai_embeddings(access: _Access) -> "Embeddings":
    from langchain_openai import OpenAIEmbeddings

    settings: dict[str, Any] = {"model": access.spec.model, "api_key": access.key, "base_url": access.address}
    # Text as it is: to count its tokens, LangChain would download a vocabulary, and other servers want text anyway.
    return OpenAIEmbeddings(
        check_embedding_ctx_length=False,
        max_retries=_EMBEDDING_RETRIES,
        model_kwargs={"encoding_format": "float"},
        **settings,
    )


def _google_embeddings(access: _Access) -> "Embeddings":
    from langchain_google_genai import GoogleGenerativeAIEmbeddings

    settings: dict[str, Any] = {"model": access.spec.model, "google_api_key": access.key, "base_url": access.address}
    return GoogleGenerativeAIEmbeddings(vertexai=False, **settings)


def _ollama_embeddings(access: _Access) -> "Embeddings":
    from langchain_ollama import OllamaEmbeddings

    return OllamaEmbeddings(model=access.spec.model, base_url=access.address)


async def _closed(model: "BaseChatModel") -> None:
    """Closes the connections of a model that was made here, wherever its library keeps them."""
    for holder, method in ((model, "aclose"), (getattr(model, "_async_client", None), "close")):
        if (close := getattr(holder, method, None)) is not None:
            await close()


_CHAT_MODELS: dict[str, Callable[[_Access], "BaseChatModel"]] = {
    "google_genai": _google,
    "ollama": _ollama,
}
_EMBEDDINGS: dict[str, Callable[[_Access], "Embeddings"]] = {
    "openai": _openai_embeddings,
    "google_genai": _google_embeddings,
    "ollama": _ollama_embeddings,
}
