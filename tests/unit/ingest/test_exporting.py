"""An index goes out in BEIR's layout and comes back as it was."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Passage
from selfright.ingest.corpus_layout import FaissVectors
from selfright.ingest.pipeline import ingest
from selfright.ingest.splitting import split
from selfright.ingest.transfer import export, import_corpus
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document
from tests.support.transfer import Shelf, read_lines

PLAIN = Document(
    "guide.md",
    "Guide",
    "Line one is here.\nLine two is there.",
    source="/srv/guide.md",
    url="https://guide.example",
    collection="manuals",
    metadata={"author": "Ines", "source": "print"},
)
KOREAN = document("ko/안내.md", "첫째 줄이다.\n둘째 줄이다.", "안내")


def filled(*documents: Document, embed: bool = True) -> Shelf:
    """A store with these documents, cut line by line; Korean passages have no vectors."""
    shelf = Shelf()
    for each in documents:
        _, passages = by_lines(each)
        known = [passage for passage in passages if passage.language == "en" and embed]
        matrix = WordHashes().embed([passage.text for passage in known])
        shelf.put([(each, passages)], {p.id: row for p, row in zip(known, matrix, strict=True)})
    shelf.commit()
    return shelf


def test_documents_as_rows(tmp_path: Path) -> None:
    shelf = filled(PLAIN, KOREAN)
    report = export(shelf, tmp_path / "out")
    assert (report.documents, report.vectors) == (2, 0)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["corpus.jsonl"]
    first, second = read_lines(tmp_path / "out" / "corpus.jsonl")
    assert first == {
        "_id": "guide.md",
        "title": "Guide",
        "text": PLAIN.text,
        "language": "en",
        "url": "https://guide.example",
        "collection": "manuals",
        "source": "/srv/guide.md",
        # What the document brought along stays its own.
        "metadata": {
            "language": "en",
            "url": "https://guide.example",
            "collection": "manuals",
            "source": "print",
            "author": "Ines",
        },
    }
    assert (second["_id"], second["language"], "url" in second) == ("ko/안내.md", "ko", False)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=12).filter(str.strip)
SHELVES = st.dictionaries(
    st.text("abcde가나/.-", min_size=1, max_size=8),
    st.tuples(st.lists(WORDS, min_size=1, max_size=4).map("\n".join), st.sampled_from(["", "Some title", "제목"])),
    max_size=6,
)


class Adding:
    """A store as ``ingest`` writes to it."""

    def __init__(self, shelf: Shelf) -> None:
        self.put, self.commit = shelf.put, shelf.commit

    def remove(self, document_ids: object) -> list[str]:
        raise AssertionError("adding removes nothing")


@settings(max_examples=25)
@given(texts=SHELVES)
def test_adding_what_was_exported_gives_the_same_documents(
    texts: dict[str, tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("round")
    before = Shelf()
    for name, (text, title) in texts.items():
        each = document(name, text, title)
        before.put([(each, split(each))])
    before.commit()
    export(before, folder / "out")
    after = Shelf()
    if texts:
        ingest([folder / "out" / "corpus.jsonl"], writer=Adding(after), library=after)
    assert set(after.committed) == set(before.committed)
    for name, (was, cut) in before.committed.items():
        now, again = after.committed[name]
        assert (now.title, now.text, now.language, now.collection) == (was.title, was.text, was.language, "default")
        assert [(p.id, p.start, p.end, p.section) for p in again] == [(p.id, p.start, p.end, p.section) for p in cut]


def test_importing_what_was_exported_embeds_nothing_and_gives_the_same(tmp_path: Path) -> None:
    before = filled(PLAIN, KOREAN)
    report = export(before, tmp_path / "out", dimension=64)
    assert (report.documents, report.vectors) == (2, 2)
    after, embedder = Shelf(), WordHashes()
    corpus, meta = tmp_path / "out" / "corpus.jsonl", tmp_path / "out" / "vectors.meta.jsonl"
    import_corpus(corpus, meta, FaissVectors(tmp_path / "out" / "vectors.faiss"), embedder, lambda: cast(Any, after))
    assert set(embedder.embedded) <= {passage.text for passage in before.passages().values()} | {
        f"{passage.heading}\n{passage.text}" for passage in before.passages().values()
    }
    assert after.passages() == before.passages()
    now = after.document("guide.md")
    assert now is not None
    assert (now.title, now.text, now.url, now.collection) == ("Guide", PLAIN.text, PLAIN.url, "manuals")
    assert PLAIN.metadata.items() <= now.metadata.items()
    for name, vector in before.vectors.items():
        assert np.array_equal(after.vectors[name], vector)
    assert len(after.vectors) == len(before.vectors)


def test_passages_keep_their_language(tmp_path: Path) -> None:
    both = document("both.md", "The first line is here.\n둘째 줄은 여기 있다.", "Both")
    _, cut = by_lines(both)
    first, second = replace(cut[0], language="en"), replace(cut[1], language="ko")
    shelf, after = Shelf(), Shelf()
    matrix = WordHashes().embed([first.text, second.text])
    shelf.put([(both, [first, second])], {first.id: matrix[0], second.id: matrix[1]})
    shelf.commit()
    export(shelf, tmp_path / "out", dimension=64)
    corpus, meta = tmp_path / "out" / "corpus.jsonl", tmp_path / "out" / "vectors.meta.jsonl"
    import_corpus(
        corpus, meta, FaissVectors(tmp_path / "out" / "vectors.faiss"), WordHashes(), lambda: cast(Any, after)
    )
    assert {passage.text: passage.language for passage in after.passages().values()} == {
        first.text: "en",
        second.text: "ko",
    }


def test_a_passage_without_a_vector_keeps_its_line(tmp_path: Path) -> None:
    export(filled(KOREAN), tmp_path / "o", dimension=64)
    meta = read_lines(tmp_path / "o" / "vectors.meta.jsonl")
    assert [line["embedded"] for line in meta] == [False, False]
    rows = FaissVectors(tmp_path / "o" / "vectors.faiss").rows([0, 1])
    assert not rows.any()
    assert rows.shape == (2, 64)


def test_an_empty_index_is_an_empty_file(tmp_path: Path) -> None:
    report = export(Shelf(), tmp_path / "out", dimension=64)
    assert report.documents == 0
    assert (tmp_path / "out" / "corpus.jsonl").read_bytes() == b""


def test_an_index_that_breaks_leaves_no_folder(tmp_path: Path) -> None:
    class Broken(Shelf):
        def document(self, document_id: str) -> Document | None:
            if document_id == KOREAN.id:
                raise OSError("the disk is gone")
            return super().document(document_id)

    broken = Broken()
    broken.committed = filled(PLAIN, KOREAN).committed
    with pytest.raises(OSError, match="the disk is gone"):
        export(broken, tmp_path / "new" / "out")
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "there").mkdir()
    with pytest.raises(OSError, match="the disk is gone"):
        export(broken, tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_a_folder_in_use_is_left_alone_unless_forced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(filled(PLAIN), out, dimension=64)
    (out / "queries.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"is not empty; .*--force"):
        export(filled(KOREAN), out)
    assert read_lines(out / "corpus.jsonl")[0]["_id"] == "guide.md"
    export(filled(KOREAN), out, force=True)
    assert read_lines(out / "corpus.jsonl")[0]["_id"] == "ko/안내.md"
    # The vectors belonged to the rows that are gone; what else lies there is not ours.
    assert sorted(path.name for path in out.iterdir()) == ["corpus.jsonl", "queries.jsonl"]
    with pytest.raises(InputError, match="is a file"):
        export(Shelf(), out / "queries.jsonl", force=True)


def test_a_row_is_one_line_whatever_the_text_holds(tmp_path: Path) -> None:
    text = 'a\u2028b\u0085c\r\nd"\\\n\x00\x1fe'
    shelf = Shelf()
    shelf.put([(Document("x", "t", text), [Passage("x#0", "x", "t", text, 0, len(text))])])
    shelf.commit()
    export(shelf, tmp_path / "out")
    data = (tmp_path / "out" / "corpus.jsonl").read_bytes()
    assert data.count(b"\n") == 1
    assert json.loads(data)["text"] == text
