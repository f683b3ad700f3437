"""Example questions for who has not asked anything yet: made from headings of the documents that may be searched."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from selfright.assembly.index import IndexService
from selfright.domain.passages import Document, DocumentInfo, Language
from selfright.domain.text import blocks
from selfright.domain.turns import Scope

_MOST_LISTED = 500
_MOST_READ = 12
_MOST_TRIED = 9
_READ_CHARACTERS = 40_000
_LONGEST = 60
_LEAST_BODY = 80  # characters: a heading over less than this has little to say
_FOUND_AMONG = 3
_ASKED = {
    "en": {"section": "What does “{title}” say about {heading}?", "document": "What is “{title}” about?"},
    "ko": {
        "section": "‘{title}’에서 {heading}에 대해 알려 주세요.",
        "document": "‘{title}’ 문서는 어떤 내용인가요?",
    },
}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question, and the document that has something on it."""

    question: str
    document_id: str


async def example_questions(index: IndexService, scope: Scope, language: Language, count: int) -> list[str]:
    """At most ``count`` questions on different documents of ``scope``, those in ``language`` first.

    Each is asked in its document's language, and only where a search for it finds that document.
    """
    candidates = await asyncio.to_thread(lambda: list(_candidates(index, scope, language)))
    found: list[_Candidate] = []
    for candidate in candidates[:_MOST_TRIED]:
        if len(found) >= count:
            break
        if candidate.document_id not in {one.document_id for one in found} and await _finds(index, scope, candidate):
            found.append(candidate)
    return [one.question for one in found]


async def _finds(index: IndexService, scope: Scope, candidate: _Candidate) -> bool:
    hits = (await index.retriever(scope).search(candidate.question, _FOUND_AMONG, ())).hits
    return any(hit.passage.document_id == candidate.document_id for hit in hits)


def _candidates(index: IndexService, scope: Scope, language: Language) -> Iterator[_Candidate]:
    where = scope.within()
    if where is not None and not where:
        return
    listed = list(islice(index.library().documents("", where or ()), _MOST_LISTED))
    same = [one for one in listed if one.language == language]
    others = [one for one in listed if one.language != language]
    for info in (_spread(same) + _spread(others))[:_MOST_READ]:
        document = index.library().document(info.id)
        if document is not None and scope.covers([document.collection]):
            yield from islice(_of_document(document), 1)


def _spread(listed: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Some documents, as far from one another in the list as it allows: neighbours are much alike."""
    if len(listed) <= _MOST_READ:
        return list(listed)
    return [listed[n * len(listed) // _MOST_READ] for n in range(_MOST_READ)]


def _of_document(document: Document) -> Iterator[_Candidate]:
    words, title = _ASKED[document.language], _one_line(document.title) or document.id
    for heading in _headings(document.text[:_READ_CHARACTERS], title):
        said = heading if heading.endswith("?") else words["section"].format(title=title, heading=heading)
        yield _Candidate(said, document.id)
    if len(title) <= _LONGEST:
        yield _Candidate(words["document"].format(title=title), document.id)


def _headings(text: str, title: str) -> Iterator[str]:
    """Headings with enough text under them, without the document's own title."""
    name, body = "", 0
    for block in blocks(text):
        if block.kind != "heading":
            body += block.end - block.start
            continue
        if name and body >= _LEAST_BODY:
            yield name
        said = _one_line(text[block.start : block.end].lstrip("#").rstrip("# "))
        name, body = said if 2 <= len(said) <= _LONGEST and said.casefold() != title.casefold() else "", 0
    if name and body >= _LEAST_BODY:
        yield name


def _one_line(text: str) -> str:
    return " ".join(text.replace("`", "").replace("*", "").split())
