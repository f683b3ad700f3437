"""What an index holds, in counts, kept beside the records and checked against them."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.passages import Document
from selfright.retrieval.vectors import FIRST_FILE


@dataclass(slots=True)
class IndexStats:
    """Counts of documents and passages, and how far the vectors reach: ``rows`` of the file ``vectors``.

    ``languages`` counts documents, ``passages_in`` passages by language; None in an index last written without it.
    """

    passages: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    vectors: str = FIRST_FILE
    passages_in: Counter[str] | None = None

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.languages.total()

    def add(self, document: Document, passages: int) -> None:
        """Counts a document that came."""
        self._count(document.collection, document.language, passages, 1)

    def remove(self, collection: str, language: str, passages: int) -> None:
        """Counts a document that went."""
        self._count(collection, language, passages, -1)

    def copy(self) -> "IndexStats":
        """One that changes on its own."""
        passages_in = None if self.passages_in is None else Counter(self.passages_in)
        collections, languages = Counter(self.collections), Counter(self.languages)
        return IndexStats(self.passages, collections, languages, self.rows, self.vectors, passages_in)

    def text(self) -> str:
        """As one line."""
        return json.dumps(
            {
                "passages": self.passages,
                "collections": _sorted(self.collections),
                "languages": _sorted(self.languages),
                "rows": self.rows,
                "vectors": self.vectors,
                **({} if self.passages_in is None else {"passages_in": _sorted(self.passages_in)}),
            },
            ensure_ascii=False,
        )

    @classmethod
    def of(cls, text: str) -> "IndexStats":
        """Reads what ``text`` wrote."""
        read: dict[str, Any] = json.loads(text)
        collections, languages = Counter(read["collections"]), Counter(read["languages"])
        passages_in = Counter(read["passages_in"]) if "passages_in" in read else None
        return cls(read["passages"], collections, languages, read["rows"], read["vectors"], passages_in)

    def _count(self, collection: str, language: str, passages: int, sign: int) -> None:
        self.passages += sign * passages
        self.collections[collection] += sign
        self.languages[language] += sign
        if self.passages_in is not None:
            self.passages_in[language] += sign * passages


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
