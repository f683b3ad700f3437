"""Models by name: ``openai:gpt-4o-mini``, ``openai:NAME@http://host:8000/v1``, ``google_genai:…``, ``local:PATH``.

A client library is imported when its model is first asked, not before. Keys come from the provider's own variables and
from nowhere else; the libraries' own retries are off for chat, for ours know the turn's budget.
"""

import importlib.util
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from selfright.domain.errors import MissingExtra, SettingsError, UnknownName, UsageError
from selfright.llm.chat import LangChainBackend
from selfright.llm.clients import PerLoop
from selfright.llm.openai_chat import OpenAIBackend, connect
from selfright.llm.provider_table import (
    ALIASES,
    PROVIDERS,
    Provider,
    chat_settings,
    check_proxy,
    client_address,
    embedding_settings,
    is_loopback,
    model_address,
    ollama_address,
    split_name,
    trusted_certificates,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from openai import AsyncOpenAI

    from selfright.llm.embedders import LangChainEmbedder
    from selfright.llm.local.backend import LocalBackend

_LOCAL = "local"
_NO_KEY = "none"  # what a server without keys is told, for the client insists on one


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model's name in parts; as text it is again what was parsed, without a password in the address."""

    provider: str
    model: str
    base_url: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str, base_url: str | None = None) -> "ModelSpec":
        """Reads ``provider:model`` or ``provider:model@ADDRESS``; ``base_url`` gives the address apart.

        Raises ``UsageError`` for text of another form and ``UnknownName`` for an unknown provider.
        """
        provider, colon, rest = text.strip().partition(":")
        if not colon:
            raise UsageError(f"a model is named as provider:model (openai:gpt-4o-mini), but got '{provider}'")
        provider = ALIASES.get(provider, provider)
        if provider not in PROVIDERS:
            raise UnknownName("model provider", provider, PROVIDERS)
        if provider == _LOCAL and rest.strip():
            return cls(provider, rest.strip())  # a path may hold anything
        model, address = split_name(rest)
        if not model.strip():
            raise UsageError(f"'{provider}:' should be followed by the name of a model, as in openai:gpt-4o-mini")
        return cls(provider, model.strip(), model_address(address or base_url, provider))

    def __str__(self) -> str:
        where = f"@{public_address(self.base_url)}" if self.base_url else ""
        return f"{self.provider}:{self.model}{where}"


def chat_model(
    spec: ModelSpec | str,
    base_url: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> "LangChainBackend | OpenAIBackend | LocalBackend":
    """The model that ``spec`` names. Nothing is imported or connected yet; of a local file the header is read.

    Raises what ``ModelSpec.parse`` does, ``MissingExtra`` without the client library, ``SettingsError`` without a key
    that is needed, and ``NoModelFile`` or ``NotEnoughMemory`` for a local file that cannot be used.
    """
    access = _Access.of(spec, base_url, environment)
    if access.spec.provider == _LOCAL:
        from selfright.llm.local.backend import local_model

        return local_model(access.spec.model)
    if access.spec.provider == "azure" and not access.address:
        raise SettingsError(
            f"{access.spec} needs the address of your resource: set AZURE_OPENAI_ENDPOINT, or write "
            f"{access.spec}@https://NAME.openai.azure.com"
        )
    named = {"name": str(access.spec), "provider": access.provider, "key": access.variable}
    if not PROVIDERS[access.spec.provider].chat:
        is_home = access.spec.provider == "openai" and not access.spec.base_url

        def client() -> "AsyncOpenAI":
            where, own = client_address(access.address), {"trust_env": not access.direct}
            return connect(access.key or "", where, home=is_home, verify=trusted_certificates(), **own)

        return OpenAIBackend(
            access.spec.model, client, address=None if is_home else access.address, enough=None, **named
        )
    return LangChainBackend(PerLoop(lambda: access.make_client("chat", chat_settings), _close), **named)


def embedder(
    spec: ModelSpec | str, base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> "LangChainEmbedder":
    """The embedding model that ``spec`` names, under the name that the same model has when it is handed over.

    Raises what ``chat_model`` does. The client library is imported, and retries by itself, but for questions.
    """
    from selfright.llm.embedders import LangChainEmbedder

    access = _Access.of(spec, base_url, environment)
    provider = PROVIDERS[access.spec.provider]
    if not provider.embeddings:
        known = [name for name, one in PROVIDERS.items() if one.embeddings]
        raise UnknownName("provider of embedders", access.spec.provider, known)
    # A server of one's own may serve others.
    dimension = None if access.spec.base_url else provider.dimensions.get(access.spec.model)
    patient = access.make_client("embeddings", embedding_settings)
    hurried = access.make_client("embeddings", partial(embedding_settings, hurried=True))
    return LangChainEmbedder(patient, dimension=dimension, questions=hurried)


def public_address(address: str) -> str:
    """An address without user, password and query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True, slots=True)
class _Access:
    """A model, and the key that opens it; ``direct`` for one of this machine, which no proxy knows."""

    spec: ModelSpec
    address: str | None = field(repr=False)
    key: str | None = field(repr=False)
    direct: bool = False

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
        set_by = model_address(_first(provider.addresses, environment), spec.provider)
        spec = ModelSpec(spec.provider, spec.model, spec.base_url or set_by)
        if provider.home and not spec.base_url and "@" in spec.model:
            model, _, where = spec.model.rpartition("@")
            raise UsageError(f"'{where}' is no base URL: write {spec.provider}:{model}@http://127.0.0.1:8000/v1")
        key, address = _key(spec, provider, environment), spec.base_url or provider.home or None
        asked = address or (ollama_address(environment) if spec.provider == "ollama" else "")
        direct = bool(asked) and is_loopback(asked)
        if direct and not provider.direct:
            check_proxy(str(spec), asked)
        return cls(spec, address, key, direct)

    def make_client(self, what: str, settings: Callable[..., dict[str, Any]]) -> Any:
        """LangChain's model; ``what`` is ``chat`` or ``embeddings``."""
        provider = PROVIDERS[self.spec.provider]
        kind = getattr(importlib.import_module(provider.package), getattr(provider, what))
        return kind(**settings(self.spec.provider, self.spec.model, self.address, self.key, direct=self.direct))

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
        if (
            not provider.needs_key
            and spec.base_url
            and urlsplit(spec.base_url).hostname != urlsplit(provider.home).hostname
        ):
            return _NO_KEY
        raise SettingsError(
            f"{spec} needs a key: set {provider.keys[0]}, or give the base URL of a server that needs none"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise SettingsError(f"{provider.keys[0]} should be a key, but has blanks or letters that keys do not have")
    return key


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    return next((value for name in names if (value := environment.get(name, "").strip())), None)


async def _close(model: "BaseChatModel") -> None:
    """Closes the connections of a model that was made here, wherever its library keeps them."""
    holders: list[tuple[object, str]] = [(model, "aclose")]
    holders += [(getattr(model, name, None), "close") for name in ("_async_client", "root_async_client")]
    if type(model).__name__.startswith("ChatBedrock"):  # Amazon's clients, whose calls run on threads
        holders += [(getattr(model, name, None), "close") for name in ("client", "bedrock_client")]
    for holder, method in holders:
        closed = close() if (close := getattr(holder, method, None)) is not None else None
        if inspect.isawaitable(closed):
            await closed
