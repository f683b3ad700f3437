"""A document cut into passages: at sections, then at sentences, with exact spans."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from selfright.domain.blocks import Block, BlockKind, blocks, head_of
from selfright.domain.codes import Code, codes_in
from selfright.domain.markup import plain
from selfright.domain.passages import Document, Language, Passage
from selfright.domain.text import block_sentences, has_hangul, language_of

_HANGUL_RUN = re.compile(r"[가-힣]+")
_HANGUL_EXTRA = 0.5
_CHARACTERS_PER_WORD = 10
_SLACK = 1.1  # a text this much over the size is not worth cutting
_TINY = 0.25  # what is smaller than this share of the size does not stand alone
_LONGEST_HEADING = 1_000  # characters, marks and all
_WHOLE = 2.0  # tables, lists and code up to this many times the size are not cut
_QUESTION_LEVEL = 7  # of a question or a line in bold letters, without the mark of a heading
_TEXTS = frozenset(("paragraph", "list"))
_BOLD = re.compile(r"(\*\*|__)(?=[^\n]*[^\W\d_])[^*_\n:：]{1,60}(?<![.,;!?。？！\s])\1")
_LEAST_WORDS = 10.0  # what is shorter does not show which language it is in


class Atom(NamedTuple):
    """What is never cut: a sentence, a heading, a row, or a whole table, list or code block.

    ``size`` is in words (see ``size_of``); blank space in front of it counts as text does. ``head`` is the header of
    the table that it is or belongs to.
    """

    kind: BlockKind
    start: int
    end: int
    size: float
    head: str = ""


@dataclass(frozen=True)
class Section:
    """Atoms under one heading path; ``language`` is that of the text, None where there is too little to tell."""

    path: tuple[str, ...]
    atoms: Sequence[Atom]
    language: Language | None

    @property
    def body(self) -> float:
        """In words, without the headings."""
        return sum([atom.size for atom in self.atoms if atom.kind != "heading"])

    @property
    def size(self) -> float:
        """In words."""
        return sum([atom.size for atom in self.atoms])


def split(document: Document, words: int = 200, overlap: int = 30) -> list[Passage]:
    """Passages of about ``words`` words that cover all text but blank space, in order, ids ``{document_id}#{n}``.

    A document of at most 1.1 × ``words`` stays whole. Otherwise a section begins a new passage (tiny neighbours share
    one), and long sections are cut at sentence ends into even parts that repeat about ``overlap`` words of whole
    sentences. Tables, lists and code stay whole up to twice the size. What stands under a code or version shares a
    passage with nothing else, nor do neighbouring sections in two languages: a passage is of one of them and says
    which. For every passage ``document.text[start:end] == text``.
    """
    # Here a word is a word in both languages: who brings short rows has already cut them as they should be.
    most = words * _SLACK
    is_short = len(document.text) <= most * _CHARACTERS_PER_WORD and len(document.text.split()) <= most
    may_mix = has_hangul(document.text)
    found = [
        Section(path, atoms, _language(document, atoms) if may_mix else None)
        for path, atoms in _sections(document, math.inf if is_short and not may_mix else words)
    ]
    mixed = len({section.language for section in found} - {None}) > 1
    runs = list(_runs(found))
    if is_short:
        sections = (_merge(run) for run in runs)
    else:
        overlap = min(overlap, words // 2)
        sections = (
            Section(section.path, atoms, section.language)
            for run in runs
            for section in _group(run, words)
            for atoms in _parts(section.atoms, words, overlap)
        )
    passages = []
    for n, section in enumerate(section for section in sections if section.atoms):
        start, end = section.atoms[0].start, section.atoms[-1].end
        head = next((atom.head for atom in section.atoms if atom.kind == "table"), "")
        language = section.language if mixed else None
        passages.append(document.passage(n, start, end, " > ".join(section.path), head, language))
    return passages


def size_of(text: str) -> float:
    """Length in English words, a Korean one counting 1.5 and a bar of a table 1; at least a tenth of the characters."""
    # With its particles and endings a Korean word carries what three English ones do in two: 200 English words say
    # about as much as 133 Korean ones. Text without blanks still has a length, hence the tenth.
    korean = 0 if text.isascii() else len(_HANGUL_RUN.findall(text))
    counted = len((text.replace("|", " | ") if "|" in text else text).split()) + _HANGUL_EXTRA * korean
    return max(counted, len(text) / _CHARACTERS_PER_WORD)


def _language(document: Document, atoms: Sequence[Atom]) -> Language | None:
    """The language of text that is no code; None for a few words, and for English with any Hangul in it."""
    said = [atom for atom in atoms if atom.kind not in ("heading", "code")]
    if sum(atom.size for atom in said) < _LEAST_WORDS:
        return None
    text = "\n".join(document.text[atom.start : atom.end] for atom in said)
    return "ko" if language_of(text) == "ko" else None if has_hangul(text) else "en"


def _sections(document: Document, words: float) -> Iterator[tuple[tuple[str, ...], list[Atom]]]:
    """The path and atoms of each run of text with its heading, and with the headings without text in front of that."""
    path: list[tuple[int, str]] = []
    atoms: list[Atom] = []
    last = 0
    for block in _with_names(document.text):
        if block.kind == "heading":
            if atoms and atoms[-1].kind != "heading":
                yield _names(path, document.title), atoms
                atoms = []
            line = document.text[block.start : block.end]
            marks = len(line) - len(line.lstrip("#"))
            level = marks or _QUESTION_LEVEL
            name = plain(line[marks : marks + _LONGEST_HEADING].strip().rstrip("#"))[:200]
            path = [entry for entry in path if entry[0] < level] + [(level, name)]
        head = head_of(document.text[block.start : block.end]) if block.kind == "table" else ""
        for start, end, size in _spans(document.text, block, words):
            atoms.append(Atom(block.kind, start, end, max(size, (end - last) / _CHARACTERS_PER_WORD), head))
            last = end
    if atoms:
        yield _names(path, document.title), atoms


def _with_names(text: str) -> Iterator[Block]:
    """The blocks; a short line in bold letters over text that is not is a heading."""
    found = list(blocks(text))
    for block, following in zip_longest(found, found[1:]):
        line = text[block.start : block.end]
        is_name = following and following.kind in _TEXTS and line[0] in "*_" and _BOLD.fullmatch(line)
        yield Block("heading", block.start, block.end) if block.kind == "paragraph" and is_name else block


def _names(path: Sequence[tuple[int, str]], title: str) -> tuple[str, ...]:
    # A first heading that repeats the title says nothing more than the title does.
    names = [name for _, name in path if name]
    return tuple(names[1:] if names and names[0].casefold() == title.strip().casefold() else names)


def _spans(text: str, block: Block, words: float) -> Iterator[tuple[int, int, float]]:
    """Where the atoms of a block stand, and their sizes; none is larger than ``words``, whole blocks twice that."""
    if block.kind != "paragraph" or words == math.inf:
        whole = words if block.kind == "heading" else words * _WHOLE
        if (size := size_of(text[block.start : block.end])) <= whole:
            yield block.start, block.end, size
            return
    if block.kind == "table":
        parts = _row_spans(text, block)
    else:
        parts = _line_spans(text, block) if block.kind == "code" else block_sentences(text, block)
    for start, end in parts:
        if (size := size_of(text[start:end])) <= words:
            yield start, end, size
        else:
            yield from ((*piece, size_of(text[slice(*piece)])) for piece in _pieces(text, start, end, int(words)))


def _row_spans(text: str, table: Block) -> Iterator[tuple[int, int]]:
    """The rows of a table; its header goes with the first of them."""
    lines = list(_line_spans(text, table))
    first = 2 if head_of(text[table.start : table.end]) and len(lines) > 2 else 0
    yield lines[0][0], lines[first][1]
    yield from lines[first + 1 :]


def _line_spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    return block_sentences(text, Block("table", block.start, block.end))  # which end where lines do


def _pieces(text: str, start: int, end: int, words: int) -> Iterator[tuple[int, int]]:
    """A sentence without an end in sight, cut at white space, or through a word where there is none."""
    longest = words * _CHARACTERS_PER_WORD
    first, last, size = start, start, 0.0
    for match in re.compile(rf"\S{{1,{longest}}}").finditer(text, start, end):
        weight = size_of(match.group())
        if size and (size + weight > words or match.end() - first > longest):
            yield first, last
            first, size = match.start(), 0.0
        last, size = match.end(), size + weight
    yield first, last


def _merge(sections: Sequence[Section]) -> Section:
    """One section of several; its path is what the paths of those with text have in common."""
    if len(sections) == 1:
        return sections[0]
    paths = [section.path for section in sections if section.body] or [section.path for section in sections]
    shared: list[str] = []
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    language = next((section.language for section in sections if section.language), None)
    return Section(tuple(shared), [atom for section in sections for atom in section.atoms], language)


def _runs(sections: Iterable[Section]) -> Iterator[Sequence[Section]]:
    """Runs of neighbours in one language and about the same codes; what does not tell goes with what is before it.

    Sections under codes (release notes, error codes) look alike, and each is about its own alone.
    """
    run: list[Section] = []
    language: Language | None = None
    codes: frozenset[Code] = frozenset()
    for section in sections:
        own = codes_in(" ".join(section.path))
        if run and (own != codes or (language and section.language and section.language != language)):
            yield run
            run, language = [], None
        run.append(section)
        language, codes = language or section.language, own
    yield run


def _group(sections: Iterable[Section], words: int) -> Iterator[Section]:
    """Tiny neighbours put together up to the size."""
    group: list[Section] = []
    body = size = 0.0
    for section in sections:
        own, whole = section.body, section.size
        tiny = min(body, own) < words * _TINY
        if body and not (tiny and size + whole <= words * _SLACK):
            yield _merge(group)
            group, body, size = [], 0.0, 0.0
        group.append(section)
        body, size = body + own, size + whole
    if group:
        yield _merge(group)


def _parts(atoms: Sequence[Atom], words: int, overlap: int) -> Iterator[Sequence[Atom]]:
    """The atoms in even runs of at most about ``words``; a run begins with the last sentences of the one before."""
    left = sum([atom.size for atom in atoms])
    if left <= words * _SLACK:
        yield atoms
        return
    first = index = 0
    while index < len(atoms):
        if atoms[index].size > words:
            first = index  # it fills a passage by itself
        filled, begun = sum(atom.size for atom in atoms[first:index]), index
        target = _even_share(filled + left, words, overlap)
        while index < len(atoms):
            size = atoms[index].size
            is_small = filled < words * _TINY and size <= words * _WHOLE
            if index > begun and not is_small and filled + size / 2 > target:
                break
            filled, left, index = filled + size, left - size, index + 1
        yield atoms[first:index]
        first, repeated = index, 0.0
        while first - 1 > begun and atoms[first - 1].kind in ("paragraph", "list"):
            if repeated + atoms[first - 1].size / 2 > overlap:
                break
            first -= 1
            repeated += atoms[first].size


def _even_share(size: float, words: int, overlap: int) -> float:
    if size <= words * _SLACK:
        return math.inf
    parts = math.ceil((size - overlap) / (words - overlap))
    return (size + (parts - 1) * overlap) / parts
