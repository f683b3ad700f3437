"""The style sheets of a page: their rules, as far as they bear on what is seen, and which of them an element has.

A rule is matched in one step an element, however long its selector is: what ancestors and siblings have matched of it
is carried along. Where only a script or another window could tell whether a rule applies, it may hide, never show.
Rules with ``:has()``, ``:lang()``, or combinators within ``:is()`` and ``:not()`` are left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from cssselect2.compiler import CompiledSelector
from cssselect2.parser import CombinedSelector, CompoundSelector, Selector, SelectorError
from cssselect2.parser import parse as parse_selectors
from tinycss2.parser import parse_blocks_contents, parse_stylesheet
from tinycss2.serializer import serialize
from tinycss2.tokenizer import parse_component_value_list

from selfright.hidden_text.hiding import PROPERTIES, Declared, hides
from selfright.hidden_text.validity import is_valid
from selfright.hidden_text.values import applies, commas, condition, significant, words

BROWSER = """
[hidden], [aria-hidden="true" i], dialog:not([open]), [popover], template, noembed, noframes, datalist, rp, meter,
progress { display: none !important }
.sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .d-none, .hidden { display: none }
"""
"""What browsers hide by themselves, and names by which the style sheets of many frameworks do."""

_MOST_RULES = 20_000
_MATCHED = 10  # times the cost of one that is only tried
_CHEAP = frozenset((
    "LocalNameSelector", "IDSelector", "ClassSelector", "AttributeSelector", "PseudoClassSelector",
    "FunctionalPseudoClassSelector", "NegationSelector", "MatchesAnySelector", "SpecificityAdjustmentSelector",
))  # fmt: skip
_COSTLY_CLASSES = ("lang", "disabled", "enabled")
_KEYS = (
    ("IDSelector", "ident", "#"),
    ("ClassSelector", "class_name", "."),
    ("LocalNameSelector", "lower_local_name", ""),
)


_Layer = tuple[float, ...]
"""The places of a cascade layer and those around it, in the order in which they are first named; at the end infinity,
for what stands in no layer comes after all."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Declarations of one importance, with what orders them among others, the last one winning."""

    order: tuple[bool, int, "_Layer", tuple[int, ...], int]
    declared: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    test: Any
    scans: bool  # whether testing looks at all siblings
    rules: tuple[Rule, ...]  # where it is the last of its selector


@dataclass(frozen=True, slots=True)
class _Within:
    """What stands around rules of a sheet."""

    selectors: tuple[str, ...]
    sure: bool
    origin: int
    layer: tuple[str, ...]


def _path(tokens: Sequence[Any]) -> tuple[str, ...]:
    """The name of a layer, ``outer.inner``."""
    return tuple(token.value for token in tokens if token.type == "ident")


class Node:
    """An element as cssselect2 sees one, with what it and those before and above it have matched, as bits."""

    in_html_document = True

    def __init__(
        self, element: Any, parent: "Node | None" = None, index: int = 0, siblings: Sequence[Any] = ()
    ) -> None:
        self.etree_element, self.parent, self.index = element, parent, index
        self.etree_siblings, self.etree_children = siblings or (element,), list(element)
        self.local_name = element.tag.lower() if isinstance(element.tag, str) else ""
        self.id, names = (element.get("id") or "").lower() or None, (element.get("class") or "").split()
        self.classes = frozenset((*names, *map(str.lower, names)))  # without a doctype, large letters do not count
        self.matched = self.above = 0
        self.last = self.children = 0  # what the child before has matched, and all children so far


