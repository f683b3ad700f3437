"""Korean medical words that a morphological analyser would split or misread: conditions, measures, drugs."""

import functools
from importlib import resources


@functools.cache
def user_words() -> tuple[str, ...]:
    """Nouns that stay whole in an index, sorted; see ``words.txt``, our own list.

    Compounds that fall into meaningful parts (혈액검사) are left out: found by their parts, they are found more often.
    Forms with Latin letters or digits need no entry, for those are cut off from Hangul anyway.
    """
    text = resources.files(__package__).joinpath("words.txt").read_text(encoding="utf-8")
    return tuple(sorted({line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")}))
