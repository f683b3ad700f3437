"""What is the embedded store's own: which folders it opens, one writer, and search indexes that mend themselves."""

import asyncio
import json
import logging
import multiprocessing
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import IncompatibleIndex, IndexBusy, IndexDamaged, IndexNotFound, NotAnIndex, StoreError
from selfright.domain.passages import DocumentInfo
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval import catalogue
from selfright.retrieval.fusion import ReciprocalRankFusion
from selfright.retrieval.records import seal
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER
from tests.support.passages import BOATS, KITES, KOREAN, by_lines, document, ids, search


@dataclass(frozen=True)
class OtherTokenizer:
    name: str = "other-1"

    def tokens(self, text: str) -> list[str]:
        return text.split()

    def translations(self, _term: str) -> tuple[()]:
        return ()


def create(path: Path, embedder: Embedder | None = None) -> EmbeddedStore:
    return EmbeddedStore.create(path, TOKENIZER, embedder or WordHashes())


def reopen(path: Path, embedder: Embedder | None = None) -> EmbeddedStore:
    return EmbeddedStore.open(path, TOKENIZER, embedder or WordHashes())


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with create(path) as store:
        store.put([by_lines(BOATS), by_lines(KITES), by_lines(KOREAN)])
        store.commit()
    return path


def test_a_page_of_documents_is_read_from_where_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_BATCH", 20)
    read: list[str] = []
    info_of = catalogue.info_of

    def watched(row: Sequence[Any], path: Path) -> DocumentInfo:
        read.append(str(row[0]))
        return info_of(row, path)

    monkeypatch.setattr(catalogue, "info_of", watched)
    with create(tmp_path / "index") as store:
        names = [f"d{number:03}" for number in range(300)]
        store.put([by_lines(document(name, f"Text of {name}.")) for name in names])
        store.commit()
        pages, after = [], ""
        while page := [info.id for info in islice(store.documents(after), 15)]:
            pages += page
            after = page[-1]
        assert pages == names
        assert len(read) == 300  # each line once, whatever page it stands on


# Which folders are opened


@pytest.mark.parametrize("place", ["missing", "empty"])
def test_no_index_says_how_to_make_one(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(IndexNotFound, match="selfright index add"):
        reopen(tmp_path / place)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotAnIndex, match=r"catalogue\.sqlite"):
        reopen(tmp_path)
    with pytest.raises(NotAnIndex, match="has content"):
        create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "catalogue.sqlite")) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(NotAnIndex, match="another program"):
        reopen(tmp_path)


def test_a_catalogue_that_is_no_database_is_named(index: Path) -> None:
    (index / "catalogue.sqlite").write_bytes(b"x" * 5_000)
    with pytest.raises(IndexDamaged, match=r"catalogue\.sqlite"):
        reopen(index)


def test_what_a_crash_while_making_an_index_leaves_is_no_obstacle(tmp_path: Path) -> None:
    for name in ("catalogue.sqlite.new", "catalogue.sqlite.new-journal", "writer.lock"):
        (tmp_path / name).write_bytes(b"half")
    with pytest.raises(IndexNotFound):
        reopen(tmp_path)
    with create(tmp_path) as store:
        assert store.info().documents == 0


def test_another_format_is_refused(index: Path) -> None:
    with closing(sqlite3.connect(index / "catalogue.sqlite")) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(IncompatibleIndex, match="index format 99, but is opened with 5"):
        reopen(index)


@pytest.mark.parametrize(
    ("tokenizer", "embedder", "message"),
    [
        (OtherTokenizer(), WordHashes(), "tokenizer bilingual-2-bigrams-1, but is opened with other-1"),
        (TOKENIZER, WordHashes("other"), r"word-hashes \(64 dimensions\), but is opened with other \(64 dimensions\)"),
        (TOKENIZER, WordHashes(dimension=32), r"opened with word-hashes \(32 dimensions\)"),
        (TOKENIZER, None, r"opened with none \(0 dimensions\)"),
    ],
)
def test_another_tokenizer_or_embedder_is_refused(
    index: Path, tokenizer: Tokenizer, embedder: Embedder | None, message: str
) -> None:
    with pytest.raises(IncompatibleIndex, match=message):
        EmbeddedStore.open(index, tokenizer, embedder)


# One writer


