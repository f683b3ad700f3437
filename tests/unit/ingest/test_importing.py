"""An index made elsewhere comes in: each vector at its text, or a clear word why not, and never a half of it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from selfright.domain.errors import EmbeddingFailed, InputError, UnreadableFile
from selfright.domain.stores import Store
from selfright.ingest.transfer import ImportReport, import_corpus
from tests.support.embedders import WordHashes
from tests.support.transfer import Matrix, Shelf, write_lines

CORPUS = [
    {"id": "tide", "title": "Tides", "text": "The tide turns every six hours."},
    {"id": "lamp", "text": "The lamp is changed every ninety days."},
    {"id": "등대", "text": "등대의 등은 구십 일마다 교체한다."},
]
TEXTS = [row["text"] for row in CORPUS]


class Files:
    """Runs an import of what is given as rows, with vectors of the texts in ``of``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedder = WordHashes()
        self.shelf = Shelf()

    def __call__(
        self,
        corpus: Sequence[Any] = CORPUS,
        meta: Sequence[Any] | None = None,
        of: Sequence[str] | NDArray[np.float32] | None = TEXTS,
        embedder: Any = "own",
        collection: str | None = None,
    ) -> ImportReport:
        corpus_file = write_lines(self.folder / "c.jsonl", corpus)
        meta_file = write_lines(self.folder / "x.meta.jsonl", meta) if meta is not None else None
        vectors: Any = None
        if of is not None:
            vectors = Matrix(of if isinstance(of, np.ndarray) else WordHashes().embed(of), "a note")
        used = self.embedder if embedder == "own" else embedder
        return import_corpus(corpus_file, meta_file, vectors, used, lambda: cast(Store, self.shelf), collection)

    def assert_matched(self) -> None:
        """Every stored vector is that of the passage it is stored for."""
        for name, passage in self.shelf.passages().items():
            assert np.allclose(self.shelf.vectors[name], WordHashes().embed([passage.text])[0], atol=1e-6), name


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


Reference = Callable[[int, dict[str, str]], dict[str, object]]
REFERENCES: dict[str, Reference] = {
    "_id": lambda _, row: {"_id": row["id"]},
    "doc_id and own number": lambda _, row: {"doc_id": row["id"], "text": row["text"]},
    "index": lambda n, _: {"index": n},
    "index and text": lambda n, row: {"index": n, "text": f"{row['text']} "},
    "text": lambda _, row: {"text": row["text"], "source": "elsewhere"},
    "id and index": lambda n, row: {"id": row["id"], "index": n},
}


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_each_vector_comes_to_its_text(files: Files, kind: str, order: tuple[int, ...]) -> None:
    meta = [REFERENCES[kind](n, CORPUS[n]) for n in order]
    report = files(meta=meta, of=[TEXTS[n] for n in order])
    assert report == ImportReport(added=3, replaced=0, passages=3, vectors=3, notes=("a note",))
    assert set(files.shelf.committed) == {"tide", "lamp", "등대"}
    assert files.shelf.document("등대").language == "ko"
    assert len(files.shelf.commits) == 1
    files.assert_matched()


