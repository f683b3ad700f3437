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
    """Counts of documents and passages, and how far the vectors reach: ``rows`` of the file ``vectors``."""

    passages: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    vectors: str = FIRST_FILE

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
        return IndexStats(self.passages, Counter(self.collections), Counter(self.languages), self.rows, self.vectors)

    def text(self) -> str:
        """As one line."""
        return json.dumps(
            {
                "passages": self.passages,
                "collections": _sorted(self.collections),
                "languages": _sorted(self.languages),
                "rows": self.rows,
                "vectors": self.vectors,
            },
            ensure_ascii=False,
        )

    @classmethod
    def of(cls, text: str) -> "IndexStats":
        """Reads what ``text`` wrote."""
        read: dict[str, Any] = json.loads(text)
        return cls(
            read["passages"], Counter(read["collections"]), Counter(read["languages"]), read["rows"], read["vectors"]
        )

    def _count(self, collection: str, language: str, passages: int, sign: int) -> None:
        self.passages += sign * passages
        self.collections[collection] += sign
        self.languages[language] += sign


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
