"""``selfright mcp``."""

import asyncio
import importlib.util

import click

from selfright.entrypoints.commands.options import index_option, preset_option, set_option, values_of


@click.command()
@click.option("--http", is_flag=True, help="Serve over HTTP (at /mcp of 'selfright serve') instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --http.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="Port, with --http.")
@index_option
@preset_option
@set_option
def mcp(http: bool, host: str, port: int, index: str | None, preset: str | None, assignments: tuple[str, ...]) -> None:
    """Serve agents over the Model Context Protocol: the tools search, ask, ingest and explain."""
    from selfright.api import Selfright
    from selfright.domain.errors import MissingExtra

    needed = ("mcp", "fastapi", "uvicorn", "multipart", "prometheus_client")
    if not all(map(importlib.util.find_spec, needed)):
        raise MissingExtra("what MCP needs", 'pip install "selfright[mcp]"')
    values = values_of(assignments, index=index, preset=preset)
    if http:
        from selfright.entrypoints.server.running import serve

        serve(
            Selfright.open(**values), host, port, lambda url: click.echo(f"Selfright's MCP is at {url}/mcp", err=True)
        )
        return
    from selfright.entrypoints.server.stdio import run

    asyncio.run(run(Selfright.open(**values)))
