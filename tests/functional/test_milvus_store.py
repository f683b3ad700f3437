"""An index in Milvus Lite: commits that were cut off, files that are taken, text that no condition could hold."""

import importlib.util
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selfright.domain.errors import IncompatibleIndex, IndexBusy, IndexNotFound, InputError, StoreError
from selfright.retrieval.stores.base import StoreBase
from selfright.retrieval.stores.opening import open_store
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER
from tests.support.passages import by_lines, document, ids, search

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("milvus_lite"), reason="needs the packages pymilvus and milvus-lite"
)


def at(file: Path, *, create: bool = True) -> StoreBase:
    return open_store(f"milvus://{file}", TOKENIZER, WordHashes(), create=create)


_WRITER = """
import sys
from pathlib import Path
from tests.functional.test_milvus_store import at
from tests.support.passages import by_lines, document
with at(Path(sys.argv[1])) as store:
    for number in range(10_000):
        store.put([by_lines(document(f"w{part}", f"Rope {number}.\\nKnot {number}.")) for part in range(40)])
        store.commit()
        print(number, flush=True)
"""


def test_an_index_is_made_without_waiting_where_there_is_nothing_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[object] = []
    handler = "pymilvus.client.grpc_handler.GrpcHandler.wait_for_creating_index"
    monkeypatch.setattr(handler, lambda *_, **named: waited.append(named) or (True, ""))
    with at(tmp_path / "index.db") as store:
        store.put([by_lines(document("keel", "A keel keeps a boat upright."))])
        store.commit()
        assert ids(search(store, "keel", 5)) == ["keel#0"]
    assert waited == []


def test_a_writer_that_is_killed_leaves_whole_documents_and_the_next_one_tidies_up(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(file)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert writer.stdout is not None
    last = [int(writer.stdout.readline()) for _ in range(2)][-1]
    with pytest.raises(IndexBusy, match="another process"):
        at(file)
    writer.send_signal(signal.SIGKILL)
    writer.stdout.close()
    writer.wait()
    with at(file) as store:
        store.remove(["w39"])
        store.commit()
        assert [entry.id for entry in store.documents()] == sorted(f"w{part}" for part in range(39))
        for entry in store.documents():
            whole = store.document(entry.id)
            assert whole is not None
            assert int(whole.text.split()[1].rstrip(".")) >= last
            assert store.passages_of(entry.id) == by_lines(whole)[1]
        found = [hit for hit in search(store, "rope", 1_000) if hit.bm25]
        assert len(found) == len(set(ids(found))) == 39
        assert store.info().passages == 78
        assert len(set(store.idf(["rope", "knot"]))) == 1


def test_a_change_that_cannot_begin_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(tmp_path / "index.db") as store, at(tmp_path / "index.db") as other:
        with monkeypatch.context() as broken:
            broken.setattr("selfright.retrieval.milvus.reading.IndexReader.refresh", _fail)
            with pytest.raises(StoreError, match="cut off"):
                store.put([by_lines(document("a", "A rope."))])
        other.put([by_lines(document("b", "A flag."))])
        other.commit()
        store.put([by_lines(document("a", "A rope."))])
        store.commit()
        assert [entry.id for entry in store.documents()] == ["a", "b"]


def test_a_commit_that_fails_half_way_is_put_right_by_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(tmp_path / "index.db") as store:
        store.put([by_lines(document("a", "A keel.\nA sail.")), by_lines(document("b", "An oar."))])
        store.commit()
        fresh = store.info()
        with monkeypatch.context() as broken:
            broken.setattr("selfright.retrieval.milvus.writing.Writing._delete", _fail)
            store.put([by_lines(document("a", "A rope.")), by_lines(document("c", "A flag."))])
            with pytest.raises(StoreError, match="cut off"):
                store.commit()
        store.remove(["b", "c"])
        store.put([by_lines(document("a", "A keel.\nA sail.")), by_lines(document("b", "An oar."))])
        store.commit()
        info = store.info()
        assert (info.documents, info.passages, info.languages) == (fresh.documents, fresh.passages, fresh.languages)
        assert [hit.passage.id for hit in search(store, "rope flag") if hit.bm25] == []
        assert store.idf(["rope"]) == store.idf(["unseen"])


def _fail(*_arguments: object) -> None:
    raise StoreError("cut off")


def test_names_and_texts_of_any_kind_are_kept_and_found(tmp_path: Path) -> None:
    odd = '"] or key > 0 or mark in ["' + "\\ \x00 '𝕏"
    with at(tmp_path / "index.db") as store:
        long = document(odd, "Line.\n" * 12_000, odd, odd)
        store.put([(long, by_lines(document(odd, "Line.", odd, odd))[1]), by_lines(document("b", "Line."))])
        store.commit()
        assert store.document(odd) == long
        assert {hit.passage.document_id for hit in search(store, "line", collections=[odd])} == {odd}
        assert store.remove([odd]) == [odd]
        store.commit()
        assert [entry.id for entry in store.documents()] == ["b"]
        with pytest.raises(InputError, match="65,000 bytes"):
            store.put([by_lines(document("c", "word " * 20_000))])
        store.commit()
        assert store.info().documents == 1


def test_another_embedder_is_refused_and_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound, match="index add"):
        at(tmp_path / "index.db", create=False)
    assert not (tmp_path / "index.db").exists()
    at(tmp_path / "index.db").close()
    with pytest.raises(IncompatibleIndex, match="word-hashes"):
        open_store(f"milvus://{tmp_path / 'index.db'}", TOKENIZER, None)
