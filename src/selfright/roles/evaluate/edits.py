"""Whether an English claim looks like what the evidence says with a small edit, or like an honest rewording of it.

Shared words cannot tell: who changes one word of a sentence keeps all others, who rewords it keeps few. So what counts
here are the words that the evidence lacks: whether one that means nearly the same stands near (``synonyms.txt``, groups
of near-synonyms), and whether they are names, numbers, or words that say more than the evidence does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from selfright.roles.analysis import TextAnalyzer

_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*")


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_LIGHT = frozenset(
    _listed(
        """
        the a an of to in on at by for with from as and or but is are was were be been it its this that these those he
        she they his her their not no which who whom what when where how than then also such into has have had do does
        did can could will would may might must should there here i you we our your if so about over under between
        during while both each other one two some any all many much very more most less only own same just up out
        """
    )
)
_PREFIXES = _listed("un in im non dis ir il mis de sub")
_ABSOLUTE = (frozenset(_listed("all every always each")), frozenset(_listed("must will only exactly definitely")))
_SMALL = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBERS = {
    **{word: str(number) for number, word in enumerate(_SMALL)},
    **{word: str(10 * ten) for ten, word in enumerate(_listed("thirty forty fifty sixty seventy eighty ninety"), 3)},
    **{word: str(number) for number, word in enumerate(_listed("first second third fourth fifth"), 1)},
    **{"once": "1", "twice": "2", "dozen": "12"},
}
_NEAR, _NEARER = 6, 3  # sentences
_CLOSE = 0.25
_COMPARABLE = 0.3
_SHORTEST_TURNED = 5

_MOST_KNOWN = 16_384
_Tokens = Callable[[str], Sequence[str]]
_Groups = dict[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Edits:
    """What speaks for an edit.

    ``explained``: the share (0…1, drawn to 0.3) of the words that the evidence lacks for which a near-synonym stands in
    the nearest sentences. ``misnamed``: how well (0…0.7) the rest is covered, where a name or number is one that the
    evidence lacks; else 0. ``turned``: of how many words, two at most, the nearest sentences have the form with or
    without "un", "non" and the like. ``absolute``: it says "all" or "must" where the evidence does not.
    """

    explained: float = 0.3
    misnamed: float = 0.0
    turned: int = 0
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    """A text's words in order, as written, and the token of each; and the different ones, in lower case and as tokens.

    ``content`` are the places of those that say something.
    """

    written: tuple[str, ...]
    tokens: tuple[str, ...]
    spelt: frozenset[str]
    stated: frozenset[str]
    content: tuple[int, ...]


def edits(claim: str, sentences: Sequence[str], analyzer: TextAnalyzer) -> Edits | None:
    """Reads an English claim beside all sentences of its evidence; None without evidence in Latin letters."""
    said = _words(claim, analyzer.tokens)
    content = said.content
    wanted = {said.tokens[i] for i in content}
    read = [_words(sentence, analyzer.tokens) for sentence in sentences]
    stated = [words.stated for words in read]
    anywhere: frozenset[str] = frozenset().union(*stated)
    if not anywhere:
        return None
    if not wanted:
        return Edits()
    shared = [len(tokens & wanted) for tokens in stated]
    order = sorted(range(len(stated)), key=lambda k: -shared[k] / (5 + len(stated[k])) ** 0.3)
    nearer: frozenset[str] = frozenset().union(*(stated[k] for k in order[:_NEARER]))
    near = nearer.union(*(stated[k] for k in order[_NEARER:_NEAR]))
    groups = _groups(analyzer.tokens)
    new = [i for i in content if said.tokens[i] not in anywhere]
    meant_near, meant_nearer = _meant(near, groups), _meant(nearer, groups)
    explained = sum(not meant_near.isdisjoint(groups.get(said.tokens[i], ())) for i in new)
    covered = sum(
        said.tokens[i] in nearer or not meant_nearer.isdisjoint(groups.get(said.tokens[i], ())) for i in content
    )
    close = [k for k in order[:_NEARER] if shared[k] >= _CLOSE * len(wanted)] or order[:1]
    return Edits(
        (explained + 0.6) / (len(new) + 2),
        max(0.0, covered / len(content) - _COMPARABLE) if _misnames(said, new, anywhere, groups) else 0.0,
        _turned(said, [read[k] for k in close]),
        _is_more_absolute(said, read),
    )


def _misnames(said: _Words, new: Sequence[int], anywhere: frozenset[str], groups: _Groups) -> bool:
    """Whether a name or number is among the words that the evidence lacks; what opens a sentence is no name."""
    return any(
        said.tokens[i][0].isdigit()
        or (
            i > 0
            and said.written[i][0].isupper()
            and _meant(anywhere, groups).isdisjoint(groups.get(said.tokens[i], ()))
        )
        for i in new
    )


def _turned(said: _Words, close: Sequence[_Words]) -> int:
    known: frozenset[str] = frozenset().union(*(words.stated for words in close))
    spelt = frozenset().union(*(words.spelt for words in close)) - said.spelt
    far = (said.written[i].lower() for i in said.content if said.tokens[i] not in known)
    return min(2, sum(len(word) >= _SHORTEST_TURNED and not spelt.isdisjoint(_turns(word)) for word in far))


def _turns(word: str) -> Iterator[str]:
    """The word with each prefix, and without the one that it has; what is left has four letters at least."""
    for prefix in _PREFIXES:
        yield prefix + word
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_TURNED - 1:
            yield word.removeprefix(prefix)


def _is_more_absolute(said: _Words, read: Sequence[_Words]) -> bool:
    return any(
        any(all(word not in words.spelt for words in read) for word in said.spelt & group) for group in _ABSOLUTE
    )


def _meant(tokens: frozenset[str], groups: _Groups) -> set[int]:
    """The groups that any of the tokens is in."""
    return {number for token in tokens for number in groups.get(token, ())}


@lru_cache(maxsize=4_096)
def _words(text: str, tokens: _Tokens) -> _Words:
    written = tuple(_WORD.findall(text.replace("’", "'")))
    spelt = [word.lower() for word in written]
    stated = tuple(map(_known(tokens).__getitem__, spelt))
    content = tuple(i for i, word in enumerate(spelt) if word not in _LIGHT)
    return _Words(written, stated, frozenset(spelt), frozenset(stated), content)


class _Known(dict[str, str]):
    """Word in small letters → its token; text repeats itself, so most are looked up."""

    def __init__(self, tokens: _Tokens) -> None:
        super().__init__()
        self._tokens = tokens

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        number = word.replace(",", "") if word[0].isdigit() else _NUMBERS.get(word)
        self[word] = token = number or next(iter(self._tokens(word)), word)
        return token


_known = lru_cache(maxsize=8)(_Known)


@lru_cache(maxsize=8)
def _groups(tokens: _Tokens) -> _Groups:
    """Token → the numbers of the groups of near-synonyms that it is in."""
    found: dict[str, set[int]] = {}
    text = files("selfright.roles.evaluate").joinpath("synonyms.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        for word in line.split():
            found.setdefault(_known(tokens)[word], set()).add(number)
    return {token: frozenset(numbers) for token, numbers in found.items()}
