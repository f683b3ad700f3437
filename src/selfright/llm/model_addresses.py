"""Addresses of model servers as people write them: without a scheme or ``/v1``, or with the path of one request."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from selfright.domain.errors import SettingsError, UsageError

_SCHEME = re.compile(r"https?:|[a-z][a-z0-9+.-]*:/", re.IGNORECASE)
_ADDRESS = re.compile(r"@(?=https?:)", re.IGNORECASE)
_HOST = re.compile(
    r"(?:\[[0-9a-f:.]+\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*))(?P<port>:\d+)?(?:/\S*)?", re.IGNORECASE
)
_IPV4 = re.compile(r"\d+(?:\.\d+){3}")
_PUBLIC_NAME = re.compile(r".+\.[a-z]{2,}", re.IGNORECASE)
_HOME_NAME = re.compile(r"[^.]+|.+\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)", re.IGNORECASE)

# The ends of addresses that a provider's client adds by itself.
_ENDS = {
    "openai": re.compile(r"/(?:(?:chat/)?completions|embeddings|models|responses)$"),
    "mistral": re.compile(r"/(?:chat/completions|embeddings|models)$"),
    "ollama": re.compile(r"/(?:api|v1)(?:/(?:chat|generate|embed|embeddings|tags|chat/completions))?$"),
    "google_genai": re.compile(r"/v1(?:alpha|beta)?(?:/models)?$"),
    "anthropic": re.compile(r"/v1(?:/messages|/models)?$"),
    "azure": re.compile(r"/openai(?:/.*)?$"),
}
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
    ends, path = _ENDS.get(provider), parts.path.rstrip("/")
    short = ends.sub("", path).rstrip("/") if ends else path
    if provider in ("openai", "mistral") and not short:
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
    if not _is_near(parts.hostname or ""):
        raise UsageError(f"a base URL begins with its scheme: write https://{text.rpartition('@')[2]}")
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
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("a base URL looks like http://127.0.0.1:8000/v1, but the one given does not")
    return parts
