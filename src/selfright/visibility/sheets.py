"""The style sheets of a page: their rules, as far as they bear on what is seen, and which of them an element has.

A rule is matched in one step an element, however long its selector is: what ancestors and siblings have matched of it
is carried along. Where only a script or another window could tell whether a rule applies, it may hide, never show.
Rules with ``:has()``, ``:lang()``, or combinators within ``:is()`` and ``:not()`` are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cssselect2.compiler import CompiledSelector
from cssselect2.parser import Selector, SelectorError
from cssselect2.parser import parse as parse_selectors
from tinycss2.parser import parse_blocks_contents, parse_stylesheet
from tinycss2.serializer import serialize
from tinycss2.tokenizer import parse_component_value_list

from selfright.visibility.hiding import PROPERTIES, Declared, hides
from selfright.visibility.lengths import significant
from selfright.visibility.media import applies, condition
from selfright.visibility.selectors import chain_of, is_cheap, key_of

BROWSER = """
[hidden], [aria-hidden="true" i], dialog:not([open]), [popover], template, noembed, noframes, datalist, rp
{ display: none !important }
.sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .d-none, .hidden { display: none }
"""
"""What browsers hide by themselves, and names by which the style sheets of many frameworks do."""

_MOST_RULES = 20_000
_MATCHED = 10  # times the cost of one that is only tried


@dataclass(frozen=True, slots=True)
class Rule:
    """Declarations of one importance, with what orders them among others, the last one winning."""

    order: tuple[bool, int, tuple[int, ...], int]
    declared: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    test: Any
    scans: bool  # whether testing looks at all siblings
    rules: tuple[Rule, ...]  # where it is the last of its selector


@dataclass(slots=True)
class Node:
    """An element as cssselect2 sees one, with what it and those before and above it have matched, as bits."""

    etree_element: Any
    parent: "Node | None" = None
    index: int = 0
    etree_siblings: Sequence[Any] = ()
    matched: int = 0
    above: int = 0
    last: int = 0  # of the child before
    children: int = 0  # of all children so far
    child: int = 0  # the number of the next one
    in_html_document: bool = True
    local_name: str = ""
    id: str | None = None
    classes: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, element: Any, parent: "Node | None" = None, index: int = 0, siblings: Sequence[Any] = ()) -> "Node":
        """Reads the element."""
        name = element.tag.lower() if isinstance(element.tag, str) else ""
        node = cls(element, parent, index, siblings or (element,), local_name=name, id=element.get("id"))
        node.id, names = (node.id or "").lower() or None, (element.get("class") or "").split()
        node.classes = frozenset((*names, *map(str.lower, names)))  # without a doctype, large letters do not count
        return node

    @property
    def etree_children(self) -> list[Any]:
        """Its children."""
        return list(self.etree_element)


class Styles:
    """All rules of a page. Raises ``ValueError`` for style sheets that are no reasonable page's."""

    def __init__(self, sheets: Sequence[tuple[str, str]]) -> None:
        self._parts: list[_Part] = []
        self._buckets: dict[str, list[int]] = {}
        self._first = 0
        self._after = {" ": 0, ">": 0, "+": 0, "~": 0}
        try:
            for origin, (media, text) in enumerate((("", BROWSER), *sheets)):
                holds = applies(parse_component_value_list(media))
                if holds is not None:
                    self._read(parse_stylesheet(text, True, True), (), holds, min(origin, 1))
        except RecursionError:
            raise ValueError("its styles are nested too deeply") from None

    def rules_of(self, node: Node) -> tuple[list[Rule], int]:
        """The rules of an element, in the order in which they hold, and how many were tried.

        It has to be asked of all elements in the order of the page.
        """
        tried = 0
        above, last, children, ancestors = 0, 0, 0, 0
        if (parent := node.parent) is not None:
            above, last, children, ancestors = (
                parent.matched,
                parent.last,
                parent.children,
                parent.above | parent.matched,
            )
        reach = self._first | (ancestors << 1) & self._after[" "] | (above << 1) & self._after[">"]
        reach |= (last << 1) & self._after["+"] | (children << 1) & self._after["~"]
        found: list[Rule] = []
        for key in ("*", node.local_name, f"#{node.id}", *(f".{name}" for name in node.classes)):
            bits = self._buckets.get(key, ())
            tried += len(bits)
            for bit in bits:
                part = self._parts[bit]
                tried += len(node.etree_siblings) if part.scans else 0
                if reach >> bit & 1 and part.test(node):
                    node.matched |= 1 << bit
                    found += part.rules
        node.above = ancestors
        if parent is not None:
            parent.last, parent.children = node.matched, children | node.matched
        return sorted(found, key=lambda rule: rule.order), tried + _MATCHED * len(found)

    def _read(self, nodes: Sequence[Any], parents: tuple[str, ...], sure: bool, origin: int) -> None:
        for node in nodes:
            if node.type == "qualified-rule":
                selectors = tuple(_nest(_selectors(node.prelude), parents))
                content = parse_blocks_contents(node.content, True, True)
                self._add(selectors, [each for each in content if each.type == "declaration"], sure, origin)
                self._read(content, selectors, sure, origin)
            elif node.type == "at-rule" and node.content is not None:
                is_sure = condition(node)
                if is_sure is not None:
                    content = parse_blocks_contents(node.content, True, True)
                    own = [each for each in content if each.type == "declaration"]
                    self._add(parents, own, sure and is_sure, origin)
                    self._read(content, parents, sure and is_sure, origin)

    def _add(self, selectors: Sequence[str], declarations: Sequence[Any], sure: bool, origin: int) -> None:
        kept = [each for each in declarations if each.lower_name in PROPERTIES or each.name.startswith("--")]
        if not kept:
            return
        if len(self._parts) + len(selectors) > _MOST_RULES:
            raise ValueError(f"it has more than {_MOST_RULES:,} style rules")
        for text in selectors:
            try:
                for selector in parse_selectors(text if "[" in text else text.lower()):
                    if selector.pseudo_element is None:
                        self._add_selector(selector, kept, sure, origin)
            except (SelectorError, NotImplementedError):  # browsers leave out what they do not know, too
                continue

    def _add_selector(self, selector: Any, declarations: Sequence[Any], sure: bool, origin: int) -> None:
        chain = list(chain_of(selector.parsed_tree))
        if not all(is_cheap(simple) for _, compound in chain for simple in compound.simple_selectors):
            return
        tests = [CompiledSelector(Selector(compound)) for _, compound in chain]
        rules = tuple(_rules(declarations, origin, tuple(selector.specificity), len(self._parts), sure))
        if not rules or any(test.never_matches for test in tests):
            return
        for place, ((combinator, compound), test) in enumerate(zip(chain, tests, strict=True)):
            bit = len(self._parts)
            scans = "of-type" in repr(compound)
            self._parts.append(_Part(test.test, scans, rules if place == len(chain) - 1 else ()))
            self._buckets.setdefault(key_of(compound), []).append(bit)
            if place:
                self._after[combinator] |= 1 << bit
            else:
                self._first |= 1 << bit


