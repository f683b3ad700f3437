"""One thing where several may be given."""

from collections.abc import Iterable
from pathlib import Path
from typing import overload


@overload
def several(given: str | Iterable[str]) -> tuple[str, ...]: ...
@overload
def several(given: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]: ...
def several(given: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]:
    """All of them as a tuple; a text or path alone is one thing, not its letters."""
    return (given,) if isinstance(given, str | Path) else tuple(given)
