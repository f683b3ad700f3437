"""Keys: found by their secret alone, kept as a hash, ended for good."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from selfright.domain.errors import InputError, StoreError, UsageError
from selfright.memory.postgres import open_database
from selfright.server import keys
from selfright.server.keys import DatabaseKeys, KeyRing, Keys
from tests.support.postgres import PostgresServer

Opened = Callable[[], Keys]


@pytest.fixture(params=["file", "database"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens the same keys, as often as it is asked to."""
    if request.param == "file":
        return lambda: KeyRing(tmp_path)
    server: PostgresServer = request.getfixturevalue("postgres")
    uri = server.fresh_database()
    return lambda: DatabaseKeys(open_database(uri, 2))


def test_a_key_is_found_by_its_secret_alone(opened: Opened) -> None:
    ring = opened()
    key, token = ring.add("ana", ["letters", "letters"], note="laptop")
    other, _ = ring.add("root", admin=True)
    assert ring.find(token) == key
    assert key.collections == ("letters",)
    assert (other.admin, other.collections) == (True, ())
    near = [token[:-1], token + "x", token.replace(key.id, other.id), token.upper(), f" {token}"]
    for wrong in ("", "sr-", "sr-x-y", "sr-\0-x", *near):
        assert ring.find(wrong) is None
    ring.close()


def test_the_secret_is_in_no_file(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path)
    _, token = ring.add("ana")
    ring.close()
    secret = token.split("-", 2)[2].encode()
    assert all(secret not in path.read_bytes() for path in tmp_path.iterdir())
    assert stat.S_IMODE(os.stat(tmp_path / keys.FILE).st_mode) == 0o600


def test_a_revoked_key_is_over_also_for_a_ring_that_is_open(opened: Opened) -> None:
    ring, other = opened(), opened()
    assert not ring.any()
    key, token = other.add("ana")
    assert ring.any()
    assert ring.find(token) is not None
    assert other.revoke(key.id)
    assert not other.revoke(key.id)
    assert ring.find(token) is None
    assert ring.any()  # revoking the last one does not open the service
    assert ring.list_keys()[0].revoked is not None
    ring.close()
    other.close()


def test_a_ring_without_a_file_makes_none(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path)
    assert ring.find("sr-0-x") is None
    assert ring.list_keys() == []
    assert not ring.revoke("0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("user", "collections"), [("", []), ("x" * 201, []), ("ana", [""]), ("ana", ["c"] * 101)])
def test_names_are_bounded(user: str, collections: list[str], tmp_path: Path) -> None:
    with pytest.raises((UsageError, InputError)):
        KeyRing(tmp_path).add(user, collections)


def test_keys_are_bounded_and_revoked_ones_make_room(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "MOST_KEYS", 2)
    ring = opened()
    first, _ = ring.add("a")
    ring.add("b")
    with pytest.raises(InputError, match="revoke some first"):
        ring.add("c")
    ring.revoke(first.id)
    ring.add("c")
    assert [key.user for key in ring.list_keys()] == ["b", "c"]
    ring.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / keys.FILE).write_bytes(b"this is no database, but long enough to be looked at" * 50)
    ring = KeyRing(tmp_path)
    with pytest.raises(StoreError, match=keys.FILE):
        ring.find("sr-0-x")
    with pytest.raises(StoreError, match=keys.FILE):
        ring.any()


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / keys.FILE) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(StoreError, match="update it"):
        KeyRing(tmp_path).any()


def test_one_collection_is_one_name_and_not_its_letters(tmp_path: Path) -> None:
    with closing(KeyRing(tmp_path)) as ring:
        assert ring.add("ana", "letters")[0].collections == ("letters",)


def test_keys_that_were_in_use_and_are_gone_leave_the_service_closed(tmp_path: Path) -> None:
    first = KeyRing(tmp_path)
    assert not first.any()
    first.check_there()
    KeyRing(tmp_path).add("ana")
    assert first.any()  # now they are in use
    (tmp_path / keys.FILE).unlink()
    assert first.any()
    later = KeyRing(tmp_path)
    assert later.any()
    with pytest.raises(InputError, match="selfright keys add"):
        later.check_there()
    later.add("ana")
    later.check_there()
    (tmp_path / keys.FILE).unlink()
    (tmp_path / keys.USED).unlink()
    KeyRing(tmp_path).check_there()
    assert not KeyRing(tmp_path).any()
