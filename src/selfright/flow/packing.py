"""A turn's state as bytes, and back: JSON by the state's own types, which brings back nothing else.

LangGraph's serializer takes ten times as long, and is not asked to name classes that a file may have made.
"""

import json
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from selfright.domain.turns import TurnCheckpoint
from selfright.flow.state import AgentState


def pack(checkpoint: TurnCheckpoint) -> TurnCheckpoint:
    """The checkpoint with bytes for values."""
    ended = {node: _packed(update) for node, update in checkpoint.ended.items()}
    return TurnCheckpoint(_packed(checkpoint.state), checkpoint.names, ended)


def unpack(checkpoint: TurnCheckpoint) -> TurnCheckpoint:
    """The checkpoint as it was. Raises ``ValueError`` for bytes that another version made, or nobody."""
    ended = {node: _unpacked(update) for node, update in checkpoint.ended.items()}
    return TurnCheckpoint(_unpacked(checkpoint.state), checkpoint.names, ended)


def _packed(values: Any) -> dict[str, bytes]:
    return {name: _bytes(_adapter(name), value) for name, value in values.items()}


def _unpacked(values: Any) -> dict[str, Any]:
    return {name: _adapter(name).validate_json(value) for name, value in values.items()}


def _bytes(adapter: TypeAdapter[Any], value: Any) -> bytes:
    try:
        return adapter.dump_json(value)
    except PydanticSerializationError:  # lone surrogates of a terminal
        return json.dumps(adapter.dump_python(value, mode="json"), ensure_ascii=False).encode("utf-8", "replace")


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    if name not in _kinds():
        raise ValueError(f"a turn's state has no '{name}'")
    return TypeAdapter(_kinds()[name])


@cache
def _kinds() -> dict[str, Any]:
    return get_type_hints(AgentState)
