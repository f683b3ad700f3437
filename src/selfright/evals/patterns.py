"""Regular expressions of a question set, searched for a bounded time: one may go on for years."""

from collections.abc import Sequence
from typing import Any

from selfright.domain.errors import InputError, MissingExtra

_PATIENCE_S = 5.0


def compile_pattern(pattern: str) -> Any:
    """The pattern, which ignores case. Raises ``ValueError`` for what is none, ``MissingExtra`` without the library."""
    try:
        import regex
    except ModuleNotFoundError:
        raise MissingExtra(
            "regex, which searches for the 'patterns' of questions,", 'pip install "selfright[eval]"'
        ) from None
    try:
        return regex.compile(pattern, regex.IGNORECASE)  # type: ignore[no-untyped-call]
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def is_any_in(patterns: Sequence[str], line: str) -> bool:
    """Whether one of the patterns is found in the line. Raises ``InputError`` if one takes more than 5 s."""
    try:
        return any(compile_pattern(pattern).search(line, timeout=_PATIENCE_S) for pattern in patterns)
    except TimeoutError:
        raise InputError(
            f"a text of {len(line):,} characters could not be searched for these 'patterns' of a question in "
            f"{_PATIENCE_S:g} s each; write them without a repeated part in a repeated part: {list(patterns)}"
        ) from None
