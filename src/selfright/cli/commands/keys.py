"""``selfright keys``: add, list, revoke."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.options import json_option, say, set_option, tell, with_settings
from selfright.domain.errors import SelfrightError
from selfright.domain.routing import collection_name

if TYPE_CHECKING:
    from selfright.server.keys import Key, Keys


def on_keys(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hands a command the keys; they are closed when it is done."""

    @wraps(command)
    def run(values: dict[str, Any], *arguments: Any, **others: Any) -> Any:
        from selfright.server.keys import open_keys
        from selfright.settings import load_settings

        _tell_missing(values, others.get("collections", ()))
        with closing(open_keys(load_settings(values))) as ring:
            return command(ring, *arguments, **others)

    return with_settings(set_option)(run)


def _tell_missing(values: Mapping[str, Any], collections: tuple[str, ...]) -> None:
    """Names the collections that the index does not have: they may be made later, or be mistyped."""
    from selfright.api.selfright import Selfright

    if collections:
        with suppress(SelfrightError), Selfright.open(**values) as selfright:
            there = {collection.name for collection in selfright.collections()}
            for name in sorted(set(map(collection_name, collections)) - there):
                say(f"no document is in '{name}' yet; add with --collection")


@click.group()
def keys() -> None:
    """Manage the service's API keys: their users, rights and collections."""


@keys.command()
@click.option("--user", metavar="ID", required=True, help="User whose sessions, profile and traces the key opens.")
@click.option(
    "--collection", "collections", metavar="NAME", multiple=True, help="Opens only this collection; may be repeated."
)
@click.option("--admin", is_flag=True, help="Sees the metrics, and changes documents of all collections.")
@click.option("--note", default="", help="What it is for.")
@on_keys
@json_option
def add(ring: "Keys", user: str, collections: tuple[str, ...], admin: bool, note: str, as_json: bool) -> None:
    """Create a key and print it. It cannot be shown again: only its hash is stored.

    A key with --collection searches that collection and may change its documents. Without, it searches everything and
    changes nothing, unless it is an admin key.
    """
    key, token = ring.add(user, collections, admin=admin, note=note)
    tell({**asdict(key), "key": token}, [token], as_json=as_json)
    if not as_json:
        click.echo(f"key {key.id} for user '{key.user}'; keep it now, it cannot be shown again", err=True)


@keys.command(name="list")
@on_keys
@json_option
def list_(ring: "Keys", as_json: bool) -> None:
    """List the keys: id, user, rights, whether revoked. The keys themselves are not stored."""
    found = ring.list_keys()
    tell([asdict(key) for key in found], map(_line, found), as_json=as_json)
    if not found:
        say("there are no keys; make one with: selfright keys add --user NAME")


def _line(key: "Key") -> str:
    rights = "admin" if key.admin else ", ".join(key.collections) or "reads all"
    made = time.strftime("%Y-%m-%d", time.gmtime(key.created))
    return "\t".join([key.id, key.user, rights, "revoked" if key.revoked else "valid", made, key.note]).rstrip()


@keys.command()
@click.argument("key_id", metavar="KEY_ID")
@on_keys
def revoke(ring: "Keys", key_id: str) -> int:
    """Revoke the key KEY_ID ('selfright keys list' shows the ids); its next request is refused."""
    if ring.revoke(key_id):
        click.echo(f"{key_id} revoked")
        return 0
    say(f"no valid key '{key_id}'; see 'selfright keys list'")
    return 1
