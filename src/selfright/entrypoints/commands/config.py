"""``selfright config`` and ``selfright graph``."""

import dataclasses
from pathlib import Path

import click

from selfright.entrypoints.commands.options import json_option, print_json, set_option, values_of


@click.command()
@set_option
@json_option
def config(assignments: tuple[str, ...], as_json: bool) -> None:
    """Show the settings and flags in force: file, then environment, then options.

    Flags that are not set (the preset's or the defaults) follow a #.
    """
    from selfright.domain.flags import Flags
    from selfright.flow.presets import find_preset
    from selfright.settings import SETTING_NAMES, load_settings

    settings = load_settings(values_of(assignments))
    values = {name: getattr(settings, name) for name in SETTING_NAMES}
    values["database"] = settings.shown_database
    values["index"] = settings.shown_index
    said = settings.flags_said
    preset = find_preset(settings.preset)
    flags = dataclasses.asdict(Flags().with_values({**preset.flags, **said}).with_one_limit(said))
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
    if as_json:
        print_json({**plain, "flags": flags})
        return
    for name, value in plain.items():
        click.echo(f"{name} = {_toml(value)}")
    click.echo("\n[flags]")
    for name, value in flags.items():
        click.echo(f"{'' if name in said else '# '}{name} = {_toml(value)}")


def _toml(value: object) -> str:
    if value is None:
        return '""'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(one)}' for key, one in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


@click.command()
@click.option("--preset", metavar="NAME", help="Which graph to draw; without it, the presets are listed.")
@json_option
def graph(preset: str | None, as_json: bool) -> None:
    """Draw a preset as Mermaid text, from the compiled graph; or list the presets."""
    from selfright.api import mermaid
    from selfright.flow.presets import PRESETS

    if preset is not None:
        drawing = mermaid(preset)
        if as_json:
            print_json({"preset": preset, "mermaid": drawing})
        else:
            click.echo(drawing)
    elif as_json:
        print_json([{"preset": row.name, "summary": row.summary} for row in PRESETS.values()])
    else:
        width = max(map(len, PRESETS))
        for row in PRESETS.values():
            click.echo(f"{row.name:<{width}}  {row.summary}")