@given(data=st.data(), count=st.integers(1, 12))
def test_no_order_and_no_mixture_of_references_confuses(
    data: st.DataObject, count: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = Files(tmp_path_factory.mktemp("mixed"))
    corpus = [{"id": f"d{n}", "text": f"word{n} and {n % 3} more"} for n in range(count)]
    order = data.draw(st.permutations(range(count)))
    kinds = data.draw(st.lists(st.sampled_from(sorted(REFERENCES)), min_size=count, max_size=count))
    meta = [REFERENCES[kind](n, corpus[n]) for kind, n in zip(kinds, order, strict=True)]
    report = files(corpus, meta, [corpus[n]["text"] for n in order])
    assert (report.added, report.vectors) == (count, count)
    files.assert_matched()


def test_rows_without_ids_are_named_by_their_line_and_found_by_number_or_text(files: Files) -> None:
    corpus = [{"text": text} for text in TEXTS]
    files(corpus, [{"index": 2}, {"index": 0}, {"text": TEXTS[1]}], [TEXTS[2], TEXTS[0], TEXTS[1]])
    assert sorted(files.shelf.committed) == ["c.jsonl:1", "c.jsonl:2", "c.jsonl:3"]
    files.assert_matched()


def test_a_number_beside_an_id_may_count_the_vectors(files: Files) -> None:
    meta = [{"id": CORPUS[n]["id"], "index": place} for place, n in enumerate((2, 0, 1))]
    files(meta=meta, of=[TEXTS[2], TEXTS[0], TEXTS[1]])
    files.assert_matched()


def test_the_same_text_twice_is_certain_only_where_it_stands(files: Files) -> None:
    corpus = [{"id": "a", "text": "same"}, {"id": "b", "text": "same"}, {"id": "c", "text": "other"}]
    report = files(corpus, [{"text": "same"}, {"text": "same"}, {"text": "other"}], ["same", "same", "other"])
    assert report.added == 3
    with pytest.raises(UnreadableFile, match=r"x\.meta\.jsonl: line 1: several rows .* name the row"):
        files(corpus[::-1], [{"text": "same"}, {"text": "same"}, {"text": "other"}], ["same", "same", "other"])


def test_parts_of_a_row_become_its_passages(files: Files) -> None:
    text = "Ebb and flow.\n\nThe moon pulls the sea."
    corpus = [{"_id": "sea", "title": "Sea", "text": text, "url": "https://sea.example"}]
    parts = [(15, 38), (0, 13)]
    meta = [{"doc_id": "sea", "start": s, "end": e, "text": text[s:e], "section": "Moon"} for s, e in parts]
    report = files(corpus, meta, [text[s:e] for s, e in parts])
    assert (report.added, report.passages) == (1, 2)
    passages = files.shelf.passages()
    assert [(p.id, p.start, p.text) for p in passages.values()] == [
        ("sea#0", 0, "Ebb and flow."),
        ("sea#1", 15, "The moon pulls the sea."),
    ]
    assert passages["sea#1"].heading == "Sea > Moon"
    assert passages["sea#1"].url == "https://sea.example"
    files.assert_matched()


BAD_META = [
    ([{"id": "tide"}, {"id": "lamp"}, {"id": "gone"}], r"line 3: no row of the corpus has the id 'gone'"),
    ([{"id": "tide"}, {"id": "lamp"}, {"index": 3}], r"line 3: no row of the corpus has the index 3; .* from 0"),
    ([{"id": "tide"}, {"id": "lamp"}, {"index": -1}], r"line 3: no row of the corpus has the index -1"),
    ([{"id": "tide"}, {"id": "lamp"}, {"text": "else"}], r"line 3: no row of the corpus has its 'text'"),
    ([{"id": "tide"}, {"id": "lamp"}, {"id": "등대", "text": "else"}], r"line 3: its 'text' is not that of the row"),
    ([{"id": "tide"}, {"id": "tide"}, {"id": "등대"}], r"line 2: it points to the same text .* of line 1"),
    ([{"id": "tide"}, {"title": "Lamp"}, {"id": "등대"}], r"line 2: it names no row of the corpus"),
    ([{"id": "tide"}, "", "[1]", {"id": "등대"}], r"line 3: expected an object"),
    ([{"id": "tide"}, '{"id": "lamp"', {"id": "등대"}], r"line 2: not JSON"),
    ([{"id": 1}, {"id": 0}, {"id": 2}], r"line 1: no row of the corpus has the id '1'"),
    ([{"id": "tide", "start": 0, "end": 99}, {"id": "lamp"}, {"id": "등대"}], r"line 1: 'start' 0 and 'end' 99 must"),
    ([{"id": "tide", "start": "4"}, {"id": "lamp"}, {"id": "등대"}], r"line 1: 'start' 4 and 'end' 31 must"),
    ([{"id": "tide"}, {"id": "lamp"}], r"2 lines for the 3 rows of c\.jsonl: none of them points to line 3"),
    ([{"id": "tide"}, {"id": "no"}, {"id": "a"}, {"id": "b"}], r"line 2: no row of the corpus has the id 'no'"),
]


@pytest.mark.parametrize(("meta", "words"), BAD_META)
def test_what_is_not_certain_is_refused_with_its_line(files: Files, meta: list[Any], words: str) -> None:
    with pytest.raises(UnreadableFile, match=r"x\.meta\.jsonl: " + words):
        files(meta=meta)
    assert files.shelf.given == []


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ([CORPUS[0], '{"text": "open', CORPUS[2]], "line 2: not JSON"),
        ([CORPUS[0], {"id": "x"}, CORPUS[2]], "line 2: expected a string as 'text', but it is missing"),
        ([CORPUS[0], {"id": "x", "text": " "}], "line 2: its 'text' is empty"),
        ([CORPUS[0], CORPUS[1], CORPUS[0]], "line 3: its id 'tide' is that of line 1"),
        ([], "there are no rows in it"),
    ],
)
def test_a_bad_row_stops_the_import_and_is_named(files: Files, corpus: list[Any], words: str) -> None:
    with pytest.raises(UnreadableFile, match=r"c\.jsonl: " + re.escape(words)):
        files(corpus, [{"index": n} for n in range(3)])
    assert files.shelf.given == []


def by_number() -> list[dict[str, int]]:
    return [{"index": n} for n in range(3)]


def test_counts_must_agree(files: Files) -> None:
    with pytest.raises(InputError, match=r"has 2 vectors, but the \.meta\.jsonl has 3 lines"):
        files(meta=by_number(), of=TEXTS[:2])


def test_the_dimension_must_be_the_embedders(files: Files) -> None:
    with pytest.raises(InputError, match=r"64 dimensions, but the embedder small makes 8"):
        files(meta=by_number(), embedder=WordHashes("small", 8))