class Styles:
    """All rules of a page. Raises ``ValueError`` for style sheets that are no reasonable page's."""

    def __init__(self, sheets: Sequence[tuple[str, str]]) -> None:
        self._parts: list[_Part] = []
        self._buckets: dict[str, list[int]] = {}
        self._layers: dict[tuple[str, ...], float] = {}
        self._first = 0
        self._after = {" ": 0, ">": 0, "+": 0, "~": 0}
        try:
            for origin, (media, text) in enumerate((("", BROWSER), *sheets)):
                holds = applies(parse_component_value_list(media))
                if holds is not None:
                    self._read(parse_stylesheet(text, True, True), _Within((), holds, min(origin, 1), ()))
        except RecursionError:
            raise ValueError("its styles are nested too deeply") from None

    def rules_of(self, node: Node) -> tuple[list[Rule], int]:
        """The rules of an element, in the order in which they hold, and how many were tried.

        It has to be asked of all elements in the order of the page.
        """
        tried, reach = 0, self._first
        if parent := node.parent:
            node.above = parent.above | parent.matched
            before = {" ": node.above, ">": parent.matched, "+": parent.last, "~": parent.children}
            for combinator, bits in before.items():
                reach |= (bits << 1) & self._after[combinator]
        found: list[Rule] = []
        for key in ("*", node.local_name, f"#{node.id}", *(f".{name}" for name in node.classes)):
            for bit in self._buckets.get(key, ()):
                part = self._parts[bit]
                tried += 1 + (len(node.etree_siblings) if part.scans else 0)
                if reach >> bit & 1 and part.test(node):
                    node.matched |= 1 << bit
                    found += part.rules
        if parent:
            parent.last, parent.children = node.matched, parent.children | node.matched
        return sorted(found, key=lambda rule: rule.order), tried + _MATCHED * len(found)

    def _read(self, nodes: Sequence[Any], within: _Within) -> None:
        for node in nodes:
            if node.type == "qualified-rule":
                own = [serialize(part).strip() for part in commas(node.prelude, with_blanks=True)]
                inside = replace(within, selectors=tuple(_nest(own, within.selectors)))
            elif node.type == "at-rule" and node.lower_at_keyword == "layer" and node.content is None:
                for part in commas(node.prelude):
                    self._rank(within.layer + _path(part))
                continue
            elif node.type == "at-rule" and node.content is not None and (is_sure := condition(node)) is not None:
                inside = replace(within, sure=within.sure and is_sure)
                if node.lower_at_keyword == "layer":
                    path = _path(significant(node.prelude)) or (
                        f" {len(self._layers)}",
                    )  # one without a name is its own
                    inside = replace(inside, layer=within.layer + path)
                    self._rank(inside.layer)
            else:
                continue
            content = parse_blocks_contents(node.content, True, True)
            self._add(content, inside)
            self._read(content, inside)

    def _rank(self, path: tuple[str, ...]) -> _Layer:
        for depth in range(1, len(path) + 1):
            self._layers.setdefault(path[:depth], len(self._layers))
        return (*(self._layers[path[:depth]] for depth in range(1, len(path) + 1)), math.inf)

    def _add(self, content: Sequence[Any], within: _Within) -> None:
        if not (kept := _declarations(content)):
            return
        if len(self._parts) + len(within.selectors) > _MOST_RULES:
            raise ValueError(f"it has more than {_MOST_RULES:,} style rules")
        for text in within.selectors:
            try:
                for selector in parse_selectors(text if "[" in text else text.lower()):
                    if selector.pseudo_element is None:
                        self._add_selector(selector, kept, within)
            except (SelectorError, NotImplementedError):  # browsers leave out what they do not know, too
                continue

    def _add_selector(self, selector: Any, declarations: Sequence[Any], within: _Within) -> None:
        chain: list[tuple[str, Any]] = []  # the compounds from left to right, each with the combinator before it
        tree = selector.parsed_tree
        while isinstance(tree, CombinedSelector):
            chain.insert(0, (tree.combinator, tree.right))
            tree = tree.left
        chain.insert(0, ("", tree))
        if not all(_is_cheap(simple) for _, compound in chain for simple in compound.simple_selectors):
            return
        tests = [CompiledSelector(Selector(compound)) for _, compound in chain]
        weight, place = tuple(selector.specificity), len(self._parts)
        rules = tuple(_rules(declarations, within.origin, weight, place, self._rank(within.layer), within.sure))
        if not rules or any(test.never_matches for test in tests):
            return
        for place, ((combinator, compound), test) in enumerate(zip(chain, tests, strict=True)):
            bit = len(self._parts)
            scans = "of-type" in repr(compound)
            self._parts.append(_Part(test.test, scans, rules if place == len(chain) - 1 else ()))
            self._buckets.setdefault(_key_of(compound), []).append(bit)
            if place:
                self._after[combinator] |= 1 << bit
            else:
                self._first |= 1 << bit


def _is_cheap(simple: Any) -> bool:
    """Whether testing it takes about one step, or one for each sibling."""
    if type(simple).__name__ not in _CHEAP:
        return False
    inner = [each.parsed_tree for each in getattr(simple, "selector_list", ())]
    return (
        not str(getattr(simple, "name", "")).endswith(_COSTLY_CLASSES)
        and not any(token.type == "ident" and token.value == "of" for token in getattr(simple, "arguments", ()))
        and all(isinstance(tree, CompoundSelector) and all(map(_is_cheap, tree.simple_selectors)) for tree in inner)
    )


def _key_of(compound: CompoundSelector) -> str:
    """Where a compound is looked for: by its id, a class, its tag, or among all elements."""
    of = {type(simple).__name__: simple for simple in reversed(compound.simple_selectors)}
    return next((f"{sign}{getattr(of[kind], name)}" for kind, name, sign in _KEYS if kind in of), "*")


styles_of = lru_cache(maxsize=16)(Styles)
"""The rules of some sheets, each with its media; those of pages that share them are read once."""


def declarations_of(style: str) -> list[Rule]:
    """The rules of an element's own attribute ``style``."""
    return list(_rules(_declarations(parse_blocks_contents(style, True, True)), 2, (), 0, (math.inf,), True))


def _declarations(content: Sequence[Any]) -> list[Any]:
    found = []
    for each in content:
        if each.type == "declaration" and not each.name.startswith("--"):
            plain = each.lower_name.removeprefix("-webkit-")  # browsers take these for the same
            each.lower_name = plain if plain in PROPERTIES else each.lower_name
            if each.lower_name in PROPERTIES and is_valid(each.lower_name, each.value):
                found.append(each)
        elif each.type == "declaration":
            found.append(each)
    return found


def _rules(
    declarations: Sequence[Any], origin: int, weight: tuple[int, ...], place: int, layer: "_Layer", sure: bool
) -> Iterator[Rule]:
    for important in (False, True):
        declared: Declared = {
            each.name if each.name.startswith("--") else each.lower_name: significant(each.value)
            for each in declarations
            if each.important == important
        }
        if declared and (sure or hides(declared) or words(declared.get("visibility", ())) & {"hidden", "collapse"}):
            rank = tuple(-n for n in layer) if important else layer  # the first layer's important rules win
            yield Rule((important, 9 if important and not origin else origin, rank, weight, place), declared)


def _nest(selectors: Sequence[str], parents: tuple[str, ...]) -> Iterator[str]:
    for count, selector in enumerate(selectors):
        if count * max(1, len(parents)) > _MOST_RULES:
            raise ValueError(f"it has more than {_MOST_RULES:,} style rules")
        for parent in parents or ("",):
            text = selector.replace("&", parent) if "&" in selector else f"{parent} {selector}"
            yield text[:2_000]
