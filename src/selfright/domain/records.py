"""The domain's records as a closed list: what may be written to a file and read back, by name.

Nothing is imported on the say-so of a file; a name that is not on the list is an error.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType, ModuleType

from selfright.domain import answers, chat, judgements, node_outcomes, passages, routing, slots


def _is_record(value: type) -> bool:
    named_tuple = issubclass(value, tuple) and hasattr(value, "_fields")
    return dataclasses.is_dataclass(value) or issubclass(value, Enum) or named_tuple


def _records(modules: Iterable[ModuleType]) -> Mapping[str, type]:
    """The records and enumerations that these modules define, by name. Raises ``ValueError`` for a name used twice."""
    found: dict[str, type] = {}
    for module in modules:
        for name, value in vars(module).items():
            if not isinstance(value, type) or value.__module__ != module.__name__ or not _is_record(value):
                continue
            if name in found:
                raise ValueError(f"two records of the domain are called {name}; names in files must be unique")
            found[name] = value
    return MappingProxyType(found)


def _fields(value: type) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    return tuple(getattr(value, "_fields", ()))


RECORDS = _records((answers, chat, judgements, node_outcomes, passages, routing, slots))
"""Every record of a turn, by name."""

FIELDS: Mapping[type, tuple[str, ...]] = MappingProxyType({value: _fields(value) for value in RECORDS.values()})
"""The fields of each record, in order."""
