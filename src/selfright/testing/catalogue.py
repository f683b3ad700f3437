"""The faults by name, for ``--fault``, rule files and tests; and rules from a TOML file, for the command line."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from selfright.domain.errors import SettingsError, UnknownName
from selfright.testing import content_faults as content
from selfright.testing import faults
from selfright.testing.damage import DAMAGES
from selfright.testing.faults import Fault, Status
from selfright.testing.rules import Damaged, Reply, Rule, When

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "400": Status(400, "the request was malformed", "invalid_request"),
        "401": Status(401, "the key is not known here", "invalid_api_key"),
        "403": Status(403, "the key may not use this model", "permission_denied"),
        "404": Status(404, "there is no such model", "model_not_found"),
        "408": Status(408, "the request took too long"),
        "429": Status(429, "too many requests", "rate_limit_exceeded", retry_after=1),
        "quota": Status(429, "the account has nothing left to spend", "insufficient_quota"),
        "500": Status(500, "something broke"),
        "502": Status(502, "the model behind could not be reached"),
        "503": Status(503, "overloaded, try again", retry_after=1),
        "stall": faults.Stall(),
        "stall-midway": faults.Stall(after=2),
        "slow": faults.Slow(),
        "reset": faults.Reset(),
        "reset-midway": faults.Reset(after=3),
        "truncated": faults.Truncated(),
        "empty-body": faults.EmptyBody(),
        "html": faults.NotJson(),
        "wrong-type": faults.WrongType(),
        "gzip": faults.GzipGarbage(),
        "error-inside": faults.ErrorInside(),
        "null": content.Says(None),
        "empty-text": content.Says(""),
        "blank": content.Says(" \n\t"),
        "refusal": content.Refuses(),
        "length": content.Cut(),
        "length-at-once": content.Says("", finish="length"),
        "content-filter": content.Says("", finish="content_filter"),
        "thinking": content.Thinks(),
        "only-thinking": content.Thinks(closed=False),
        "broken-piece": content.BrokenPiece(),
        "broken-text": content.BrokenText(),
        "no-done": content.NoDone(),
        "no-finish": content.NoFinish(),
        "no-choices": content.NoChoices(),
        "padded": content.Padded(),
        "repeated": content.Repeated(),
    }
)
"""Every fault with its usual parameters."""


def fault_named(name: str) -> Fault:
    """The fault of that name; raises ``UnknownName`` with the nearest one."""
    if name not in FAULTS:
        raise UnknownName("fault", name, FAULTS)
    return FAULTS[name]


_WHEN = ("job", "user", "system", "model", "form", "stream", "nth")
_REPLY = ("text", "json", "fault", "damage")
_RULE = (*_WHEN, *_REPLY, "of", "replies", "times")
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "job": str, "user": str, "system": str, "model": str, "form": str, "stream": bool, "nth": (int, list),
    "text": str, "json": dict, "fault": (str, dict), "damage": str, "of": dict, "replies": list, "times": int,
}  # fmt: skip


def read_rules(path: Path) -> list[Rule]:
    """The ``[[rule]]`` tables of a file in order. Raises ``SettingsError`` and ``UnknownName``."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot read the rules in {path}: {error}") from error
    return parsed_rules(content)


def parsed_rules(content: Mapping[str, Any]) -> list[Rule]:
    """The rules of a parsed file. Raises ``SettingsError`` and ``UnknownName``."""
    for name in content:
        if name != "rule":
            raise UnknownName("table of a rule file", name, ("rule",))
    tables = content.get("rule", [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        raise SettingsError("rules should be written as [[rule]] tables")
    return [_rule(table, place) for place, table in enumerate(tables, start=1)]


def _rule(table: Mapping[str, Any], place: int) -> Rule:
    _check(table, _RULE, place)
    conditions = {name: table[name] for name in _WHEN if name in table}
    try:
        when = When(**conditions)
        _ = when._user, when._system  # an expression that does not compile is told now, not at the first request
    except Exception as error:
        raise SettingsError(f"rule {place}: {error}") from error
    return Rule(when, _replies(table, place), table.get("times"))


def _replies(table: Mapping[str, Any], place: int) -> Reply | list[Reply]:
    if "replies" not in table:
        return _reply(table, place)
    if not table["replies"] or not all(isinstance(one, dict) for one in table["replies"]):
        raise SettingsError(f'rule {place}: replies should be a list of tables such as {{text = "…"}}')
    for one in table["replies"]:
        _check(one, (*_REPLY, "of"), place)
    return [_reply(one, place) for one in table["replies"]]


def _reply(table: Mapping[str, Any], place: int) -> Reply:
    given = [name for name in _REPLY if name in table]
    if len(given) != 1:
        raise SettingsError(
            f"rule {place} should have one of {', '.join(_REPLY)} or replies, but has {given or 'none'}"
        )
    value = table[given[0]]
    if given[0] == "fault":
        return _fault(value, place)
    if given[0] != "damage":
        return value  # type: ignore[no-any-return]  # checked to be a text or a table
    if value not in DAMAGES:
        raise UnknownName("damage", value, DAMAGES)
    return Damaged(value, table.get("of"))


def _fault(value: str | Mapping[str, Any], place: int) -> Reply:
    if isinstance(value, str):
        return fault_named(value)
    parameters = dict(value)
    fault = fault_named(str(parameters.pop("kind", "")))
    try:
        return replace(fault, **parameters)
    except TypeError as error:
        raise SettingsError(
            f"rule {place}: the fault '{value.get('kind')}' does not take {sorted(parameters)}"
        ) from error


def _check(table: Mapping[str, Any], valid: tuple[str, ...], place: int) -> None:
    for name, value in table.items():
        if name not in valid:
            raise UnknownName(f"key of rule {place}", name, valid)
        if not isinstance(value, _KINDS[name]):
            raise SettingsError(f"rule {place}: {name} = {value!r} has the wrong type")
