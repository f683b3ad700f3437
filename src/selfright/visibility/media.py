"""Which conditional rules of a style sheet apply in a window of 1,280 pixels."""

from collections.abc import Sequence
from typing import Any

from selfright.visibility.lengths import WIDTH, commas, number, significant

_SURE, _UNSURE = ("layer",), ("supports", "container", "scope", "starting-style")


def condition(rule: Any) -> bool | None:
    """Whether the rules within surely apply; None when they do not."""
    if rule.lower_at_keyword == "media":
        return applies(rule.prelude)
    return True if rule.lower_at_keyword in _SURE else False if rule.lower_at_keyword in _UNSURE else None


def applies(media: Sequence[Any]) -> bool | None:
    """Whether media queries hold in a window: True, False where that is not known, None when they do not."""
    found = [_holds(query) for query in commas(media)]
    return True if True in found else False if False in found else None


def _holds(query: Sequence[Any]) -> bool | None:
    words = {token.lower_value for token in query if token.type == "ident"}
    if words & {"print", "speech"} and "not" not in words:
        return None
    widths = [token.content for token in query if token.type == "() block"]
    known = [_width_holds(significant(content)) for content in widths]
    if None in known or words - {"screen", "all", "and", "only"}:
        return False
    return True if all(known) else None


def _width_holds(content: Sequence[Any]) -> bool | None:
    if len(content) == 3 and content[1] == ":" and content[0].type == "ident":
        value = number(content[2])
        if value is not None and content[0].lower_value in ("min-width", "max-width"):
            return value <= WIDTH if content[0].lower_value == "min-width" else value >= WIDTH
    return None