def test_what_was_not_committed_frees_the_lock_when_it_is_dropped(index: Path) -> None:
    with reopen(index) as first, reopen(index) as second:
        first.put([by_lines(document("dropped", "Never committed."))])
        first.close()
        second.put([by_lines(document("kept", "Committed."))])
        second.commit()
        assert [entry.id for entry in second.documents()] == ["boats", "kept", "kites", "yeon"]


def test_a_writer_that_cannot_begin_frees_the_lock(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_arguments: object, **_named: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    with reopen(index) as store, reopen(index) as other:
        with monkeypatch.context() as broken:
            broken.setattr("selfright.retrieval.catalogue_file.sqlite3.connect", no_room)
            with pytest.raises(StoreError, match="unable to open"):
                store.remove(["a"])
        other.remove(["a"])
        other.discard()
        store.remove(["a"])


def test_what_fails_half_way_changes_no_count(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*_: object) -> None:
        raise StoreError("the disk is full")

    with reopen(index) as store:
        store.put([by_lines(document("one", "A text."))])
        with monkeypatch.context() as broken:
            broken.setattr("selfright.retrieval.catalogue_writer.CatalogueWriter._insert", full_disk)
            with pytest.raises(StoreError, match="full"):
                store.put([by_lines(document("two", "Another text."))])
        store.commit()
        assert store.info().documents == 4
        assert store.verify() == []


def _hold(path: Path, pipe: Connection) -> None:
    with reopen(path) as store:
        store.put([by_lines(document("held", "Held by another process."))])
        pipe.send("written")
        pipe.recv()
        store.commit()


def test_a_second_writer_is_told_who_writes_while_readers_go_on(index: Path) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=_hold, args=(index, there))
    other.start()
    assert here.poll(60)
    assert here.recv() == "written"
    with reopen(index) as store:
        with pytest.raises(IndexBusy, match=str(other.pid)):
            store.remove(["boats"])
        assert ids(search(store, "keel"))[0] == "boats#0"
        assert search(store, "held")[0].bm25 is None
        here.send("commit")
        other.join()
        assert ids(search(store, "held by another"))[0] == "held#0"
        assert store.remove(["boats"]) == ["boats"]


def test_searching_goes_on_in_threads_while_one_writes(index: Path) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def read(store: EmbeddedStore) -> None:
        try:
            while not done.is_set():
                assert "kites#0" in ids(search(store, "kite wind"))
        except BaseException as error:
            failures.append(error)

    with reopen(index) as store:
        readers = [threading.Thread(target=read, args=(store,)) for _ in range(2)]
        for reader in readers:
            reader.start()
        for number in range(5):
            store.put([by_lines(document("boats", f"Boat number {number} has a keel."))])
            store.commit()
        done.set()
        for reader in readers:
            reader.join()
    assert failures == []


# Search indexes mend themselves


def _delete_lexical(path: Path) -> None:
    shutil.rmtree(path / "lexical")


def _delete_dense(path: Path) -> None:
    shutil.rmtree(path / "dense")


def _truncate_vectors(path: Path) -> None:
    (vectors,) = path.glob("dense/tail-*")
    vectors.write_bytes(vectors.read_bytes()[:20])


def _flip_a_byte_of_vectors(path: Path) -> None:
    (vectors,) = path.glob("dense/tail-*")
    content = bytearray(vectors.read_bytes())
    content[-30] ^= 0xFF
    vectors.write_bytes(bytes(content))


def _truncate_segments(path: Path) -> None:
    for file in path.glob("lexical/segments-*/*.idx"):
        file.write_bytes(file.read_bytes()[:10])


def _delete_segments(path: Path) -> None:
    for file in path.glob("lexical/segments-*/*.term"):
        file.unlink()


def _garble_states(path: Path) -> None:
    for state in path.glob("*/state.json"):
        state.write_text('{"sequence": ')


def _claim_another_identity(path: Path) -> None:
    for file in path.glob("*/state.json"):
        state = json.loads(file.read_text())["state"] | {"identity": "another index"}
        file.write_text(json.dumps({"state": state, "seal": seal(json.dumps(state, sort_keys=True))}))


