"""A language model that says what a test tells it to (port ``ChatModel``)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.chat import ChatReply, ChatRequest, OnText

Scripted = str | Mapping[str, Any] | ChatReply | Exception
"""A text, an object (as ``data``), a whole reply, or an error to raise."""


@dataclass
class ScriptedChat:
    """Gives its replies in the order of the calls and keeps the ``requests``; a function makes each from its request.

    A call more than there are replies fails the test. Plain text is told to ``on_text`` word by word.
    """

    replies: Iterable[Scripted] | Callable[[ChatRequest], Scripted] = ()
    requests: list[ChatRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._left = iter(list(self.replies) if isinstance(self.replies, Iterable) else [])

    @property
    def request(self) -> ChatRequest:
        """The only request there was."""
        (request,) = self.requests
        return request

    async def complete(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        self.requests.append(request)
        reply = self._next(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        if not isinstance(reply, str):
            return ChatReply("", data=reply)
        if on_text is not None:
            for word in reply.split(" "):
                on_text(word)
        return ChatReply(reply)

    def _next(self, request: ChatRequest) -> Scripted:
        if not isinstance(self.replies, Iterable):
            return self.replies(request)
        for reply in self._left:
            return reply
        raise AssertionError(f"call {len(self.requests)} ({request.job}) was not expected")
