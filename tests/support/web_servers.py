"""Servers on this machine that stand for the web: providers of results, pages, and hosts that mean no good."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """A reply: bytes, or pieces that are sent as they come (then the connection ends the body)."""

    body: bytes | str | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, data: Any, status: int = 200, **headers: str) -> "Answer":
        sent = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        return cls(json.dumps(data, ensure_ascii=False), status, sent)

    @classmethod
    def html(cls, body: str | bytes, **headers: str) -> "Answer":
        return cls(body, 200, {"Content-Type": "text/html; charset=utf-8", **headers})

    @classmethod
    def redirect(cls, location: str, status: int = 302) -> "Answer":
        return cls(b"", status, {"Location": location})


@dataclass
class Asked:
    """A request as it came; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebServer:
    """What listens at ``host:port``; ``asked`` has every request, ``connections`` counts what only knocked too."""

    host: str
    port: int
    scheme: str = "http"
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    sent: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [one.path for one in self.asked]


Handler = Callable[[Asked], Answer]


def site(pages: Mapping[str, Answer | Callable[[], Answer]]) -> Handler:
    """A site of these pages; everything else is missing, robots.txt too."""

    def handle(asked: Asked) -> Answer:
        page = pages.get(asked.path) or pages.get(asked.path.partition("?")[0]) or Answer("not here", 404)
        return page() if callable(page) else page

    return handle


def always(*answers: Answer) -> Handler:
    """Gives its answers in turn, and the last one for ever."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def serving(handler: Handler, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    class Talker(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            server.asked.append(asked)
            with suppress(OSError):
                self.give(handler(asked))

        do_GET = do_POST = answer  # noqa: N815 - the library's names

        def give(self, answer: Answer) -> None:
            self.close_connection = True
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if isinstance(body, bytes) and "Content-Length" not in answer.headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for piece in [body] if isinstance(body, bytes) else body:
                self.wfile.write(piece)
                self.wfile.flush()
                server.sent += len(piece)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

        def get_request(self) -> Any:
            server.connections += 1
            return super().get_request()

        def handle_error(self, *_: object) -> None:
            pass

    with Server((address, 0), Talker) as listening:
        if tls:
            listening.socket = tls.wrap_socket(listening.socket, server_side=True)
        host = f"[{address}]" if ":" in address else address
        server = WebServer(host, listening.server_address[1], "https" if tls else "http")
        with running(listening):
            yield server


@contextmanager
def running(listening: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listening.shutdown()
        thread.join()


ROWS = (
    ("https://example.org/valve", "Valve care", "The safety valve opens at two bar and is checked every year."),
    (
        "https://example.com/밸브",
        "밸브 <b>정비</b>",
        "안전 밸브는 2바에서 열리며 해마다 점검해야 합니다. 점검 뒤에는 기록을 남깁니다.",
    ),
)
"""Results that each provider below gives: address, title, excerpt."""


def tavily(rows: Iterable[tuple[str, str, str]] = ROWS) -> Answer:
    results = [
        {"url": url, "title": title, "content": text, "score": 0.9, "raw_content": None, "favicon": None}
        for url, title, text in rows
    ]
    reply = {"query": "q", "answer": None, "images": [], "results": results, "response_time": 0.5, "request_id": "1"}
    return Answer.json(reply)


def brave(rows: Iterable[tuple[str, str, str]] = ROWS) -> Answer:
    results = [
        {"type": "search_result", "title": title, "url": url, "description": text, "language": "en", "age": "1 day"}
        for url, title, text in rows
    ]
    query = {"original": "q", "more_results_available": False}
    reply: dict[str, Any] = {"type": "search", "query": query, "mixed": {"type": "mixed", "main": []}}
    return Answer.json({**reply, "web": {"type": "search", "results": results}} if results else reply)


def searxng(rows: Iterable[tuple[str, str, str]] = ROWS) -> Answer:
    results = [
        {
            "url": url, "title": title, "content": text, "engine": "e", "engines": ["e"], "score": 1.0,
            "category": "general",
        }
        for url, title, text in rows
    ]  # fmt: skip
    more: dict[str, Any] = {
        "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [],
    }  # fmt: skip
    return Answer.json({"query": "q", "number_of_results": 0, "results": results, **more})


def duckduckgo(rows: Iterable[tuple[str, str, str]] = ROWS) -> Answer:
    from html import escape
    from urllib.parse import quote

    items = "".join(
        '<div class="result results_links web-result"><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" '
        f'href="//duckduckgo.com/l/?uddg={quote(url, safe="")}&amp;rut=1">{escape(title)}</a></h2>'
        f'<a class="result__snippet" href="{escape(url)}">{escape(text)}</a></div></div>'
        for url, title, text in rows
    )
    nothing = '<div class="no-results">No results.</div>'
    return Answer.html(f'<html><body><div id="links" class="results">{items or nothing}</div></body></html>')