@pytest.mark.parametrize(
    ("damage", "reports"),
    [
        (_delete_lexical, []),  # a folder that is not there may be new
        (_delete_dense, []),
        (_truncate_vectors, [r"dense index .*tail-\d+ has 20 bytes where"]),
        (_flip_a_byte_of_vectors, [r"dense index .*tail-\d+ is damaged"]),
        (_truncate_segments, [r"lexical index .*\.idx has 10 bytes where"]),
        (_delete_segments, [r"lexical index .*\.term is missing"]),
        (_garble_states, [r"lexical index .*state\.json is damaged", r"dense index .*state\.json is damaged"]),
        (_claim_another_identity, [r"lexical index .*belongs to another", r"dense index .*belongs to another"]),
    ],
)
def test_a_damaged_search_index_is_reported_and_made_anew_without_embedding(
    index: Path, damage: Callable[[Path], None], reports: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    queries = ("keel wind", "바람이 난다", "kite")
    with reopen(index) as store:
        before = [search(store, query) for query in queries]
    damage(index)
    embedder = WordHashes()
    with reopen(index, embedder) as store:
        assert embedder.embedded == []
        assert [search(store, query) for query in queries] == before
    found = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(found) == len(reports)
    for message, pattern in zip(found, reports, strict=True):
        assert re.search(pattern, message)


def test_a_sound_index_is_opened_as_it_is(index: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {path: path.stat().st_mtime_ns for path in index.glob("*/state.json")}
    with caplog.at_level(logging.INFO, "selfright"), reopen(index) as store:
        search(store, "wind")
    assert {path: path.stat().st_mtime_ns for path in index.glob("*/state.json")} == files
    assert caplog.records == []


@pytest.mark.parametrize("kept", ["lexical", "dense"])
def test_a_projection_that_stayed_behind_catches_up(index: Path, tmp_path: Path, kept: str) -> None:
    # As after a crash between the catalogue's commit and the projection's: the projection is an older one.
    shutil.copytree(index / kept, tmp_path / "older")
    with reopen(index) as store:
        store.put([by_lines(document("kites", "Kites need string."))])
        store.commit()
    shutil.rmtree(index / kept)
    shutil.copytree(tmp_path / "older", index / kept)
    with reopen(index) as store:
        assert ids(search(store, "string"))[0] == "kites#0"
        assert all("flies" not in hit.passage.text for hit in search(store, "kite flies"))


def test_applying_the_same_changes_twice_changes_nothing(index: Path) -> None:
    with reopen(index) as store:
        (state_file,) = index.glob("lexical/state.json")
        older = state_file.read_text()
        store.put([by_lines(document("new", "A new boat with a keel."))])
        store.commit()
        before = search(store, "keel boat")
    state_file.write_text(older)  # as after a crash between tantivy's commit and the state
    with reopen(index) as store:
        assert search(store, "keel boat") == before
        assert store.idf(["keel"]) == store.idf(["upright"]) or len(before) > 1


# Vectors


def test_a_text_is_embedded_once(index: Path) -> None:
    embedder = WordHashes()
    with reopen(index, embedder) as store:
        store.put([by_lines(document("boats", BOATS.text + "\nOars help.", "Boats"))])
        store.commit()
        assert embedder.embedded == ["Boats\nOars help."]
        search(store, "oars")
        search(store, "oars")
    assert embedder.embedded == ["Boats\nOars help.", "oars"]


def test_only_languages_that_the_embedder_knows_are_embedded(tmp_path: Path) -> None:
    english, multilingual = WordHashes(), WordHashes(languages=())
    for name, embedder in (("english", english), ("multilingual", multilingual)):
        with create(tmp_path / name, embedder) as store:
            store.put([by_lines(KITES), by_lines(KOREAN)])
            store.commit()
            (korean,) = [hit for hit in search(store, "바람이 난다", 2) if hit.passage.id == "yeon#0"]
            assert (korean.dense is None) == (embedder is english)
    assert [text for text in english.embedded if "연" in text] == []
    assert [text for text in multilingual.embedded if "연" in text] == ["연\n연은 바람이 있어야 난다."]


def test_another_fusion_over_the_same_index(index: Path) -> None:
    with reopen(index) as store:
        plain = store.with_fusion(ReciprocalRankFusion(1))
        for searched in (store, plain):  # the embedder knows English alone
            assert all(hit.dense is None for hit in search(searched, "바람이 kite"))
            assert any(hit.dense is not None for hit in search(searched, "wind and kite"))
        assert search(plain, "kite")[0].rrf_score != search(store, "kite")[0].rrf_score


def test_the_querys_vector_is_given_back(index: Path) -> None:
    with reopen(index) as store:
        vector = asyncio.run(store.search("wind", 3)).query_vector
        assert vector is not None
        assert sum(x * x for x in vector) == pytest.approx(1, abs=1e-5)
        assert asyncio.run(store.search("바람", 3)).query_vector is None
