"""A hub of models on loopback: the little of its protocol that is needed to list a repository and download files."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """``folders`` are the repositories by name; ``asked`` are the requests as they came.

    Files whose paths are in ``broken`` are answered with 403, which is not tried again.
    """

    url: str
    folders: dict[str, Path]
    asked: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def downloads(self) -> list[str]:
        """The files whose content was asked for."""
        marks = [line.split(f"/resolve/{COMMIT}/") for line in self.asked if line.startswith("GET")]
        return sorted(parts[1] for parts in marks if len(parts) == 2)


@contextmanager
def serving_models(**folders: Path) -> Iterator[Hub]:
    """A hub with the repositories ``tester/<name>``, each at one commit, which is also its branch main."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # and HTTP/1.0: a connection that stays open would be answered after the end

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            hub.asked.append(f"{self.command} {path}")
            parts = path.strip("/").split("/")
            listing = parts[:2] == ["api", "models"]
            owner, name, *rest = parts[2:] if listing else parts
            folder = hub.folders.get(f"{owner}/{name}")
            if folder is None:
                return self.give(404, b"", {"X-Error-Code": "RepoNotFound"})
            if rest[1] not in ("main", COMMIT):
                return self.give(404, b"", {"X-Error-Code": "RevisionNotFound"})
            return self.list_keys(folder, name, rest[0]) if listing else self.file(folder, "/".join(rest[2:]))

        def list_keys(self, folder: Path, name: str, what: str) -> None:
            files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
            body: object = [
                {"type": "file", "path": file, "oid": COMMIT, "size": (folder / file).stat().st_size} for file in files
            ]
            if what != "tree":
                body = {"id": f"tester/{name}", "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}
            self.give(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

        def file(self, folder: Path, path: str) -> None:
            if path in hub.broken:
                return self.give(403, b"", {})
            if not (folder / path).is_file():
                return self.give(404, b"", {"X-Error-Code": "EntryNotFound"})
            content = (folder / path).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            return self.give(200, content, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})

        def give(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        hub = Hub(url, {f"tester/{name}": folder for name, folder in folders.items()})
        thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
