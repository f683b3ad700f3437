"""The providers whose models can be named: what is needed to reach each, and what its client library is told.

Keys come from each one's usual variables; the libraries' own retries are off for chat, for ours know the turn's budget.
"""

import functools
import importlib.util
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import TypeAdapter

from selfright.domain.errors import SettingsError, UsageError
from selfright.domain.tables import read_table
from selfright.llm.openai_chat import CONNECT_S, TIMEOUT_S

if TYPE_CHECKING:
    import ssl

_SCHEME = re.compile(r"https?:|[a-z][a-z0-9+.-]*:/", re.IGNORECASE)
_ADDRESS = re.compile(r"@(?=https?:)", re.IGNORECASE)
_HOST = re.compile(
    r"(?:\[[0-9a-f:.]+\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*))(?P<port>:\d+)?(?:/\S*)?", re.IGNORECASE
)
_WORD = re.compile(r"[^.:]+")
_IPV4 = re.compile(r"\d+(?:\.\d+){3}")
_PUBLIC_NAME = re.compile(r".+\.[a-z]{2,}", re.IGNORECASE)
_HOME_NAME = re.compile(r"[^.]+|.+\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)", re.IGNORECASE)

_ROOT = "/chat/completions"
_OLLAMA_PORT = 11_434


def split_name(text: str) -> tuple[str, str | None]:
    """``NAME@ADDRESS`` in two; a name may have an ``@`` of its own."""
    found = _ADDRESS.search(text)
    if found:
        return text[: found.start()], text[found.end() :]
    model, at, end = text.rpartition("@")
    return (model, end) if at and _is_host(end) else (text, None)


def model_address(text: str | None, provider: str) -> str | None:
    """The address as the provider's client expects it; None where none is given.

    An OpenAI-compatible server whose interface is at the root keeps ``/chat/completions`` here: ``client_address``
    takes it off. Raises ``UsageError`` for what is no address.
    """
    if text is None or not (text := text.strip()):
        return None
    parts = _parts(text if _SCHEME.match(text) else _with_scheme(text, provider))
    path = parts.path.rstrip("/")
    short = re.sub(PROVIDERS[provider].ends, "", path).rstrip("/") if PROVIDERS[provider].ends else path
    if provider == "azure":
        short += "/openai/v1"
    elif provider in ("openai", "mistral") and not short:
        short = _ROOT if short != path and provider == "openai" else "/v1"
    return parts._replace(path=short, query="" if provider == "azure" else parts.query, fragment="").geturl()


def client_address(address: str | None) -> str | None:
    """What a client of OpenAI's is told."""
    return address.replace(_ROOT, "/", 1) if address else address


def is_loopback(address: str) -> bool:
    """Whether it is this machine's own."""
    host = (urlsplit(address if "://" in address else f"http://{address}").hostname or "127.0.0.1").rstrip(".")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return found.is_loopback or found.is_unspecified


def ollama_address(environment: Mapping[str, str]) -> str:
    """Where Ollama's client looks when it is told nothing."""
    return environment.get("OLLAMA_HOST", "").strip() or "127.0.0.1"


