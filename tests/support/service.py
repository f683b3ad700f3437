"""The service, run in this process on a free port of loopback or as a program of its own; and an index to serve."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from selfright import Selfright
from selfright.server.admission import Limits
from selfright.server.app import create_app
from selfright.server.keys import KeyRing
from selfright.server.running import listen, server_config
from selfright.server.service import Service

QUESTION = "How often is the lamp of the Dunmore lighthouse changed?"
DOCUMENTS = {
    "default": {
        "lighthouse.md": "# Lighthouse\n\n## Lamp\n\nThe lamp of the Dunmore lighthouse is changed every 90 days. "
        "The keeper signs the log after each change.\n\n## Fog horn\n\nThe fog horn sounds twice a minute.\n",
        "ko/등대.md": "# 등대\n\n## 등\n\n던모어 등대의 등은 90일마다 교체합니다.\n",
    },
    "ann": {"ann-diary.md": "# Diary of Ann\n\nAnn keeps a purple xylophone in the cellar of the mill.\n"},
    "bob": {"bob-diary.md": "# Diary of Bob\n\nBob keeps a golden theremin in the attic of the barn.\n"},
}
_START_S = 180.0  # a busy machine starts an interpreter slowly


def write_index(folder: Path) -> dict[str, Any]:
    """An index with three collections, ``ann``'s and ``bob``'s among them; gives the settings that open it."""
    shutil.copytree(_written(), folder / "index")
    return {"path": folder / "index", "embedder": "none", "home": folder / "home"}


@functools.cache
def _written() -> Path:
    """The index, made once in this process and copied from then on."""
    folder = Path(tempfile.mkdtemp(prefix="selfright-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with Selfright.open(folder / "index", embedder="none", home=folder / "home") as selfright:
        for collection, documents in DOCUMENTS.items():
            for name, text in documents.items():
                path = folder / "documents" / collection / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            selfright.add([folder / "documents" / collection], collection=collection)
    return folder / "index"


def http_client(url: str, key: str = "") -> httpx.Client:
    """A plain client, patient, past any proxy of the machine."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False)


@dataclass
class Running:
    """A service that listens at ``url``."""

    url: str
    service: Service
    server: uvicorn.Server

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(
    settings: Mapping[str, Any], limits: Limits | None = None, *, keyed: bool = False, keys: KeyRing | None = None
) -> Iterator[Running]:
    """A service in a thread of this process."""
    selfright = Selfright.open(**settings)
    ready = threading.Event()
    app = create_app(selfright, limits, keys, keyed=keyed, ready=ready.set)
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(server_config(app, limits or Limits()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert ready.wait(_START_S), "the service did not start"
        try:
            yield Running(f"http://127.0.0.1:{listening.getsockname()[1]}", app.state.service, server)
        finally:
            server.should_exit = True
            thread.join()


@dataclass
class Spawned:
    """``selfright serve`` as a process; ``said`` are the lines on its standard error so far."""

    url: str
    process: "subprocess.Popen[str]"
    said: list[str] = field(default_factory=list)
    reader: threading.Thread = field(default_factory=threading.Thread)

    def ended(self, seconds: float = 180.0) -> int:
        """The exit code, once it has ended and all was read."""
        code = self.process.wait(seconds)
        self.reader.join(seconds)
        return code


@contextmanager
def spawned(*arguments: object, environment: Mapping[str, str] | None = None) -> Iterator[Spawned]:
    """``selfright serve --port 0`` with these arguments, once it listens; killed in the end if it still runs."""
    variables = {**os.environ, **(environment or {})}
    Path(variables["SELFRIGHT_HOME"]).mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "selfright", "serve", "--port", "0", *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
        env=variables,
    )
    running = Spawned("", process)
    listening = threading.Event()
    running.reader = threading.Thread(target=_read, args=(running, listening), daemon=True)
    running.reader.start()
    try:
        assert listening.wait(_START_S), "\n".join(running.said)
        assert running.url, "\n".join(running.said)
        yield running
    finally:
        process.kill()
        process.wait()
        running.reader.join(10)
        if process.stderr is not None:
            process.stderr.close()


def _read(running: Spawned, listening: threading.Event) -> None:
    assert running.process.stderr is not None
    for line in running.process.stderr:
        running.said.append(line.rstrip())
        if not running.url and (found := re.search(r"listens on (http://\S+?);", line)):
            running.url = found[1]
            listening.set()
    listening.set()
