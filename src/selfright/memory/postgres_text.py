"""Text as PostgreSQL can hold it: it takes neither NUL nor lone surrogates."""

from typing import Any

_MARK, _NUL = "\x1a", "\0"


def encode(text: str) -> str:
    """The text without NUL, so that ``decode`` makes it whole again; lone surrogates become question marks."""
    if _MARK in text or _NUL in text:
        text = text.replace(_MARK, f"{_MARK}1").replace(_NUL, f"{_MARK}0")
    return text.encode("utf-8", "replace").decode()


def decode(text: str) -> str:
    """The text that ``encode`` was given."""
    return text.replace(f"{_MARK}0", _NUL).replace(f"{_MARK}1", _MARK) if _MARK in text else text


def encode_value(value: Any) -> Any:
    """``encode`` for all texts in a value of JSON, names included."""
    return _through(value, encode)


def decode_value(value: Any) -> Any:
    """``decode`` for all texts in a value of JSON."""
    return _through(value, decode)


def _through(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): _through(one, change) for name, one in value.items()}
    return [_through(one, change) for one in value] if isinstance(value, list | tuple) else value
