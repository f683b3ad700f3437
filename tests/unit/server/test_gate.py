"""Hosts, origins and collections: what is let through, and what a caller may see."""

import pytest

from selfright.entrypoints.server.callers import Caller
from selfright.entrypoints.server.gate import host_name, is_here
from selfright.entrypoints.server.refusals import Refused


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
