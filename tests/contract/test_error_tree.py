"""The tree drawn in the docstring of ``domain/errors.py`` is the tree of its classes."""

import re
from collections.abc import Iterator

from selfright.domain import errors

DRAWN = re.compile(r"^(?P<indent> *)[*+-] (?P<name>\w+)", re.MULTILINE)


def real_tree(cls: type[errors.SelfrightError], depth: int = 0) -> Iterator[tuple[int, str]]:
    yield depth, cls.__name__
    for child in cls.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from real_tree(child, depth + 1)


def test_the_drawn_tree_is_the_real_one() -> None:
    drawn = [(len(line["indent"]) // 2, line["name"]) for line in DRAWN.finditer(errors.__doc__ or "")]
    assert drawn == list(real_tree(errors.SelfrightError))


def test_every_error_says_what_it_is() -> None:
    names = [name for _, name in real_tree(errors.SelfrightError)]
    assert [name for name in names if not getattr(errors, name).__doc__] == []
