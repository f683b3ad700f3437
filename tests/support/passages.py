"""Documents to put into stores, cut into passages line by line."""

import asyncio
from collections.abc import Sequence

from selfright.domain.passages import Document, Hit, Passage
from selfright.domain.ports import Retriever
from selfright.domain.text import language_of


def document(document_id: str, text: str, title: str = "", collection: str = "default") -> Document:
    return Document(document_id, title, text, language_of(text), collection=collection)


# A few documents that several files put into stores.
BOATS = document("boats", "A keel keeps a boat upright.\nA sail needs wind.", "Boats")
KITES = document("kites", "A kite flies when wind lifts it.", "Kites")
KOREAN = document("yeon", "연은 바람이 있어야 난다.", "연")


def by_lines(source: Document) -> tuple[Document, list[Passage]]:
    """The document with one passage for each line that is not blank."""
    passages: list[Passage] = []
    start = 0
    for line in source.text.splitlines(keepends=True):
        text = line.rstrip("\n")
        if text.strip():
            passages.append(
                Passage(
                    f"{source.id}#{len(passages)}",
                    source.id,
                    source.title,
                    text,
                    start,
                    start + len(text),
                    language=source.language,
                    collection=source.collection,
                    url=source.url,
                )
            )
        start += len(line)
    return source, passages


def search(retriever: Retriever, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
    return asyncio.run(retriever.search(query, k, collections)).hits


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]