@lru_cache(maxsize=16)
def styles_of(sheets: tuple[tuple[str, str], ...]) -> Styles:
    """The rules of these sheets, each with its media; those of pages that share them are read once."""
    return Styles(sheets)


def declarations_of(style: str) -> list[Rule]:
    """The rules of an element's own attribute ``style``."""
    found = parse_blocks_contents(style, True, True)
    return list(_rules([each for each in found if each.type == "declaration"], 2, (), 0, True))


def _rules(declarations: Sequence[Any], origin: int, weight: tuple[int, ...], place: int, sure: bool) -> Iterator[Rule]:
    for important in (False, True):
        declared: dict[str, Sequence[Any]] = {}
        for each in declarations:
            if each.important == important and (each.lower_name in PROPERTIES or each.name.startswith("--")):
                declared[each.name if each.name.startswith("--") else each.lower_name] = significant(each.value)
        if declared and (sure or _may_hide(declared)):
            yield Rule((important, 9 if important and not origin else origin, weight, place), declared)


def _may_hide(declared: Declared) -> bool:
    words = {token.lower_value for token in declared.get("visibility", ()) if token.type == "ident"}
    return hides(declared) or bool(words & {"hidden", "collapse"})


def _selectors(prelude: Sequence[Any]) -> list[str]:
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [serialize(part).strip() for part in parts]


def _nest(selectors: Sequence[str], parents: tuple[str, ...]) -> Iterator[str]:
    for count, selector in enumerate(selectors):
        if count * max(1, len(parents)) > _MOST_RULES:
            raise ValueError(f"it has more than {_MOST_RULES:,} style rules")
        for parent in parents or ("",):
            text = selector.replace("&", parent) if "&" in selector else f"{parent} {selector}"
            yield text[:2_000]
