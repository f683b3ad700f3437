"""Selectors taken apart: their compounds, what is cheap to test of them, and where they are looked for."""

from collections.abc import Iterator
from typing import Any

from cssselect2.parser import CombinedSelector, CompoundSelector

_CHEAP = frozenset((
    "LocalNameSelector", "IDSelector", "ClassSelector", "AttributeSelector", "PseudoClassSelector",
    "FunctionalPseudoClassSelector", "NegationSelector", "MatchesAnySelector", "SpecificityAdjustmentSelector",
))  # fmt: skip
_COSTLY_CLASSES = ("lang", "disabled", "enabled")


def chain_of(tree: Any) -> Iterator[tuple[str, Any]]:
    """The compounds of a selector from left to right, each with the combinator before it."""
    links: list[tuple[str, Any]] = []
    while isinstance(tree, CombinedSelector):
        links.append((tree.combinator, tree.right))
        tree = tree.left
    return iter([("", tree), *reversed(links)])


def is_cheap(simple: Any) -> bool:
    """Whether testing it takes about one step, or one for each sibling."""
    if type(simple).__name__ not in _CHEAP:
        return False
    inner = [each.parsed_tree for each in getattr(simple, "selector_list", ())]
    return (
        not str(getattr(simple, "name", "")).endswith(_COSTLY_CLASSES)
        and not any(token.type == "ident" and token.value == "of" for token in getattr(simple, "arguments", ()))
        and all(isinstance(tree, CompoundSelector) and all(map(is_cheap, tree.simple_selectors)) for tree in inner)
    )


def key_of(compound: CompoundSelector) -> str:
    """Where a compound is looked for: by its id, a class, its tag, or among all elements."""
    for kind, attribute, sign in (
        ("IDSelector", "ident", "#"),
        ("ClassSelector", "class_name", "."),
        ("LocalNameSelector", "lower_local_name", ""),
    ):
        for simple in compound.simple_selectors:
            if type(simple).__name__ == kind:
                return f"{sign}{getattr(simple, attribute)}"
    return "*"
