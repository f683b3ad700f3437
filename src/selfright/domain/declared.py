"""Values that people set by name: each is declared once, as a field of a dataclass with its type and bounds.

>>> top_k: Annotated[int, between(1, 200)] = 8  # doctest: +SKIP
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from selfright.domain.errors import SelfrightError, UnknownName

_TRUTH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}
_NOUNS = {int: "a whole number", float: "a number", str: "a name", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Bound:
    """What holds for a number, and the words for it, with which an error goes on after the number's name."""

    words: str
    holds: Callable[[float], bool]


def between(low: float, high: float) -> Bound:
    """``low`` and ``high`` included."""
    return Bound(f"must lie between {low} and {high}", lambda number: low <= number <= high)


def amount(noun: str) -> Bound:
    """Zero or more of ``noun``."""
    return Bound(f"is a number of {noun}, 0 for none", lambda number: number >= 0)


ABOVE_ZERO = Bound("must be more than 0", lambda number: number > 0)


@dataclass(frozen=True, slots=True)
class Declared:
    """The values of one class. ``noun`` is what they are called, ``refused`` the error for what cannot be one."""

    of: type
    noun: str
    refused: type[SelfrightError]

    @property
    def kinds(self) -> Mapping[str, Any]:
        """The type of each value by name, without bounds."""
        return _hints(self.of)[0]

    def check(self, values: object) -> None:
        """Raises for a number out of its bounds."""
        for name, bound in _hints(self.of)[1]:
            if not bound.holds(getattr(values, name)):
                raise self.refused(f"{self.noun} '{name}' {bound.words}, but is {getattr(values, name)}")

    def read(self, name: str, value: object) -> Any:
        """A choice, truth, number or text as it is declared, from itself or from text.

        Raises ``UnknownName`` for a choice that there is not, and ``refused`` for a value of another kind.
        """
        kind = self.kinds[name]
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                raise UnknownName(f"value of {self.noun} '{name}':", str(value), get_args(kind))
            return value
        read = _truth(value) if kind is bool else _plain(kind, value)
        if read is None:
            raise self.refused(f"{self.noun} '{name}' takes {_NOUNS[kind]}, but got {value!r}")
        return read


@cache
def _hints(of: type) -> tuple[dict[str, Any], tuple[tuple[str, Bound], ...]]:
    hints = get_type_hints(of, include_extras=True)
    annotated = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Annotated}
    kinds = {name: annotated[name][0] if name in annotated else hint for name, hint in hints.items()}
    return kinds, tuple((name, bound) for name, (_, *bounds) in annotated.items() for bound in bounds)


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower())


def _plain(kind: Any, value: object) -> object | None:
    accepted = {str: (str,), int: (str, int), float: (str, int, float)}[kind]
    if isinstance(value, bool) or not isinstance(value, accepted):
        return None
    try:
        return kind(value)  # type: ignore[no-any-return]  # one of the three
    except (ValueError, OverflowError):
        return None
