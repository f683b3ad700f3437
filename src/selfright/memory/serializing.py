"""The state of a running turn as bytes, and back: exactly the domain's types, and nothing that could run code.

LangGraph's own serializer gives lists where tuples went in, so a resumed turn could neither add to its histories nor
compare what it holds. Here every value comes back as the type it was. What may come back is a closed list, made of the
classes of the domain; a name that is not on it is an error, and nothing is imported on the say-so of a file.

An object that a state holds several times (a passage in its hit, in its strips and in the best attempt) is written
once. Both sides number objects in the order in which they are complete, which is the same while writing and reading.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import ormsgpack

from selfright.domain.records import FIELDS, RECORDS

TAG = "selfright-1"
"""What a checkpoint's bytes are marked with; it changes when they can no longer be read as before."""

_PLAIN = frozenset({"null", "bytes"})
_OBJECT, _SEEN, _ENUM, _TUPLE, _FROZENSET, _SET, _PACKED = range(1, 8)
_WRITING = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_REPLACE_SURROGATES
)


CLASSES = RECORDS
"""All that a checkpoint can hold besides plain values, tuples and sets."""


class TurnSerializer:
    """LangGraph's ``SerializerProtocol`` for the state of a turn."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The tag and the bytes. Raises ``TypeError`` for an object whose class is not on the list."""
        if obj is None:
            return "null", b""
        return ("bytes", obj) if isinstance(obj, bytes) else (TAG, _Writer().all_of(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value again. Raises ``ValueError`` for bytes that another version wrote, or that are damaged."""
        tag, payload = data
        if tag in _PLAIN:
            return payload if tag == "bytes" else None
        if tag != TAG:
            raise ValueError(f"a checkpoint marked {TAG!r} was expected, but this one is marked {tag!r}")
        try:
            return _Reader().read(payload)
        except ValueError as error:  # what ormsgpack raises, also for any error in an extension
            raise ValueError("a checkpoint cannot be read: it is damaged, or of another version") from error


class Packed:
    """What has been written of one turn already, so that a value that has not changed is not written anew.

    Tuples and the domain's records are never changed in place, so the same object means the same bytes.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}

    def value(self, value: Any) -> tuple[str, bytes]:
        """As ``TurnSerializer.dumps_typed``."""
        return (TAG, self._bytes(value)) if _lasts(value) else TurnSerializer().dumps_typed(value)

    def checkpoint(self, checkpoint: Mapping[str, Any]) -> tuple[str, bytes]:
        """A checkpoint of LangGraph's. What is no longer in it is forgotten here."""
        values = {name: self._in_place(value) for name, value in checkpoint["channel_values"].items()}
        used = {id(value) for value in checkpoint["channel_values"].values()}
        self._known = {key: kept for key, kept in self._known.items() if key in used}
        return TurnSerializer().dumps_typed({**checkpoint, "channel_values": values})

    def _in_place(self, value: Any) -> Any:
        return ormsgpack.Ext(_PACKED, self._bytes(value)) if _lasts(value) else value

    def _bytes(self, value: Any) -> bytes:
        held, payload = self._known.get(id(value), (None, b""))
        if held is not value:
            payload = _Writer().all_of(value)
            self._known[id(value)] = (value, payload)  # held, so that no other object can get its id
        return payload


def _lasts(value: Any) -> bool:
    return isinstance(value, tuple) or (type(value) in FIELDS and not isinstance(value, Enum))


class _Writer:
    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._refused = "a number beyond 64 bits"

    def all_of(self, value: Any) -> bytes:
        """The bytes of a whole value. Raises ``TypeError``, which names the type that cannot be written."""
        try:
            return self._written(value)
        except TypeError as error:  # from an extension, ormsgpack passes on no more than that there was one
            raise TypeError(
                f"the state of a turn holds records of the domain and plain values, but {self._refused} came; "
                "convert it where it is made"
            ) from error

    def _written(self, value: Any) -> bytes:
        return ormsgpack.packb(value, default=self._extension, option=_WRITING)

    def _extension(self, value: Any) -> Any:
        kind = type(value)
        if kind is tuple:
            return ormsgpack.Ext(_TUPLE, self._written(list(value)))
        if kind is frozenset or kind is set:
            return ormsgpack.Ext(_FROZENSET if kind is frozenset else _SET, self._written(list(value)))
        if isinstance(value, BaseException):  # what a node failed with; its words may quote a document
            return type(value).__name__
        if kind not in FIELDS or CLASSES.get(kind.__name__) is not kind:
            self._refused = f"{kind.__module__}.{kind.__qualname__}"
            raise TypeError(self._refused)
        if isinstance(value, Enum):
            return ormsgpack.Ext(_ENUM, self._written([kind.__name__, value.value]))
        return self._object(value, kind)

    def _object(self, value: Any, kind: type) -> Any:
        number = self._numbers.get(id(value))
        if number is not None:
            return ormsgpack.Ext(_SEEN, self._written(number))
        fields = {name: getattr(value, name) for name in FIELDS[kind]}
        payload = self._written([kind.__name__, fields])
        self._numbers[id(value)] = len(self._numbers)
        return ormsgpack.Ext(_OBJECT, payload)


class _Reader:
    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._kinds: dict[int, Callable[[Any], Any]] = {
            _OBJECT: self._object,
            _SEEN: self._objects.__getitem__,
            _ENUM: lambda read: _class(read[0], of=Enum)(read[1]),
            _TUPLE: tuple,
            _FROZENSET: frozenset,
            _SET: set,
        }

    def read(self, payload: bytes) -> Any:
        return ormsgpack.unpackb(payload, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS)

    def _extension(self, kind: int, payload: bytes) -> Any:
        return _Reader().read(payload) if kind == _PACKED else self._kinds[kind](self.read(payload))

    def _object(self, read: Any) -> Any:
        name, fields = read
        value = _class(name)(**fields)
        self._objects.append(value)
        return value


def _class(name: str, of: type = object) -> type[Any]:
    found = CLASSES.get(name)
    if found is None or not issubclass(found, of):
        raise ValueError("a checkpoint names a type that is not on the list")
    return found