def test_vectors_of_another_embedder_are_refused(files: Files) -> None:
    noise = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    with pytest.raises(InputError, match=r"not those of the embedder word-hashes, .* cosine for line 1 .*--embedder"):
        files(meta=by_number(), of=noise)
    with pytest.raises(InputError, match="belong to other texts"):
        files(meta=by_number(), of=TEXTS[::-1])
    assert files.shelf.given == []


def test_vectors_of_text_with_its_title_are_this_embedders_too(files: Files) -> None:
    report = files([CORPUS[0]], [{"index": 0}], [f"Tides\n{TEXTS[0]}"])
    assert report.vectors == 1


def test_an_embedder_out_of_reach_stops_nothing(files: Files) -> None:
    class Away(WordHashes):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise EmbeddingFailed("no connection")

    assert files(meta=by_number(), embedder=Away()).vectors == 3


def test_words_only_indexes_take_no_vectors(files: Files) -> None:
    with pytest.raises(InputError, match=r"words alone .* --no-vectors"):
        files(meta=by_number(), embedder=None)
    assert files(meta=None, of=None, embedder=None).vectors == 0


def test_texts_alone_are_left_to_the_store_to_embed(files: Files) -> None:
    assert files(of=None) == ImportReport(added=3, replaced=0, passages=3, vectors=0, notes=())
    assert files.shelf.given == [None]
    assert files.embedder.embedded == []


def test_nothing_but_a_sample_is_embedded(files: Files) -> None:
    corpus = [{"text": f"row number {n}"} for n in range(300)]
    files(corpus, [{"index": n} for n in range(300)], [str(row["text"]) for row in corpus])
    assert 5 <= len(files.embedder.embedded) <= 8
    spread = [int(text.split()[-1]) for text in files.embedder.embedded]
    assert min(spread) < 60
    assert max(spread) > 220


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_without_a_direction_is_named(files: Files, value: float) -> None:
    matrix = WordHashes().embed(TEXTS)
    matrix[1] = value
    with pytest.raises(UnreadableFile, match=r"some\.faiss: vector 1 \(line 2 of the \.meta\.jsonl\)"):
        files(meta=by_number(), of=matrix)


def test_a_vector_that_is_said_to_be_none_is_left_out(files: Files) -> None:
    matrix = WordHashes().embed(TEXTS)
    matrix[2] = 0
    report = files(meta=[{"index": 0}, {"index": 1}, {"index": 2, "embedded": False}], of=matrix)
    assert (report.passages, report.vectors) == (3, 2)
    assert set(files.shelf.vectors) == {"tide#0", "lamp#0"}


def test_vectors_are_scaled_to_length_one_and_else_kept_to_the_last_bit(files: Files) -> None:
    matrix = WordHashes().embed(TEXTS)
    scaled = matrix * np.array([[1.0], [3.0], [0.1]], dtype=np.float32)
    files(meta=by_number(), of=scaled)
    stored = np.stack([files.shelf.vectors[f"{row['id']}#0"] for row in CORPUS])
    assert np.array_equal(stored[0], matrix[0])
    assert np.allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-6)
    assert np.allclose(stored, matrix, atol=1e-6)


def test_part_texts_are_checked_and_a_failure_leaves_nothing(files: Files) -> None:
    meta = [{"id": row["id"], "start": 0, "end": 8, "text": row["text"][:8]} for row in CORPUS]
    wrong = [*meta[:2], {**meta[2], "text": "else"}]
    of = [row["text"][:8] for row in CORPUS]
    with pytest.raises(UnreadableFile, match=r"line 3: its 'text' is not that of '등대' from 0 to 8"):
        files(meta=wrong, of=of)
    assert (files.shelf.pending, files.shelf.commits) == ({}, [])
    files.shelf.given.clear()
    assert files(meta=meta, of=of).added == 3


def test_a_store_that_fails_in_the_middle_keeps_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.shelf = Shelf(fails_at=2)
    corpus = [{"text": f"row {n}"} for n in range(1_300)]
    with pytest.raises(OSError, match="no space"):
        files(corpus, [{"index": n} for n in range(1_300)], [row["text"] for row in corpus])
    assert len(files.shelf.given) == 2
    assert (files.shelf.pending, files.shelf.committed) == ({}, {})


def test_importing_again_replaces(files: Files) -> None:
    files(meta=by_number())
    files.shelf.given.clear()
    report = files(meta=by_number(), collection="sea")
    assert (report.added, report.replaced) == (0, 3)
    assert files.shelf.document("lamp").collection == "sea"
    assert {passage.collection for passage in files.shelf.passages().values()} == {"sea"}


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file: .*none\.jsonl"):
        import_corpus(tmp_path / "none.jsonl", None, None, None, lambda: cast(Any, Shelf()))
    corpus = write_lines(tmp_path / "c.jsonl", CORPUS)
    vectors = cast(Any, Matrix(WordHashes().embed(TEXTS)))
    with pytest.raises(InputError, match=r"need the \.meta\.jsonl"):
        import_corpus(corpus, None, vectors, WordHashes(), lambda: cast(Any, Shelf()))
