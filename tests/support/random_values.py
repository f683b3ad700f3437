"""Values of any annotated type at random, and a form of them in which only the same of the same type is equal."""

import dataclasses
import random
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

FLOATS = (0.0, 1.0, 0.25, 1 / 3, 1e-300)
WORDS = ("", "d1", "한국어 문장", "a\nb\u2028", "🦉", '{"record": 1}', "\0")


def value_of(hint: Any, chance: random.Random, largest: int = 2**40) -> Any:  # noqa: PLR0911 - one a kind of annotation
    """A value of an annotation's type, parts and all; whole numbers go up to ``largest``."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return chance.choice(parts)
    if origin in (Union, UnionType, Annotated):
        return value_of(parts[0] if origin is Annotated else chance.choice(parts), chance, largest)
    if origin is tuple and parts[-1] is not Ellipsis:
        return tuple(value_of(part, chance, largest) for part in parts)
    if origin is not None and origin not in (tuple, frozenset):
        return {chance.choice(WORDS): value_of(parts[1], chance, largest) for _ in range(chance.randrange(3))}
    if origin is not None:
        return origin(value_of(parts[0], chance, largest) for _ in range(chance.randrange(4)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return chance.choice(list(hint))
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return hint(**{name: value_of(part, chance, largest) for name, part in get_type_hints(hint).items()})
    simple = {str: WORDS, float: FLOATS, int: (0, -1, largest), Any: WORDS, bool: (True, False), type(None): (None,)}
    return chance.choice(simple[hint])


def typed(value: Any, as_words: tuple[type[Enum], ...] = ()) -> Any:
    """The value with the type of every part: a named tuple equals a tuple, and a string enumeration a string.

    Members of ``as_words`` count as the words that they are.
    """
    if isinstance(value, dict):
        return {key: typed(part, as_words) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), [typed(getattr(value, field.name), as_words) for field in dataclasses.fields(value)]
    if isinstance(value, tuple | list):
        return type(value), [typed(part, as_words) for part in value]
    return (str, str(value)) if isinstance(value, as_words) else (type(value), value)
