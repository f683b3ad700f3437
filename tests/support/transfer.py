"""A store in memory that keeps vectors, and files as other programs leave them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Document, DocumentInfo, Passage, StoreInfo

Vectors = Mapping[str, NDArray[np.float32]]


class Shelf:
    """Shows what was committed only, and counts passages by batch and commit; fails at its ``fails_at``-th batch."""

    def __init__(self, fails_at: int = 0) -> None:
        self.committed: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self.pending: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self.vectors: dict[str, NDArray[np.float32]] = {}
        self.given: list[Vectors | None] = []
        self.batches: list[int] = []
        self.commits: list[int] = []
        self._fails_at = fails_at

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: Vectors | None = None) -> None:
        assert len({document.id for document, _ in batch}) == len(batch)
        for document, passages in batch:
            for passage in passages:
                assert passage.text == document.text[passage.start : passage.end]
        self.given.append(vectors)
        if len(self.given) == self._fails_at:
            raise OSError("no space left")
        self.pending.update({document.id: (document, passages) for document, passages in batch})
        self.batches.append(sum(len(passages) for _, passages in batch))
        self.vectors.update(vectors or {})

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        return [name for name in document_ids if self.committed.pop(name, None)]

    def commit(self) -> None:
        self.committed.update(self.pending)
        self.commits.append(sum(len(passages) for _, passages in self.pending.values()))
        self.pending = {}

    def discard(self) -> None:
        self.pending = {}

    def document(self, document_id: str) -> Document | None:
        found = self.committed.get(document_id)
        return found[0] if found else None

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        for document, cut in (self.committed[name] for name in sorted(self.committed)):
            if not collections or document.collection in collections:
                yield DocumentInfo(
                    document.id, document.title, document.collection, document.language, document.source,
                    document.content_hash, len(document.text), len(cut),
                )  # fmt: skip

    def passages_of(self, document_id: str) -> list[Passage]:
        return list(self.committed[document_id][1])

    def vectors_of(self, document_id: str) -> Vectors:
        names = [passage.id for passage in self.passages_of(document_id)]
        return {name: self.vectors[name] for name in names if name in self.vectors}

    def info(self) -> StoreInfo:
        raise AssertionError("nobody needs figures here")

    def texts(self) -> dict[str, str]:
        return {name: document.text for name, (document, _) in self.committed.items()}

    def passages(self) -> dict[str, Passage]:
        return {passage.id: passage for _, cut in self.committed.values() for passage in cut}


class Matrix:
    """Vectors as a FAISS file would give them."""

    def __init__(self, rows: NDArray[np.float32], *notes: str) -> None:
        self.matrix = rows
        self.path, self.notes = Path("some.faiss"), notes
        self.count, self.dimension = rows.shape

    def rows(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        return self.matrix[list(numbers)]


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
