"""``selfright graph``."""

import click

from selfright.entrypoints.commands.options import json_option, print_json


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
