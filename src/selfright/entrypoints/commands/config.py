"""``selfright config``."""

import dataclasses
from pathlib import Path

import click

from selfright.entrypoints.commands.options import json_option, print_json, set_option, values_of


@click.command()
@set_option
@json_option
def config(assignments: tuple[str, ...], as_json: bool) -> None:
    """Show the settings and flags in force: file, then environment, then options."""
    from selfright.settings import load_settings

    settings = load_settings(values_of(assignments))
    values = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings) if f.name != "flags"}
    values["database"] = settings.shown_database
    values["index"] = settings.shown_index
    flags = dataclasses.asdict(settings.flags)
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
    if as_json:
        print_json({**plain, "flags": flags})
        return
    for name, value in plain.items():
        click.echo(f"{name} = {_toml(value)}")
    click.echo("\n[flags]")
    for name, value in flags.items():
        click.echo(f"{name} = {_toml(value)}")


def _toml(value: object) -> str:
    if value is None:
        return '""'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(one)}' for key, one in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
