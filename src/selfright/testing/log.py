"""What came: the last requests, and counts of all."""

import re
import threading
from collections import deque

from selfright.testing.requests import Request

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
