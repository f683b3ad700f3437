"""Documents that a foreign retriever found: the last of them, bounded in number and characters."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.passages import Document

MAX_DOCUMENTS = 10_000
MAX_CHARACTERS = 50_000_000


class SeenDocuments:
    """Keeps the documents found last, for citations to be checked against. Thread-safe."""

    def __init__(self, most: int, characters: int) -> None:
        self._most = most
        self._room = characters
        self._by_id: OrderedDict[str, Document] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, documents: Sequence[Document]) -> list[Document]:
        """Remembers documents; gives them back with the ids under which they are known from now on."""
        with self._lock:
            kept = [self._keep(document) for document in documents]
            while len(self._by_id) > len(kept) and (len(self._by_id) > self._most or self._room < 0):
                self._room += len(self._by_id.popitem(last=False)[1].text)
            return kept

    def _keep(self, document: Document) -> Document:
        known = self._by_id.get(document.id)
        if known is not None and known.text != document.text:
            # Another text under the same id: both must stay what they were for the answers that cite them.
            document = replace(document, id=f"{document.id}:{digest(document.text)}")
            known = self._by_id.get(document.id)
        self._room -= len(document.text) - (len(known.text) if known else 0)
        self._by_id[document.id] = document
        self._by_id.move_to_end(document.id)
        return document

    def document(self, document_id: str) -> Document | None:
        """The document under this id, or None."""
        with self._lock:
            return self._by_id.get(document_id)

    def documents(self) -> list[Document]:
        """All that are remembered, ordered by id."""
        with self._lock:
            return sorted(self._by_id.values(), key=lambda document: document.id)


def digest(text: str) -> str:
    """What tells one text from another: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
