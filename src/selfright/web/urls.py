"""Addresses of pages, read strictly: what two readers could understand differently is refused."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from selfright.domain.errors import PageRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_LENGTH = 2_000
PORTS = {"http": 80, "https": 443}

# Blanks, control and invisible characters, and the backslash that browsers take for a slash.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\\]")
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]@%/?#]+))(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SAFE = "/%:@!$&*+,;=-._~?"  # without quotes, brackets and angles, which would end a link in Markdown or HTML


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: ``host`` in ASCII and lower case (IPv6 without brackets), ``path`` with its query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def address(self) -> Address | None:
        """The host where it is an address and not a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Host and port as in a ``Host`` header; the scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address; safe to stand in a link of Markdown or HTML."""
        return self.origin + self.path


def target_of(url: str) -> Target:
    """The parts of an http(s) address. Raises ``PageRefused`` for anything else and for odd notations."""
    if len(url) > MAX_LENGTH:
        raise PageRefused(f"an address has at most {MAX_LENGTH:,} characters, but this one has {len(url):,}")
    if _AMBIGUOUS.search(url):
        raise PageRefused("an address has no blanks, backslashes or invisible characters, but this one has")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise PageRefused("expected an address such as https://example.org/page, but it cannot be read") from None
    if parts.scheme not in PORTS:
        raise PageRefused(f"only http and https are fetched, not '{parts.scheme[:20]}'")
    match = _AUTHORITY.fullmatch(parts.netloc)
    if match is None:
        raise PageRefused("an address has a host and perhaps a port, and no user, password, escapes or zone")
    host = _six(match["six"]) if match["six"] else _name(match["name"])
    port = int(match["port"]) if match["port"] else PORTS[parts.scheme]
    path = quote(parts.path or "/", safe=_SAFE.replace("?", ""))
    return Target(parts.scheme, host, port, f"{path}?{quote(parts.query, safe=_SAFE)}" if parts.query else path)


def redirected(target: Target, location: str) -> Target:
    """Where a ``Location`` header leads. Raises ``PageRefused``."""
    if _AMBIGUOUS.search(location):
        raise PageRefused(f"{target.host} redirects to an address with blanks or invisible characters")
    try:
        return target_of(urljoin(target.url, location))
    except ValueError:
        raise PageRefused(f"{target.host} redirects to what is no address") from None


def joined(base: str, path: str) -> str:
    """``base`` followed by ``path``, which may have a query; what the base already ends with is not repeated.

    ``joined("http://h/res/v1", "/res/v1/web/search?q=a") == "http://h/res/v1/web/search?q=a"``
    """
    base, (path, mark, query) = base.rstrip("/"), path.partition("?")
    steps = path.lstrip("/").split("/")
    root = base.find("/", base.find("//") + 2)
    have = base[root + 1 :].split("/") if root >= 0 else []
    shared = next((n for n in range(len(steps), 0, -1) if have[-n:] == steps[:n]), 0)
    return "/".join([base, *steps[shared:]]) + mark + query


def _six(text: str) -> str:
    try:
        return ipaddress.IPv6Address(text).compressed
    except ValueError:
        raise PageRefused("an address in brackets is an IPv6 address, but this one is none") from None


def _name(text: str) -> str:
    host = (text if text.isascii() else _ascii(text)).lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise PageRefused("a host is a name such as example.org, but this one is none")
    if _NUMBER.fullmatch(labels[-1]):
        return _four(host)
    return host


def _four(host: str) -> str:
    """Only four decimal numbers: what else ``inet_aton`` understands is nothing a page has to be called."""
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise PageRefused("an IPv4 address is four decimal numbers, and other notations are refused") from None


def _ascii(name: str) -> str:
    import idna

    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        return mapped if mapped.isascii() else idna.encode(mapped, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise PageRefused("the host's name is not a valid international name") from None
