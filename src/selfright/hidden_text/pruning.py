"""Removes from a page what its readers do not see: by attributes, styles in place and the page's own style sheets.

What other files and scripts hide is not known here. Both who index pages and who fetch them from the web go by it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from tinycss2.ast import FunctionBlock
from tinycss2.tokenizer import parse_component_value_list

from selfright.hidden_text.hiding import Declared, Look, hides
from selfright.hidden_text.sheets import Node, Rule, declarations_of, styles_of
from selfright.hidden_text.values import significant

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_ATTRIBUTES = 500
_MOST_VARIABLES = 1_000
_MOST_TRIED = 10_000_000  # rules, on all elements together: some seconds
_ROOTS = ("html", "body")
_UNREAD = ("script", "style")
_PARTS = {"font": ("font-size",), "background": ("background-color", "background-image")}
_MOST_TOKENS, _DEEPEST = 64, 5


class _Widest:
    """The target of a parser that only counts: making a tree of many attributes takes the square of their number."""

    most = 0

    def start(self, _tag: str, attributes: Mapping[str, str]) -> None:
        self.most = max(self.most, len(attributes))

    def close(self) -> int:
        return self.most


def check_attributes(data: bytes) -> None:
    """Raises ``ValueError`` for a page (UTF-8) with an element of more attributes than anybody writes."""
    from lxml import html

    options: dict[str, Any] = {"target": _Widest()}
    parser: Any = html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True, **options)
    parser.feed(data)
    if parser.close() > _MOST_ATTRIBUTES:
        raise ValueError(f"an element has more than {_MOST_ATTRIBUTES} attributes")


def remove_unseen(root: "HtmlElement") -> None:
    """Removes elements and text that are not seen; text that follows a removed element stays.

    Raises ``ValueError`` for style sheets that are no reasonable page's.
    """
    from lxml import etree

    sheets = tuple((style.get("media") or "", style.text or "") for style in root.iter("style"))
    styles, doomed = styles_of(sheets), []
    nodes: list[tuple[Node, Look, Iterator[int]]] = []
    tried = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            if nodes and nodes[-1][0].etree_element is element:
                nodes.pop()
            continue
        parent, above, places = nodes[-1] if nodes else (None, Look(), iter((0,)))
        node = Node(element, parent, next(places), parent.etree_children if parent else ())
        if not isinstance(element.tag, str) or element.tag in _UNREAD:
            walker.skip_subtree()
            continue
        rules, more = styles.rules_of(node)
        tried += more
        if tried > _MOST_TRIED:
            raise ValueError("its styles are too many for its elements")
        look, is_hidden = _look(rules, node, above)
        if is_hidden:
            doomed.append(element)
            walker.skip_subtree()
        elif not look.shows_text:
            element.text = None
            for child in element:
                child.tail = None
        nodes.append((node, look, count()))
    for element in doomed:
        element.drop_tree()


def _look(found: list[Rule], node: Node, above: Look) -> tuple[Look, bool]:
    """How an element looks, and whether it is hidden with all within it."""
    rules = [Rule((False, 0, (), (), -1), _attributes(node.etree_element)), *found]
    if style := node.etree_element.get("style"):
        rules = sorted([*rules, *declarations_of(style)], key=lambda rule: rule.order)
    declared: dict[str, Sequence[Any]] = {}
    for rule in rules:
        for name, tokens in rule.declared.items():
            for part in _PARTS.get(name, ()):  # a shorthand takes the place of what was said before by its parts
                declared.pop(part, None)
            declared[name] = tokens
    own = {name: declared.pop(name) for name in list(declared) if name.startswith("--")}
    variables = {**above.variables, **own} if own and len(above.variables) < _MOST_VARIABLES else above.variables
    shown: Declared = {name: _resolve(tokens, variables) for name, tokens in declared.items()}
    look = above.within(shown, variables)
    if node.local_name in _ROOTS:  # shown by a script when all is there
        return look.reveal(), False
    return look, hides(shown, look.size)


def _attributes(element: "HtmlElement") -> Declared:
    """What attributes say that are older than style sheets."""
    names = {"color": ("font",), "text": ("body",), "bgcolor": ("body", "table", "tr", "td", "th")}
    said = {name: element.get(name) for name, tags in names.items() if element.tag in tags and element.get(name)}
    found = {"background-color" if name == "bgcolor" else "color": text for name, text in said.items()}
    return {name: significant(parse_component_value_list(text or "")) for name, text in found.items()}


def _resolve(tokens: Sequence[Any], variables: Mapping[str, Sequence[Any]], depth: int = 0) -> list[Any]:
    """The tokens with what ``var()`` and ``env()`` stand for; of what is long or deep only the beginning."""
    found: list[Any] = []
    for token in tokens:
        is_function = token.type == "function" and depth < _DEEPEST
        if is_function and token.lower_name in ("var", "env"):
            name, *rest = significant(token.arguments) or [None]
            known = variables.get(name.value) if name is not None and name.type == "ident" else None
            found += _resolve(rest[1:] if known is None else known, variables, depth + 1)
        elif is_function:
            inner = _resolve(token.arguments, variables, depth + 1)
            found.append(FunctionBlock(token.source_line, token.source_column, token.name, inner))
        else:
            found.append(token)
        if len(found) > _MOST_TOKENS:
            return found[:_MOST_TOKENS]
    return found
