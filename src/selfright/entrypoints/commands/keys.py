"""``selfright keys``: add, list, revoke."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from selfright.entrypoints.commands.options import json_option, print_json, set_option, values_of

if TYPE_CHECKING:
    from selfright.entrypoints.server.keys import Keys


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
@set_option
@json_option
def add(
    user: str, collections: tuple[str, ...], admin: bool, note: str, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Create a key and print it. It cannot be shown again: only its hash is stored.

    A key with --collection searches that collection and may change its documents. Without, it searches everything and
    changes nothing, unless it is an admin key.
    """
    with _ring(assignments) as ring:
        key, token = ring.add(user, collections, admin=admin, note=note)
    if as_json:
        print_json({**asdict(key), "key": token})
    else:
        click.echo(token)
        click.echo(f"key {key.id} for user '{key.user}'; keep it now, it cannot be shown again", err=True)


@keys.command(name="list")
@set_option
@json_option
def list_(assignments: tuple[str, ...], as_json: bool) -> None:
    """List the keys: id, user, rights, whether revoked. The keys themselves are not stored."""
    with _ring(assignments) as ring:
        found = ring.listed()
    if as_json:
        print_json([asdict(key) for key in found])
        return
    for key in found:
        rights = "admin" if key.admin else ", ".join(key.collections) or "reads all"
        state = "revoked" if key.revoked else "valid"
        made = time.strftime("%Y-%m-%d", time.gmtime(key.created))
        click.echo("\t".join([key.id, key.user, rights, state, made, key.note]).rstrip())


@keys.command()
@click.argument("key_id", metavar="KEY_ID")
@set_option
def revoke(key_id: str, assignments: tuple[str, ...]) -> int:
    """Revoke the key KEY_ID ('selfright keys list' shows the ids); its next request is refused."""
    with _ring(assignments) as ring:
        revoked = ring.revoke(key_id)
    if revoked:
        click.echo(f"{key_id} revoked")
        return 0
    click.echo(f"selfright: no valid key '{key_id}'; see 'selfright keys list'", err=True)
    return 1


@contextmanager
def _ring(assignments: tuple[str, ...]) -> "Iterator[Keys]":
    from selfright.entrypoints.server.keys import open_keys
    from selfright.settings import load_settings

    ring = open_keys(load_settings(values_of(assignments)))
    try:
        yield ring
    finally:
        ring.close()