def check_proxy(name: str, address: str) -> None:
    """Raises ``SettingsError`` if the environment sends what is for this machine through a proxy."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if (parts.scheme in (proxies := getproxies()) or "all" in proxies) and not proxy_bypass(host):
        raise SettingsError(f"{name} would be asked through a proxy, but is on this machine: set NO_PROXY={host}")


def _is_host(text: str) -> bool:
    found = _HOST.fullmatch(text)
    if found is None:
        return False
    name = found["name"]
    return not name or bool(
        found["port"] or name == "localhost" or _IPV4.fullmatch(name) or _PUBLIC_NAME.fullmatch(name)
    )


def _with_scheme(text: str, provider: str) -> str:
    """``http`` inside a network; of a public host nobody knows whether it may be asked without encryption."""
    parts = _parts(f"http://{text}")
    host = parts.hostname or ""
    if not _is_near(host):
        raise UsageError(f"a base URL begins with its scheme: write https://{text.rpartition('@')[2]}")
    if provider != "ollama" and parts.port is None and _WORD.fullmatch(host) and not is_loopback(host):
        raise UsageError(f"'{host}' is no base URL; for a host of that name write http://{host}:8000/v1, with its port")
    if provider == "ollama" and parts.port is None:
        parts = parts._replace(netloc=f"{parts.netloc}:{_OLLAMA_PORT}")
    return parts.geturl()


def _is_near(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return bool(_HOME_NAME.fullmatch(host))


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        valid = valid and not re.search(r"\s", text)
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("a base URL looks like http://127.0.0.1:8000/v1, but the one given does not")
    return parts


_EMBEDDING_RETRIES = 5  # an index that is being built can wait
_QUESTION_TIMEOUT = (2.5, 10.0, 2.5, 2.5)  # seconds for connect, read, write, pool; Ollama may have to load the model
_OLLAMA_CONTEXT = 8_192  # tokens; Ollama's default is less, and it cuts longer prompts without a word


@dataclass(frozen=True, slots=True)
class Provider:
    """What is needed to reach a provider.

    ``chat``, ``embeddings``: the classes of ``package``, LangChain's for the provider, that make its models; without
    ``chat`` it is asked as OpenAI is;
    ``dimensions`` of its embedders, as far as known. ``keys``: variables that may hold its key, the usual one first;
    none when it needs no key. ``addresses``: variables that its users set its address with. ``home``: its own address,
    where a key is a must; empty when it has none. ``needs_key``: a key is a must at any address. ``ends``: what an
    address may end in that the client adds by itself. ``direct``: the client can be told to use no proxy.
    ``aliases``: other names, as LangChain and their users have them.
    """

    package: str
    extra: str
    chat: str = ""
    embeddings: str = ""
    dimensions: Mapping[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    home: str = ""
    needs_key: bool = False
    ends: str = ""
    direct: bool = False
    aliases: tuple[str, ...] = ()


_TABLE = read_table(__package__, "providers")
PROVIDERS: Mapping[str, Provider] = TypeAdapter(dict[str, Provider]).validate_python(_TABLE)
ALIASES = {alias: name for name, provider in PROVIDERS.items() for alias in provider.aliases}


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
        timeout = (CONNECT_S, TIMEOUT_S, TIMEOUT_S, TIMEOUT_S)  # connect, read, write, pool
        return told | {"num_ctx": _OLLAMA_CONTEXT, "client_kwargs": {"timeout": timeout, **client}}
    if provider == "bedrock":
        library: Any = importlib.import_module("botocore.config")  # it finds keys, profiles and roles by itself
        told |= {"config": library.Config(read_timeout=TIMEOUT_S, retries={"total_max_attempts": 1})}
        region = os.environ.get("AWS_REGION", "").strip() or os.environ.get("AWS_DEFAULT_REGION", "").strip()
        return {**told, "region_name": region} if region else told
    return told | {"api_key": key, "timeout": TIMEOUT_S, "max_retries": 0}


def embedding_settings(
    provider: str, model: str, address: str | None, key: str | None, *, direct: bool = False, hurried: bool = False
) -> dict[str, Any]:
    """What the class of a provider's embedding models is made with; ``direct`` as for chat.

    ``hurried`` is for questions, which are searched for by words rather than waited with.
    """
    told: dict[str, Any] = {"model": model, "base_url": address}
    if provider == "openai":
        # Text as it is: to count its tokens, LangChain would download a vocabulary, and other servers want text anyway.
        told |= {"check_embedding_ctx_length": False, "model_kwargs": {"encoding_format": "float"}}
        told |= {"base_url": client_address(address), "api_key": key, "max_retries": _EMBEDDING_RETRIES}
        told |= {"max_retries": 0, "timeout": _QUESTION_TIMEOUT} if hurried else {}
        return told | (_own_clients() if direct else {})
    if provider == "google_genai":
        told |= {"google_api_key": key, "vertexai": False}
        return told | ({"client_args": {"trust_env": False}} if direct else {})
    client: dict[str, Any] = {"trust_env": False} if direct else {}
    client |= {"timeout": _QUESTION_TIMEOUT} if hurried else {}
    return told | ({"client_kwargs": client} if client else {})


def _own_clients() -> dict[str, Any]:
    """OpenAI's clients without the environment's proxies; the one that is used is closed when it goes, as theirs is."""
    openai: Any = importlib.import_module("openai")
    closing = type("Client", (openai.DefaultHttpxClient,), {"__del__": lambda client: client.close()})
    kinds = {"http_client": closing, "http_async_client": openai.DefaultAsyncHttpxClient}
    clients = {name: kind(verify=trusted_certificates(), trust_env=False) for name, kind in kinds.items()}
    return {**clients, "openai_proxy": ""}
