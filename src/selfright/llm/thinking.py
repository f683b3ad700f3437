"""Removes what a model thinks aloud: ``<think>…</think>`` and its like, also while the text still comes in pieces.

The tags count anywhere but inside a code fence, in capitals or not. What was opened and never closed was thinking to
its end. Some models are sent the opening tag with the prompt, and only the closing one is in their reply: ``spoken``
knows, a stream cannot, for by then the text has been heard.
"""

import re
from collections.abc import Iterator

_NAMES = ("think", "thinking", "reasoning")
_TAGS = tuple(f"<{slash}{name}>" for name in _NAMES for slash in ("", "/"))
_LONGEST = max(map(len, _TAGS))
_FENCE = "```"
_MARK = re.compile(rf"<(/?)({'|'.join(_NAMES)})>|{_FENCE}", re.IGNORECASE | re.ASCII)
_CLOSING = {name: re.compile(rf"</{name}>", re.IGNORECASE | re.ASCII) for name in _NAMES}


class ThinkingFilter:
    """Takes a reply piece by piece and gives back what may be shown. How it is cut into pieces changes nothing.

    White space at the beginning is left out, so that an answer does not begin with the gap behind the thinking.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._thinking = ""  # the name of the open tag
        self._fenced = False
        self._begun = False

    def feed(self, piece: str) -> str:
        """What can be shown now; up to a tag's length may be held back until it is clear what it is."""
        return self._visible("".join(part for part in self._parts(piece) if part))

    def end(self) -> str:
        """What was held back when the reply is over."""
        rest = "" if self._thinking else self._pending
        self._pending = ""
        return self._visible(rest)

    def _visible(self, text: str) -> str:
        shown = text if self._begun else text.lstrip()
        self._begun = self._begun or bool(shown)
        return shown

    def _parts(self, piece: str) -> Iterator[str | None]:
        """Text to show, and None where a tag closes that nobody opened."""
        text, at = self._pending + piece, 0
        while mark := (_CLOSING[self._thinking] if self._thinking else _MARK).search(text, at):
            if not self._thinking:
                yield from self._pass_over(text[at : mark.start()], mark)
            else:
                self._thinking = ""
            at = mark.end()
        held = _undecided_length(text, at)
        if not self._thinking:
            yield text[at:held]
        self._pending = text[held:]

    def _pass_over(self, before: str, mark: re.Match[str]) -> Iterator[str | None]:
        yield before
        if mark[0] == _FENCE:
            self._fenced = not self._fenced
            yield _FENCE
        elif self._fenced:
            yield mark[0]
        elif mark[1]:
            yield None
        else:
            self._thinking = mark[2].lower()

    def whole(self, text: str) -> list[str | None]:
        """All parts of a text that is complete, see ``_parts``. Only for a filter that was fed nothing."""
        return [*self._parts(text), "" if self._thinking else self._pending]


def strip_reasoning(text: str) -> str:
    """What a ``ThinkingFilter`` shows of the text, without what stands before a closing tag that has no opening one."""
    parts = ThinkingFilter().whole(text)
    after_last = len(parts) - parts[::-1].index(None) if None in parts else 0
    return "".join(part for part in parts[after_last:] if part).lstrip()


def _undecided_length(text: str, at: int) -> int:
    """Where the end of ``text`` may be the beginning of a tag or fence; its length when it cannot."""
    tag = text.rfind("<", max(at, len(text) - _LONGEST + 1))
    if tag >= 0 and any(name.startswith(text[tag:].lower()) for name in _TAGS):
        return tag
    ticks = 2 if text.endswith("``", at) else 1 if text.endswith("`", at) else 0
    return len(text) - ticks
