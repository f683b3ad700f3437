"""``selfright ui``: the service and the page over it, started and ended together."""

from pathlib import Path
from typing import Any

import click

from selfright.cli.commands.options import index_option, preset_option, set_option, with_settings
from selfright.cli.commands.serve import check_installed, index_first


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@with_settings(
    click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port of the page [default: a free one]."),
    click.option("--service", metavar="URL", help="Use a running service instead of starting one."),
    click.option(
        "--reports",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        metavar="DIR",
        help="Show the evaluations and ablations in this folder.",
    ),
    index_option,
    preset_option,
    set_option,
)
def ui(values: dict[str, Any], paths: tuple[Path, ...], port: int, service: str | None, reports: Path | None) -> None:
    """Open the web page for this machine: chat, documents, profile, reports. PATHS are added to the index first.

    Starts the service and the page on free ports of this machine, prints the page's address, and stops both on
    Ctrl-C or SIGTERM. If there are API keys, the page asks for one, or uses SELFRIGHT_API_KEY.
    """
    from selfright.domain.errors import MissingExtra, UsageError

    MissingExtra.check("what the page needs", "ui", "streamlit", "httpx")
    from selfright.cli.ui_process import HERE, PageProcess

    if service is not None:
        if paths or values:
            raise UsageError("--service takes a service as it runs: leave out PATHS, --index, --preset and --set")
        with PageProcess(port, reports, _tell) as page:
            page.serve(service)
        return
    check_installed()
    from selfright.api.selfright import Selfright
    from selfright.server.running import serve

    index_first(paths, values)
    with PageProcess(port, reports, _tell) as page:
        serve(Selfright.open(**values), HERE, 0, page.start)


def _tell(url: str) -> None:
    click.echo(f"Selfright's page is at {url}; Ctrl-C ends it", err=True)
