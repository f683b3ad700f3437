"""Options and habits that commands share."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import reduce, wraps
from typing import Any, TypeVar

import click

from selfright.domain.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

index_option = click.option(
    "--index",
    "index",
    metavar="DIR",
    help="Folder of the index, or milvus://… or postgresql://… [default: $SELFRIGHT_INDEX, then .selfright/index].",
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on stdout, everything else on stderr.")
preset_option = click.option(
    "--preset", metavar="NAME", help="Which graph to run [default: full]; 'selfright graph' lists them."
)
collection_option = click.option(
    "--collection", "collections", metavar="NAME", multiple=True, help="Search only this collection; may be repeated."
)
set_option = click.option(
    "--set", "assignments", metavar="FLAG=VALUE", multiple=True, help="Set a flag or setting; may be repeated."
)

session_option = click.option("--session", metavar="ID", help="Keep the conversation under this name.")
user_option = click.option("--user", metavar="ID", help="Whose session and profile [default: local].")


def with_settings(*options: Callable[[F], F]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds options, and hands a command what they set, as ``Selfright.open`` takes it, before its other arguments."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, assignments: tuple[str, ...], **others: Any) -> Any:
            given = {name: others.pop(name) for name in ("index", "preset", "embedder") if name in others}
            return command(values_of(assignments, **given), *arguments, **others)

        return reduce(lambda made, option: option(made), reversed(options), run)

    return add_options


def opening(*options: Callable[[F], F]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds options, and hands a command the ``Selfright`` that they open; it is closed when the command is done."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(values: dict[str, Any], *arguments: Any, **others: Any) -> Any:
            from selfright.api.selfright import Selfright

            with Selfright.open(**values) as selfright:
                return command(selfright, *arguments, **others)

        return with_settings(*options)(run)

    return add_options


on_index = opening(index_option, set_option)


def values_of(assignments: tuple[str, ...], **given: object) -> dict[str, Any]:
    """``FLAG=VALUE`` pairs and the options that were really given, as one mapping."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set takes FLAG=VALUE, but got '{assignment}'; for example --set top_k=5")
        values[name.strip()] = value.strip()
    return {**values, **{name: value for name, value in given.items() if value is not None}}


def print_json(value: object) -> None:
    """One JSON document on stdout; Korean stays readable."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def tell(form: object, lines: Iterable[str], *, as_json: bool) -> None:
    """A result on stdout: its form as JSON, or the lines for people."""
    if as_json:
        print_json(form)
        return
    for line in lines:
        click.echo(line)


def say(message: str) -> None:
    """A remark on stderr."""
    click.echo(f"selfright: {message}", err=True)


def format_counts(counts: Mapping[str, int]) -> str:
    """Counts in one line."""
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())
