"""What was asked of the server: one request, for rules and tests to look at; and the last of all requests."""

import json
import re
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Form = Literal["json_schema", "json_object", "text"]
"""How an answer is asked for: a strict schema, any JSON object, or text."""


@dataclass
class Request:
    """One request. ``number`` counts from 1 in order of arrival.

    ``started`` and ``ended`` are monotonic seconds: when it was read, and when the last bytes of its answer went out.

    ``status`` is what was answered, None while nothing was or where the connection was broken instead; ``fault`` names
    the fault that was played. ``hung_up`` is true when the client had gone before its answer was complete.
    """

    number: int
    method: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    started: float = 0.0
    ended: float | None = None
    status: int | None = None
    fault: str = ""
    hung_up: bool = False

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        """Whether the answer is to come as server-sent events."""
        return self.body.get("stream") is True

    @property
    def include_usage(self) -> bool:
        """Whether a stream is to end with the token counts."""
        return bool(_mapping(self.body.get("stream_options")).get("include_usage"))

    @property
    def max_tokens(self) -> int | None:
        """The most tokens the answer may have, under either name of that parameter."""
        limit = self.body.get("max_completion_tokens") or self.body.get("max_tokens")
        return limit if isinstance(limit, int) and limit > 0 else None

    @cached_property
    def system(self) -> str:
        """All system and developer messages."""
        return self._said(("system", "developer"))

    @cached_property
    def user(self) -> str:
        """All user messages."""
        return self._said(("user",))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the object that is wanted."""
        return _mapping(self._format_schema.get("schema")) if self.form == "json_schema" else None

    @cached_property
    def form(self) -> Form:
        """How the answer is asked for."""
        kind = _mapping(self.body.get("response_format")).get("type")
        return kind if kind in ("json_schema", "json_object") else "text"

    @cached_property
    def job(self) -> str:
        """What the answer is for: the schema's title, else its name; empty for plain text."""
        schema = self.schema
        return "" if schema is None else str(schema.get("title") or self._format_schema.get("name", ""))

    @property
    def _format_schema(self) -> Mapping[str, Any]:
        return _mapping(_mapping(self.body.get("response_format")).get("json_schema"))

    def _said(self, roles: tuple[str, ...]) -> str:
        messages = self.body.get("messages")
        spoken = [_mapping(message) for message in messages] if isinstance(messages, list) else []
        return "\n\n".join(_text(message.get("content")) for message in spoken if message.get("role") in roles)


def read_object(body: bytes) -> dict[str, Any] | None:
    """The JSON object in ``body``, or None when it is anything else."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(content: Any) -> str:
    """A message's text, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(_mapping(part).get("text", "")) for part in parts)


CHAT = "/chat/completions"


class Log:
    """Written by the server's thread, read by any."""

    def __init__(self, keep: int) -> None:
        self._kept: deque[Request] = deque(maxlen=max(0, keep))
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forgets everything; requests are numbered from 1 again."""
        with self._lock:
            self._kept.clear()
            self.arrived = self.chats = self.under_way = self.most_at_once = 0

    def arrive(self, request: Request) -> None:
        """Notes a request as it comes, and gives it its number."""
        with self._lock:
            self.arrived += 1
            request.number = self.arrived
            self._kept.append(request)
            if _is_chat(request):
                self.chats += 1
                self.under_way += 1
                self.most_at_once = max(self.most_at_once, self.under_way)

    def leave(self, request: Request) -> None:
        """Notes that a request was done with."""
        with self._lock:
            if _is_chat(request):
                self.under_way = max(0, self.under_way - 1)

    def kept(self) -> list[Request]:
        """The last requests, in order of arrival."""
        with self._lock:
            return list(self._kept)

    def calls(self, job: str | None, user: str | None) -> list[Request]:
        """The chat completions among them: of this job, and with this expression in their user messages."""
        return [
            request
            for request in self.kept()
            if _is_chat(request) and job in (None, request.job) and (user is None or re.search(user, request.user))
        ]

    def rounds(self) -> int:
        """The longest chain of chat completions of which each began after the one before had ended."""
        spans = sorted((r.ended, r.started) for r in self.calls(None, None) if r.ended is not None)
        rounds, last_end = 0, float("-inf")
        for ended, started in spans:  # the earliest end first: the usual greedy choice
            if started >= last_end:
                rounds, last_end = rounds + 1, ended
        return rounds


def _is_chat(request: Request) -> bool:
    return request.path.endswith(CHAT)
