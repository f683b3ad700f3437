"""A server that speaks as a provider of models does, word for word as a test tells it to."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.web_servers import running


@dataclass
class Said:
    """What the server answers: a body, or pieces of a stream; ``reset`` tears the connection down after them."""

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[str | bytes] | None = None
    reset: bool = False

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)


@dataclass
class Asked:
    """A request as it came."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class ModelServer:
    """``url`` without a path; ``requests`` in the order they came; ``connections`` that were opened.

    ``left`` is set once a client went away before it had heard everything.
    """

    url: str
    requests: list[Asked] = field(default_factory=list)
    connections: int = 0
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the only request."""
        (request,) = self.requests
        return request.body


@contextmanager
def serving(*replies: Said | Callable[[Asked], Said]) -> Iterator[ModelServer]:
    """A server that gives its replies in turn, and the last one for ever."""
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            server.connections += 1

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"]))
            asked = Asked(self.path, json.loads(text), {k.lower(): v for k, v in self.headers.items()})
            server.requests.append(asked)
            reply = left.pop(0) if len(left) > 1 else left[0]
            self.give(reply(asked) if callable(reply) else reply)

        def give(self, said: Said) -> None:
            kind = "application/json" if said.pieces is None else "text/event-stream"
            self.send_response(said.status)
            for name, value in {"content-type": kind, **said.headers}.items():
                self.send_header(name, value)
            if said.pieces is None:
                self.send_header("content-length", str(len(said.text.encode())))
                self.end_headers()
                self.wfile.write(said.text.encode())
            else:
                self.send_header("connection", "close")
                self.end_headers()
                for piece in said.pieces:
                    self.wfile.write(piece if isinstance(piece, bytes) else piece.encode())
                    self.wfile.flush()
                self.close_connection = True
            if said.reset:
                linger = struct.pack("ii", 1, 0)  # closing now sends a reset instead of a farewell
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            server.left.set()

    with Server(("127.0.0.1", 0), Handler) as listening:
        server = ModelServer(f"http://127.0.0.1:{listening.server_address[1]}")
        with running(listening):
            yield server


def completion(content: str | None = "hello", finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """An OpenAI chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def events(*deltas: Mapping[str, Any], finish: str | None = "stop", done: bool = True) -> list[str]:
    """An OpenAI stream: one event for each delta, the last word, the count of tokens."""
    base = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[dict[str, Any]] = [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]}
        for delta in deltas
    ]
    if finish:
        chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        chunks.append({**base, "choices": [], "usage": usage})
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"] * done


def refusal(status: int, message: str = "no", code: str | None = None, param: str | None = None) -> Said:
    """An OpenAI error."""
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return Said({"error": error}, status)
