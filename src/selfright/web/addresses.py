"""Addresses of pages, read strictly, and which of them may be connected to: the public internet, and what is named."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin, urlsplit

from selfright.domain.errors import PageRefused, SettingsError

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
    try:
        host = ipaddress.IPv6Address(match["six"]).compressed if match["six"] else _name(match["name"])
    except ipaddress.AddressValueError:
        raise PageRefused("an address in brackets is an IPv6 address, but this one is none") from None
    port = int(match["port"]) if match["port"] else PORTS[parts.scheme]
    path = quote(parts.path or "/", safe=_SAFE.replace("?", ""))
    return Target(parts.scheme, host, port, f"{path}?{quote(parts.query, safe=_SAFE)}" if parts.query else path)


def redirect(target: Target, location: str) -> Target:
    """Where a ``Location`` header leads. Raises ``PageRefused``."""
    if _AMBIGUOUS.search(location):
        raise PageRefused(f"{target.host} redirects to an address with blanks or invisible characters")
    try:
        return target_of(urljoin(target.url, location))
    except ValueError:
        raise PageRefused(f"{target.host} redirects to what is no address") from None


def _name(text: str) -> str:
    host = (text if text.isascii() else _ascii(text)).lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise PageRefused("a host is a name such as example.org, but this one is none")
    if not _NUMBER.fullmatch(labels[-1]):
        return host
    try:  # what else ``inet_aton`` understands is nothing a page has to be called
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


WEB_PORTS = frozenset((80, 443))

# From the IANA registries of special-purpose addresses (RFC 6890 and its successors), with what clouds put beside them.
_INSIDE = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"),
}
_NEVER = {
    "metadata": ("169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128",
                 "fd20:ce::254/128"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "unspecified": ("0.0.0.0/8", "::/128"),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": ("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
                 "203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
}  # fmt: skip
_SPECIAL = [(ipaddress.ip_network(net), kind) for table in (_NEVER, _INSIDE) for kind in table for net in table[kind]]
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Names that mean something else inside each network.
_LOCAL_NAME = re.compile(r"[^.]+|.+\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa|private)")


def kind_of(address: Address) -> str | None:
    """What kind of special address it is; None for an address of the public internet.

    IPv4 inside of IPv6 (mapped, NAT64) is looked at as IPv4; 6to4, Teredo and everything outside of global unicast is
    ``reserved`` unless it has a name of its own.
    """
    inner = unwrap(address)
    for network, kind in _SPECIAL:
        if inner.version == network.version and inner in network:
            return kind
    return "reserved" if inner.version == 6 and inner not in _UNICAST else None


def unwrap(address: Address) -> Address:
    """The IPv4 address that a mapped or NAT64 address stands for, else the address itself, without a zone."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    plain = ipaddress.IPv6Address(int(address))
    return ipaddress.IPv4Address(int(plain) & 0xFFFFFFFF) if plain in _NAT64 else plain


@dataclass(frozen=True, slots=True)
class Permissions:
    """What is allowed beyond public addresses on ports 80 and 443.

    ``names``: hosts that may also have private and loopback addresses, each with the ports it may be asked on.
    Link-local, metadata and reserved addresses are open only to a host written as that address: a name is not enough,
    since the owner of the name could point it there.
    """

    names: dict[str, frozenset[int]] = field(default_factory=dict)
    ports: frozenset[int] = WEB_PORTS

    @classmethod
    def of(cls, entries: Iterable[str]) -> "Permissions":
        """From ``host``, ``host:port``, ``10.1.2.3:8080`` or ``[::1]:8080``; ``SettingsError`` for anything else."""
        names: dict[str, frozenset[int]] = {}
        for entry in filter(None, map(str.strip, entries)):
            bracketed = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
            try:
                target = target_of(f"http://{bracketed}/")
            except PageRefused:
                target = None
            if target is None or target.path != "/":
                raise SettingsError(f"'{entry}' is no host or host:port; correct it in 'web_allow'")
            is_explicit = re.search(r":[0-9]+$", bracketed) is not None
            ports = frozenset((target.port,)) if is_explicit else WEB_PORTS
            names[target.host] = names.get(target.host, frozenset()) | ports
        return cls(names)

    @classmethod
    def of_base(cls, url: str) -> "Permissions":
        """For the interface at a base URL that somebody set: its host and port, and nothing else inside."""
        target = target_of(url)
        return cls({target.host: frozenset((target.port,))})

    def check_name(self, target: Target) -> None:
        """Raises ``PageRefused`` for a port or a name that is not to be asked at all."""
        if target.port not in self.names.get(target.host, self.ports):
            raise PageRefused(f"port {target.port} of {target.host} is not open; allow it by name:port")
        if target.host not in self.names and target.address is None and _LOCAL_NAME.fullmatch(target.host):
            raise PageRefused(f"{target.host} is a name inside a network; allow it by name if it is meant")

    def check_address(self, target: Target, address: Address) -> None:
        """Raises ``PageRefused`` for an address that ``target`` must not be connected to."""
        kind = kind_of(address)
        if kind is not None and not (target.host in self.names and (kind in _INSIDE or target.address == address)):
            raise PageRefused(f"{target.host} leads to a {kind} address; allow it by name if it is meant")
