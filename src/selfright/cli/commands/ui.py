"""``selfright ui``: the service, and the page over it, which starts once the service listens and ends with it."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from selfright.cli.commands.options import index_option, preset_option, set_option, with_settings
from selfright.cli.commands.serve import check_installed, index_first
from selfright.domain.errors import MissingExtra, SelfrightError, UsageError
from selfright.processes import end


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
    MissingExtra.check("what the page needs", "ui", "streamlit", "httpx")

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


HERE = "127.0.0.1"
_MODULE = "selfright.ui"
_SERVICE, _REPORTS = "SELFRIGHT_UI_SERVICE", "SELFRIGHT_UI_REPORTS"  # as `ui.state` reads them
_READY_S = 180.0
_POLL_S = 0.1


class PageEnded(SelfrightError):
    """The page's process did not start, or ended by itself."""


class PageProcess:
    """A page on ``port`` of this machine, 0 for a free one; ``tell`` hears its address once it can be opened.

    Raises ``PageEnded`` where the port is taken, and at the end when the page has failed.
    """

    def __init__(self, port: int, reports: Path | None, tell: Callable[[str], None]) -> None:
        self._port, self._reports, self._tell = port or free_port(), reports, tell
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Event()
        self._failed = ""
        if port and _listens(port):
            raise PageEnded(f"port {port} of {HERE} is taken; choose another --port")

    def start(self, service: str) -> None:
        """Starts the page over a service; when it ends by itself, this process is told to end as by SIGTERM."""
        reports = {_REPORTS: str(self._reports.resolve())} if self._reports else {}
        self._process = subprocess.Popen(  # noqa: S603 - our own module, and a number
            [sys.executable, "-m", _MODULE, str(self._port)],
            stdin=subprocess.PIPE,  # that it closes when we are gone tells the page to end
            stdout=subprocess.DEVNULL,
            env={**os.environ, _SERVICE: service, **reports},
            start_new_session=True,  # Ctrl-C is for us: running turns are finished before the page goes
        )
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()

    def serve(self, service: str) -> None:
        """Starts the page over a service of somebody else's and waits for SIGINT or SIGTERM."""

        signals = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, lambda *_: self._ending.set()) for each in signals}
        try:
            self.start(service)
            while not self._ending.wait(_POLL_S):
                pass
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(quiet=error is not None)

    def end(self, *, quiet: bool = False) -> None:
        """Ends the page. Raises ``PageEnded`` where it had failed, unless there is another error to be told."""
        self._ending.set()
        if self._process is not None:
            end(self._process)
        if self._failed and not quiet:
            raise PageEnded(self._failed)

    def _watch(self, process: "subprocess.Popen[bytes]") -> None:
        if self._ready(process):
            self._tell(f"http://{HERE}:{self._port}")
        elif not self._ending.is_set() and process.poll() is None:
            self._failed = f"the page did not start within {_READY_S:.0f} s"
            process.kill()
        code = process.wait()
        if not self._ending.is_set():
            self._failed = self._failed or f"the page ended by itself (exit code {code}); what it said is above"
            os.kill(os.getpid(), signal.SIGTERM)

    def _ready(self, process: "subprocess.Popen[bytes]") -> bool:
        until = time.monotonic() + _READY_S
        while time.monotonic() < until and process.poll() is None and not self._ending.is_set():
            if _listens(self._port):
                return True
            time.sleep(_POLL_S)
        return False


def free_port() -> int:
    """A port of this machine that nobody has now."""
    with socket.create_server((HERE, 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def _listens(port: int) -> bool:
    with socket.socket() as trying:
        trying.settimeout(1.0)
        return trying.connect_ex((HERE, port)) == 0
