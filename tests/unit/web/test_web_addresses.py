"""Which addresses are public, and what permissions open."""

import ipaddress
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import PageRefused, SettingsError
from selfright.web.addresses import Permissions, kind_of, target_of

PUBLIC = ["93.184.216.34", "8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1",
          "::ffff:8.8.8.8", "64:ff9b::808:808"]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses(text: str) -> None:
    assert kind_of(ipaddress.ip_address(text)) is None


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6), st.ip_addresses(v=4, network="10.0.0.0/7")))
def test_nothing_passes_that_python_calls_private(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    """The library's own table, an independent one, agrees wherever it says that an address is not global."""
    if isinstance(address, ipaddress.IPv6Address) and address in ipaddress.ip_network("64:ff9b::/96"):
        return
    if not address.is_global or address.is_multicast:
        assert kind_of(address) is not None


@given(st.ip_addresses(v=4))
def test_what_ipv6_wraps_is_judged_as_ipv4(address: ipaddress.IPv4Address) -> None:
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert kind_of(ipaddress.IPv6Address(prefix | int(address))) == kind_of(address)


def allows(entries: list[str], url: str, address: str) -> bool:
    permissions, target = Permissions.of(entries), target_of(url)
    try:
        permissions.check_name(target)
        permissions.check_address(target, ipaddress.ip_address(address))
    except PageRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("entries", "url", "address", "expected"),
    [
        ([], "https://example.org/", "93.184.216.34", True),
        ([], "https://example.org/", "10.0.0.1", False),
        ([], "https://example.org:8080/", "93.184.216.34", False),
        (["wiki.example"], "https://wiki.example/", "10.0.0.1", True),
        (["wiki.example"], "https://wiki.example:8080/", "10.0.0.1", False),
        (["wiki.example:8080"], "https://wiki.example:8080/", "10.0.0.1", True),
        (["wiki.example:8080"], "https://other.example:8080/", "10.0.0.1", False),
        (["wiki.example:8080"], "https://wiki.example/", "10.0.0.1", False),
        (["wiki.example"], "https://www.wiki.example/", "10.0.0.1", False),
        (["wiki"], "http://wiki/", "192.168.0.3", True),
        ([], "http://wiki/", "93.184.216.34", False),
        (["wiki.lan"], "http://wiki.lan/", "::ffff:10.1.2.3", True),
        (["[::1]:8080"], "http://[::1]:8080/", "::1", True),
        (["::1"], "http://[::1]/", "::1", True),
        (["127.0.0.1:9"], "http://127.0.0.1:9/", "127.0.0.1", True),
        # A name is not enough for what lies on the link or belongs to the cloud; the address itself is.
        (["wiki.example"], "http://wiki.example/", "169.254.169.254", False),
        (["wiki.example"], "http://wiki.example/", "fd00:ec2::254", False),
        (["wiki.example"], "http://wiki.example/", "0.0.0.0", False),
        (["169.254.169.254"], "http://169.254.169.254/", "169.254.169.254", True),
    ],
)
def test_permissions(entries: list[str], url: str, address: str, expected: bool) -> None:
    assert allows(entries, url, address) is expected


@pytest.mark.parametrize(
    ("url", "open_"),
    [("http://10.0.0.5:8080/a", True), ("http://10.0.0.5/", False), ("https://10.0.0.5/", False)],
)
def test_the_address_of_an_interface_opens_its_own_port_alone(url: str, open_: bool) -> None:
    permissions, target = Permissions.of_base("http://10.0.0.5:8080/search"), target_of(url)
    with nullcontext() if open_ else pytest.raises(PageRefused):
        permissions.check_name(target)


@pytest.mark.parametrize(
    "entry", ["http://wiki", "10.0.0.0/8", "a b", "wiki:port", "user@wiki", "*", "*.wiki", "wiki/x", "wiki?x"]
)
def test_an_entry_that_is_none(entry: str) -> None:
    with pytest.raises(SettingsError, match="web_allow"):
        Permissions.of([entry])
