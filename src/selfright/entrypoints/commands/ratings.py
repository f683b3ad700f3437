"""``selfright ratings``: what readers said of answers, as rows to calibrate with."""

import json
from pathlib import Path

import click

from selfright.entrypoints.commands.options import index_option, set_option, values_of


@click.group()
def ratings() -> None:
    """Use the ratings of answers from the page (helpful, not helpful)."""


@ratings.command()
@click.option("--user", metavar="ID", help="Only this user's ratings.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to FILE.")
@index_option
@set_option
def export(user: str | None, out: Path | None, index: str | None, assignments: tuple[str, ...]) -> None:
    """Write ratings as rows {"question", "passage", "label": 0|1} for 'selfright calibrate', one per line.

    Passages of helpful answers are labelled 1, those of unhelpful ones 0. Passages whose document has changed or is
    gone are left out, and counted.
    """
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        found = selfright.labelled(user)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found.rows)
    if out is not None:
        out.write_text(lines, encoding="utf-8")
    else:
        click.echo(lines, nl=False)
    helped = sum(row["label"] for row in found.rows)
    gone = f"; {found.left_out} left out, for they are no longer in the index" if found.left_out else ""
    said = f"{len(found.rows)} rows: {helped} that helped, {len(found.rows) - helped} that did not{gone}"
    click.echo(f"selfright: {said}", err=True)
