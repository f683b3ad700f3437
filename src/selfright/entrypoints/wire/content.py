"""Searches, documents, collections."""

from typing import Annotated

from pydantic import Field

from selfright.answer_form import Reply
from selfright.entrypoints.wire.answers import Name
from selfright.entrypoints.wire.base import Request


class SearchRequest(Request):
    """The body of ``POST /v1/search``."""

    query: str = Field(min_length=1, max_length=10_000)
    k: Annotated[int, Field(ge=1, le=1_000)] = 10
    collections: list[Name] = Field(default_factory=list, max_length=100)


class Ranked(Reply):
    """A place in one ranking, ``rank`` from 1."""

    rank: int
    score: float


class Hit(Reply):
    """A passage that was found."""

    rank: int
    passage_id: str
    document_id: str
    title: str
    text: str
    start: int
    end: int
    rrf_score: float
    bm25: Ranked | None
    dense: Ranked | None


class Searched(Reply):
    """What searched, and why it was weighed so: ``words``, ``meaning`` or ``both``."""

    by: str
    why: str


class SearchReply(Reply):
    """The passages found, best first; ``searched`` is null where only the user's own retriever knows."""

    hits: list[Hit]
    searched: Searched | None = None


class DocumentLine(Reply):
    """A document in a list; ``characters`` is its text's length, ``removable`` whether the caller may delete it."""

    id: str
    title: str
    collection: str
    language: str
    characters: int
    passages: int
    removable: bool = False


class DocumentsReply(Reply):
    """One page of the documents, ordered by id; ``next`` is what to give as ``after`` for the page behind it."""

    documents: list[DocumentLine]
    next: str | None


class DocumentReply(Reply):
    """A document with its text, exactly as stored: spans of citations point into it."""

    id: str
    title: str
    collection: str
    language: str
    url: str | None
    media_type: str
    metadata: dict[str, str]
    text: str


class UploadedFile(Reply):
    """What became of one file: counts of documents, the ids of the first 100, and a line for each thing that failed."""

    name: str
    added: int
    replaced: int
    unchanged: int
    passages: int
    documents: list[str]
    errors: list[str]


class UploadReply(Reply):
    """What became of the files that were sent."""

    collection: str
    files: list[UploadedFile]


class CollectionLine(Reply):
    """A named part of the index, and what is said of it."""

    name: str
    description: str
    documents: int
    writable: bool


class CollectionsReply(Reply):
    """The collections that the caller may search, ordered by name."""

    collections: list[CollectionLine]
