"""``selfright serve`` and ``selfright mcp``."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from selfright.cli.commands.options import index_option, preset_option, say, set_option, with_settings

_NEEDED = ("fastapi", "uvicorn", "multipart", "prometheus_client", "sse_starlette")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@with_settings(
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free one."),
    click.option(
        "--workers",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        metavar="N",
        help="Number of processes; about one per core. Each admits its share of serve_turns and serve_queue.",
    ),
    index_option,
    preset_option,
    set_option,
)
def serve(values: dict[str, Any], paths: tuple[Path, ...], host: str, port: int, workers: int) -> None:
    """Serve the index over HTTP: the OpenAI API and one of its own. PATHS are added to the index first.

    Without API keys ('selfright keys add') it serves only this machine. Ctrl-C or SIGTERM stops it after the running
    turns have finished.
    """
    check_installed()
    from selfright.api.selfright import Selfright
    from selfright.server.running import serve as run
    from selfright.server.running import serve_by_workers

    tell_missing_keys(values, host)
    index_first(paths, values)
    if workers > 1:
        serve_by_workers(values, workers, host, port, _tell)
    else:
        run(Selfright.open(**values), host, port, _tell)


def index_first(paths: tuple[Path, ...], values: Mapping[str, Any]) -> None:
    """Adds files and folders to the index; tells of those that cannot be read, and where there is no index after all.

    That may be meant: the first upload makes one.
    """
    from selfright.api.selfright import Selfright
    from selfright.cli.progress import bar
    from selfright.domain.errors import IndexNotFound

    with Selfright.open(**values) as selfright:
        if paths:
            with bar("Indexing") as progress:
                report = selfright.add(paths, progress=progress)
            for path, why in report.failed:
                say(f"{path}: {why}")
        try:
            selfright.collections()
        except IndexNotFound as error:
            say(f"{error}, or send files to it; until then every question goes unanswered")


def tell_missing_keys(values: Mapping[str, Any], host: str) -> None:
    """Says that the service is open to this machine, and where keys were looked for.

    Raises ``SettingsError`` for a home folder that was named and is not there: mistyped, it would have no keys; and
    ``UsageError`` for a ``host`` that is open to others.
    """
    from selfright.domain.errors import SettingsError
    from selfright.server.keys import open_keys
    from selfright.server.running import check_keys
    from selfright.settings import default_home, load_settings

    settings = load_settings(values)
    if not (settings.database or settings.home == default_home() or settings.home.is_dir()):
        raise SettingsError(
            f"the home folder {settings.home} is not there, and no keys are; correct SELFRIGHT_HOME, or add a key, "
            "which makes it: selfright keys add"
        )
    with closing(open_keys(settings)) as keys:
        if check_keys(keys, host):
            return
    where = "the database" if settings.database else f"the home folder {settings.home}"
    say(f"there are no API keys in {where}; the service is open to everyone on this machine")


def check_installed() -> None:
    """Raises ``MissingExtra`` where the service's packages are not installed."""
    from selfright.domain.errors import MissingExtra

    MissingExtra.check("what the service needs", "server", *_NEEDED)


def _tell(url: str) -> None:
    click.echo(f"Selfright listens on {url}; clients of the OpenAI API take {url}/v1", err=True)


@click.command()
@with_settings(index_option, preset_option, set_option)
def mcp(values: dict[str, Any]) -> None:
    """Serve agents over the Model Context Protocol on stdio: the tools search, ask, ingest and explain.

    Over HTTP, 'selfright serve' has them at /mcp.
    """
    from selfright.api.selfright import Selfright
    from selfright.domain.errors import MissingExtra

    MissingExtra.check("what MCP needs", "mcp", "mcp", *_NEEDED)
    from selfright.server.mcp import serve_stdio

    asyncio.run(serve_stdio(Selfright.open(**values)))
