"""Hosts, origins and collections: what is let through, and what a caller may see."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from selfright.server.admission import RateLimit
from selfright.server.authentication import Authenticator, host_name, is_here
from selfright.server.errors import Refused
from selfright.server.keys import KeyRing
from selfright.server.service import LOCAL, Caller


@pytest.mark.parametrize(
    "host", ["localhost", "LocalHost:80", "127.0.0.1", "127.1.2.3:65535", "[::1]", "[::1]:1", "localhost."]
)
def test_this_machine_is_known_by_its_names(host: str) -> None:
    assert is_here(host)


@pytest.mark.parametrize(
    "host",
    ["", "example.org", "localhost.example.org", "127.0.0.1.example.org", "0.0.0.0", "10.0.0.1", "[::]", "::1", "[::1",
     "a b", "localhost:80:80", "localhost@example.org", "127.0.0.1/x", "localhost:999999"],
)  # fmt: skip
def test_other_names_are_not_this_machine(host: str) -> None:
    assert not is_here(host)


def test_the_name_in_a_host_header() -> None:
    assert host_name("Docs.Example.org:443") == "docs.example.org"
    assert host_name("x" * 10 + "\r\n") == ""


def authenticator(home: Path) -> Authenticator:
    return Authenticator(KeyRing(home), RateLimit(60, 60))


def request(peer: str | None, *headers: tuple[str, str], version: str = "1.1") -> dict[str, Any]:
    """A request from ``peer`` as the server passes it on, for this machine by its Host header."""
    sent = [("Host", "127.0.0.1:8000"), *headers]
    return {
        "type": "http",
        "http_version": version,
        "client": None if peer is None else (peer, 50_000),
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent],
    }


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_without_keys_this_machine_is_served(peer: str, tmp_path: Path) -> None:
    assert asyncio.run(authenticator(tmp_path).caller(request(peer))) == LOCAL


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.168.1.2", "::ffff:10.0.0.7", "fe80::1%eth0", "testclient", "", None])
def test_without_keys_no_other_machine_is_whatever_its_host_header_says(peer: str | None, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        asyncio.run(authenticator(tmp_path).caller(request(peer)))
    assert (caught.value.status_code, caught.value.code) == (403, "not_this_machine")


@pytest.mark.parametrize(
    "name",
    ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "x-forwarded", "X-Real-IP", "Via",
     "True-Client-IP", "CF-Connecting-IP", "CDN-Loop", "X-Original-Host",
     "X-Envoy-External-Address", "X-Amzn-Trace-Id"],
)  # fmt: skip
def test_without_keys_nobody_behind_a_proxy_is_served(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        asyncio.run(authenticator(tmp_path).caller(request("127.0.0.1", (name, ""))))
    assert caught.value.code == "not_this_machine"
    assert name.lower() in caught.value.detail


def test_http_1_0_is_what_proxies_speak_that_add_no_header(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        asyncio.run(authenticator(tmp_path).caller(request("127.0.0.1", version="1.0")))
    assert caught.value.code == "not_this_machine"


def test_with_a_key_a_proxy_may_stand_between(tmp_path: Path) -> None:
    at = authenticator(tmp_path)
    assert isinstance(at.keys, KeyRing)
    _, token = at.keys.add("ann")
    sent = request("10.0.0.7", ("X-Forwarded-For", "192.0.2.1"), ("Authorization", f"Bearer {token}"), version="1.0")
    assert asyncio.run(at.caller(sent)).user == "ann"
    at.keys.close()


THERE = ["ann", "bob", "shared"]


@pytest.mark.parametrize(
    ("mine", "wanted", "searched"),
    [
        ((), [], ()),
        ((), ["bob", "bob"], ("bob",)),
        (("ann",), [], ("ann",)),
        (("ann", "shared", "new"), [], ("ann", "shared")),
        (("ann", "shared"), ["shared"], ("shared",)),
    ],
    ids=["all", "named", "own", "own that exist", "one of own"],
)
def test_where_a_caller_searches(mine: tuple[str, ...], wanted: list[str], searched: tuple[str, ...]) -> None:
    assert Caller("k", "u", mine).within(wanted, THERE) == searched


@pytest.mark.parametrize(
    ("mine", "wanted"),
    [((), ["nothing"]), (("ann",), ["bob"]), (("ann",), ["ann", "bob"]), (("new",), []), (("new",), ["new"])],
    ids=["unknown", "others", "one of others", "none there", "not there"],
)  # fmt: skip
def test_where_a_caller_does_not(mine: tuple[str, ...], wanted: list[str]) -> None:
    with pytest.raises(Refused) as caught:
        Caller("k", "u", mine).within(wanted, THERE)
    assert caught.value.status_code == 404


def test_who_changes_what() -> None:
    assert Caller("k", "u", ("ann",)).changes("ann")
    assert not Caller("k", "u", ("ann",)).changes("bob")
    assert not Caller("k", "u").changes("ann")
    assert Caller("k", "u", (), True).changes("ann")
    assert not Caller("k", "u", ("ann",), True).changes("bob")
