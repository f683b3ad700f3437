"""Delimiters around what others wrote, so that a model can tell data from orders."""

import hashlib


class PromptDelimiters:
    """Delimiters that nothing inside them can close: they carry a code made from everything they enclose."""

    def __init__(self, code: str) -> None:
        self._code = code

    @classmethod
    def around(cls, *texts: str) -> "PromptDelimiters":
        """Delimiters for ``texts``, which must be all that others wrote of a prompt."""
        content = "\0".join(texts)
        code = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        # The code cannot be known before the text is written, but an accident costs nothing to exclude.
        while code in content:
            code = hashlib.sha256(code.encode()).hexdigest()[:12]
        return cls(code)

    def wrap(self, name: str, text: str, **attributes: object) -> str:
        """``text`` between an opening and a closing mark; nothing for blank text."""
        if not text.strip():
            return ""
        shown = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items() if value)
        return f"<{name}-{self._code}{shown}>\n{text.strip()}\n</{name}-{self._code}>"


def _attribute(value: object) -> str:
    """A heading or address inside quotes: one line, nothing that ends the quotes or the tag."""
    return " ".join(str(value).split()).replace('"', "'").replace("<", "‹").replace(">", "›")[:200]
