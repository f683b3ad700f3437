"""The MCP server over standard input and output: for the program that started it, as the user of this machine."""

from contextlib import suppress
from typing import TYPE_CHECKING

from selfright.domain.errors import IndexNotFound
from selfright.entrypoints.server.admission import TurnLimiter
from selfright.entrypoints.server.app import limits_of
from selfright.entrypoints.server.mcp import build
from selfright.entrypoints.server.metrics import Metrics
from selfright.entrypoints.server.service import Service

if TYPE_CHECKING:
    from selfright.api import Selfright


async def run(selfright: "Selfright") -> None:
    """Serves until the other side closes; closes the Selfright."""
    limits = limits_of(selfright.settings)
    limiter = TurnLimiter(limits)
    try:
        with suppress(IndexNotFound):
            await selfright.aprepare()
        await build(Service(selfright, limits, limiter, Metrics(limiter))).run_stdio_async()
    finally:
        await selfright.aclose()
