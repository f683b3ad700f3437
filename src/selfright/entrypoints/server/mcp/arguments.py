"""What is wrong with the arguments of a tool, said to an agent in a sentence: what was expected, and what came."""

from collections.abc import Mapping, Sequence
from typing import Any

_MOST_SHOWN = 40
_NOUNS = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def unknown(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """What is said of arguments that the tool does not take; None where there are none such."""
    known = schema.get("properties", {})
    return next(
        (f"'{name[:_MOST_SHOWN]}' is no argument of this tool; it takes {', '.join(known)}"
         for name in arguments if name not in known),
        None,
    )  # fmt: skip


def wrong(errors: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    """What is said of arguments that do not fit; ``errors`` are those of the check against the tool's ``schema``."""
    first = errors[0]
    name, *inner = first["loc"]
    place = f"entry {inner[0] + 1} of '{name}'" if inner and isinstance(inner[0], int) else f"'{name}'"
    wanted = schema.get("properties", {}).get(name, {})
    if inner and isinstance(inner[0], int):
        wanted = _not_null(wanted).get("items", {})
    came = "it is missing" if first["type"] == "missing" else f"{_came(first['input'])} came"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}: {_expected(wanted)} was expected, but {came}{more}"


def _not_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)


def _expected(schema: Mapping[str, Any]) -> str:
    one = _not_null(schema)
    kind = one.get("type")
    if kind == "array":
        return f"a list of at most {one['maxItems']:,}" if "maxItems" in one else "a list"
    low, high = (one.get("minLength"), one.get("maxLength")) if kind == "string" else _bounds(one)
    unit = " characters" if kind == "string" else ""
    noun = _NOUNS.get(str(kind), "something else")
    joint = "of" if kind == "string" else "from"
    if low is not None and high is not None:
        return f"{noun} {joint} {low:,} to {high:,}{unit}"
    if high is not None:
        return f"{noun} of at most {high:,}{unit}"
    return f"{noun} of at least {low:,}{unit}" if low is not None else noun


def _bounds(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    return schema.get("minimum"), schema.get("maximum")


def _came(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"a text of {len(value):,} characters" if len(value) > _MOST_SHOWN or not value else f"'{value}'"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,}"
    if isinstance(value, Mapping):
        return "an object"
    return str(value)[:_MOST_SHOWN]
