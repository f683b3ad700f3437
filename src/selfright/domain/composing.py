"""From sentences to the text of an answer: layout and citation markers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from selfright.domain.answers import Citation, Draft, Sentence
from selfright.domain.passages import Passage

CitationStyle = Literal["numbers", "source"]

# A marker stands behind a blank, so that "[1]" inside quoted text or code is not taken for one.
MARKER = re.compile(r"(?<=\s)\[(\d{1,4})\]")

_ENTRY = re.compile(r"(?:- |\(?\d{1,3}[.)] |[①-⑳]|[가-하][.)] )")

_FENCES = ("```", "~~~")


def compose(sentences: Iterable[Sentence]) -> str:
    """The running text of ``sentences`` with their markers: prose in a line, each entry of a list on its own."""
    text = ""
    listing = False
    for sentence in sentences:
        entry = _ENTRY.match(sentence.text.rpartition("\n")[2]) is not None
        block = entry or "\n" in sentence.text
        gap = "" if not text else "\n" if entry and listing else "\n\n" if block or listing else " "
        marks = " ".join(f"[{n}]" for n in sentence.citations)
        # A fence with a marker behind it would not end the code.
        before = "\n\n" if sentence.text.endswith(_FENCES) else " "
        text += gap + sentence.text + (before + marks if marks else "")
        listing = block
    return text


def apply_style(draft: Draft, style: CitationStyle) -> Draft:
    """The draft with its markers in the given style: ``[1]``, or ``[Source: file.md]``."""
    if style == "numbers":
        return draft
    names = {citation.n: source_name(citation) for citation in draft.citations}

    def name_source(match: re.Match[str]) -> str:
        name = names.get(int(match.group(1)))
        return f"[Source: {name}]" if name else match.group()

    return replace(draft, text=MARKER.sub(name_source, draft.text))


def source_name(citation: Citation) -> str:
    """What a reader knows the source by: its address, its file's name, else its title."""
    if citation.url:
        return citation.url
    name = citation.document_id.replace("\\", "/").rpartition("/")[2]
    return name if "." in name else citation.title or citation.document_id


def with_citations(draft: Draft, support: Mapping[str, Passage]) -> Draft:
    """The draft with each sentence that ``support`` names by its text cited to that passage, numbered on.

    Its layout stays, unless the text does not have the sentences as they are.
    """
    numbers: dict[str, int] = {}
    sentences, text, reached = [], draft.text, 0
    for sentence in draft.sentences:
        at = text.find(sentence.text, reached) if reached >= 0 else -1
        marks = "".join(f" [{n}]" for n in sentence.citations)
        reached = at + len(sentence.text) if at >= 0 else -1
        reached += len(marks) if text.startswith(marks, reached) else 0
        passage = support.get(sentence.text)
        if passage is not None:
            n = numbers.setdefault(passage.id, len(draft.citations) + len(numbers) + 1)
            mark = f"\n\n[{n}]" if sentence.text.endswith(_FENCES) and not marks else f" [{n}]"
            text = text[:reached] + mark + text[reached:]
            reached += len(mark) if reached >= 0 else 0
            sentence = replace(sentence, citations=(*sentence.citations, n))  # noqa: PLW2901 - the same sentence
        sentences.append(sentence)
    passages = {passage.id: passage for passage in support.values()}
    added = tuple(cite(n, passages[name]) for name, n in numbers.items())
    text = text if reached >= 0 else compose(sentences)
    return replace(draft, text=text, sentences=tuple(sentences), citations=(*draft.citations, *added))


def cite(n: int, passage: Passage, start: int | None = None, end: int | None = None) -> Citation:
    """A citation of the passage from ``start`` to ``end``, positions in its document; by default of all of it."""
    start, end = passage.start if start is None else start, passage.end if end is None else end
    return Citation(
        n=n,
        passage_id=passage.id,
        document_id=passage.document_id,
        title=passage.title,
        section=passage.section,
        start=start,
        end=end,
        text=passage.text[start - passage.start : end - passage.start],
        url=passage.url,
        head=passage.head,
    )


def with_sources(draft: Draft, needs_source: Callable[[str], bool]) -> tuple[Draft, tuple[str, ...]]:
    """The draft without the sentences that need a source and have none, and those sentences."""
    kept = [sentence for sentence in draft.sentences if sentence.citations or not needs_source(sentence.text)]
    if len(kept) == len(draft.sentences):
        return draft, ()
    return with_sentences(draft, kept), tuple(s.text for s in draft.sentences if s not in kept)


def first_of_all(urgent: str, draft: Draft) -> Draft:
    """The draft with ``urgent`` before all that it says."""
    return replace(draft, text=f"{urgent}\n\n{draft.text}".rstrip()) if urgent else draft


def with_sentences(draft: Draft, kept: Sequence[Sentence]) -> Draft:
    """The draft with some of its sentences only; citations no longer used go, the rest are numbered anew from 1."""
    used = list(dict.fromkeys(n for sentence in kept for n in sentence.citations))
    renumbered = {old: new for new, old in enumerate(used, start=1)}
    by_number = {citation.n: citation for citation in draft.citations}
    sentences = tuple(replace(s, citations=tuple(renumbered[n] for n in s.citations)) for s in kept)
    citations = tuple(replace(by_number[old], n=new) for old, new in renumbered.items())
    return replace(draft, text=compose(sentences), sentences=sentences, citations=citations)
