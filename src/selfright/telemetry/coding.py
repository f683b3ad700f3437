"""Values of a turn as JSON, and back: the domain's records and plain values, each again as the type it was.

What may come back is a closed list (``domain.records``), so a file can make nothing run. A passage that stands in many
hits, strips and attempts is written once: a shared record gets a number where it first stands, and later only that.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from selfright.domain import errors
from selfright.domain.errors import SelfrightError
from selfright.domain.passages import Document, Hit, Passage, Strip
from selfright.domain.records import FIELDS, RECORDS

SHARED: tuple[type, ...] = (Passage, Hit, Strip)
_DEEPEST = 60


class Packer:
    """Values → JSON. One for a whole file, so that what was written before is not written again."""

    def __init__(self, *, share: bool = True) -> None:
        self._share = share
        self._numbers: dict[object, int] = {}

    def pack(self, value: object) -> Any:
        """What ``json`` can write. Raises ``TypeError``, which names the type, for what is not on the list."""
        if value is None or (isinstance(value, bool | str | int) and not isinstance(value, Enum)):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if type(value) in FIELDS:
            return self._record(value)
        return self._collection(value)

    def _collection(self, value: object) -> Any:
        kind = type(value)
        if kind is tuple:
            return {"tuple": [self.pack(part) for part in value]}  # type: ignore[attr-defined]  # a tuple
        if kind is list:
            return [self.pack(part) for part in value]  # type: ignore[attr-defined]  # a list
        if kind is frozenset or kind is set:
            parts = sorted((self.pack(part) for part in value), key=json.dumps)  # type: ignore[attr-defined]  # a set
            return {kind.__name__: parts}
        if isinstance(value, Mapping):
            return {"map": [[self.pack(key), self.pack(part)] for key, part in value.items()]}
        raise TypeError(f"a turn holds records of the domain and plain values, but {kind.__qualname__} came")

    def _record(self, value: object) -> Any:
        kind = type(value)
        if isinstance(value, Enum):
            return {"enum": [kind.__name__, value.value]}
        shared = self._share and kind in SHARED
        if shared and (number := self._numbers.get(value)) is not None:
            return {"same": number}
        fields = {name: self.pack(getattr(value, name)) for name in FIELDS[kind]}
        if not shared:
            return {"record": [kind.__name__, fields]}
        number = self._numbers[value] = len(self._numbers)
        return {"record": [kind.__name__, fields, number]}


class Unpacker:
    """JSON → values, in the order in which they were written."""

    def __init__(self) -> None:
        self._shared: dict[int, object] = {}

    def unpack(self, packed: Any, depth: int = 0) -> Any:
        """The value again. Raises ``ValueError`` for anything that a ``Packer`` does not write."""
        if depth > _DEEPEST:
            raise ValueError("a recording is nested too deeply")
        if isinstance(packed, list):
            return [self.unpack(part, depth + 1) for part in packed]
        if not isinstance(packed, dict):
            return packed
        if len(packed) != 1:
            raise ValueError("a recording holds a value of no known form")
        ((form, content),) = packed.items()
        return self._value(form, content, depth + 1)

    def _value(self, form: str, content: Any, depth: int) -> Any:
        match form:
            case "same":
                return self._find_shared(content)
            case "float" if content in ("nan", "inf", "-inf"):
                return float(content)
            case "record":
                return self._record(content, depth)
            case "enum":
                return _class(content[0], Enum)(content[1])
            case "tuple" | "set" | "frozenset":
                parts = [self.unpack(part, depth) for part in content]
                return {"tuple": tuple, "set": set, "frozenset": frozenset}[form](parts)
            case "map":
                return {self.unpack(key, depth): self.unpack(part, depth) for key, part in content}
            case _:
                raise ValueError("a recording holds a value of no known form")

    def _find_shared(self, number: Any) -> object:
        if number not in self._shared:
            raise ValueError("a recording refers to a record that it does not hold")
        return self._shared[number]

    def _record(self, content: Any, depth: int) -> object:
        name, fields, *number = content
        kind = _class(name, object)
        if not isinstance(fields, dict) or not set(fields) <= set(FIELDS[kind]):
            raise ValueError("a recording holds a record with unknown fields")
        value: object = kind(**{field: self.unpack(part, depth) for field, part in fields.items()})
        if number:
            self._shared[number[0]] = value
        return value


def digest(value: object) -> str:
    """SHA-256 (hex, 32 digits of it) of a value, the same in every process. Raises ``TypeError`` as ``Packer`` does."""
    written = json.dumps(Packer(share=False).pack(value), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _class(name: object, of: type) -> type[Any]:
    found = RECORDS.get(name) if isinstance(name, str) else None
    if found is None or not issubclass(found, of) or (of is object and issubclass(found, Enum)) or found is Document:
        raise ValueError("a recording names a type that is not on the list")
    return found


_DETAILS = ("status", "retry_after", "called", "requests")
_LONGEST = 500


class RecordedError(Exception):
    """An error of another library, of which the recording has the name alone: its text may quote anything."""


def error_form(error: Exception) -> dict[str, Any]:
    """The class of the domain that an error is of, with its words and details; of all other errors just the name."""
    kind = next((base for base in type(error).__mro__ if vars(errors).get(base.__name__) is base), None)
    if kind is None:
        return {"name": type(error).__name__}
    details = {name: getattr(error, name) for name in _DETAILS if hasattr(error, name)}
    return {"name": kind.__name__, "message": str(error)[:_LONGEST], "details": details}


def error_of(form: Mapping[str, Any]) -> Exception:
    """The error again. Raises ``ValueError`` for what is no error's form."""
    match form:
        case {"name": str(name), "message": str(message), "details": {**details}}:
            kind = vars(errors).get(name)
            if not (isinstance(kind, type) and issubclass(kind, SelfrightError)):
                raise ValueError("a recording holds an error of no known kind")
            error: Exception = kind.__new__(kind, message)  # with the words it ended up with, whatever it is made of
            for detail in _DETAILS:
                if isinstance(value := details.get(detail), bool | int | float | None) and detail in details:
                    setattr(error, detail, value)
            return error
        case {"name": "NotImplementedError"}:  # what a model's library says of a mode that it cannot do
            return NotImplementedError()
        case {"name": str(name)} if name.isidentifier():
            return RecordedError(name)
    raise ValueError("a recording holds an error of no known form")
