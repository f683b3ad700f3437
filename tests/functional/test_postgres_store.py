"""An index in PostgreSQL when things go wrong: servers that restart, writers that die, tables of somebody else."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from selfright.domain.errors import (
    IncompatibleIndex,
    IndexBusy,
    IndexNotFound,
    NotAnIndex,
    StoreUnavailable,
    UsageError,
)
from selfright.retrieval.stores.base import StoreBase
from selfright.retrieval.stores.opening import open_store
from selfright.retrieval.tokenizer import BilingualTokenizer
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER
from tests.support.passages import by_lines, document, ids, search
from tests.support.postgres import PostgresServer

BOATS = [by_lines(document(f"boat{n}", f"Boat {n} has a keel and a sail.", "Boats")) for n in range(3)]


def at(uri: str, *, create: bool = True) -> StoreBase:
    return open_store(uri, TOKENIZER, WordHashes(), create=create)


@pytest.fixture
def store(database: str) -> Iterator[StoreBase]:
    with at(database) as opened:
        opened.put(BOATS)
        opened.commit()
        yield opened


def test_searches_outlive_a_restart_of_the_server(store: StoreBase, postgres: PostgresServer) -> None:
    before = search(store, "keel")
    postgres.restart(kill=True)
    assert search(store, "keel") == before
    down = threading.Thread(target=lambda: postgres.restart(down_s=0.5))
    down.start()
    found = [search(store, "keel") for _ in range(20)]
    down.join()
    assert found == [before] * 20


def test_what_was_not_committed_when_the_server_restarts_is_gone_and_said_to_be(
    store: StoreBase, postgres: PostgresServer
) -> None:
    store.put([by_lines(document("late", "A rope."))])
    postgres.restart(kill=True)
    with pytest.raises(StoreUnavailable):
        store.put([by_lines(document("later", "An oar."))])
    with pytest.raises(StoreUnavailable, match="nothing since the last commit is kept"):
        store.commit()  # the oar alone would be half of what was wanted
    store.put([by_lines(document("late", "A rope."))])
    store.commit()
    assert [entry.id for entry in store.documents()] == ["boat0", "boat1", "boat2", "late"]


def test_an_idle_writer_writes_again_after_a_restart(store: StoreBase, postgres: PostgresServer) -> None:
    postgres.restart()
    assert store.remove(["boat1"]) == ["boat1"]
    store.commit()
    assert set(ids(search(store, "keel"))) == {"boat0#0", "boat2#0"}


_WRITER = """
import sys
from tests.functional.test_postgres_store import at
from tests.support.passages import by_lines, document
with at(sys.argv[1]) as store:
    for number in range(10_000):
        store.put([by_lines(document(f"w{number}-{part}", f"Rope {number}.")) for part in range(3)])
        store.commit()
        print(number, flush=True)
"""


def test_a_writer_that_is_killed_leaves_whole_commits_and_no_lock(store: StoreBase, database: str) -> None:
    command = [sys.executable, "-c", _WRITER, database]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert writer.stdout is not None
    lines = [int(writer.stdout.readline()) for _ in range(5)]
    writer.send_signal(signal.SIGKILL)
    lines += [int(line) for line in writer.stdout]
    writer.stdout.close()
    writer.wait()
    store.remove(["boat0"])
    store.commit()
    written = [entry.id for entry in store.documents() if entry.id.startswith("w")]
    assert len(written) in (3 * (lines[-1] + 1), 3 * (lines[-1] + 2))
    assert store.info().passages == len(written) + 2
    assert len([hit for hit in search(store, "rope", 1_000) if hit.bm25]) == len(written)


def test_many_may_make_the_same_index_at_the_same_time(database: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: at(database), range(6)))
    try:
        stores[0].put(BOATS)
        stores[0].commit()
        assert [store.info().documents for store in stores] == [3] * 6
    finally:
        for store in stores:
            store.close()


def test_the_holder_of_the_lock_is_named(store: StoreBase, database: str) -> None:
    store.remove(["boat0"])
    with at(database) as other, pytest.raises(IndexBusy, match=r"selfright writer .*server process \d+"):
        other.put(BOATS)


def test_removed_text_is_in_no_table(store: StoreBase, database: str) -> None:
    import psycopg

    store.put([by_lines(document("secret", "Xylophonic zugzwang.", "Quixotry", "quokkas"))])
    store.commit()
    store.remove(["secret"])
    store.commit()
    with psycopg.connect(database) as connection:
        names = [
            row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'selfright_index'")
        ]
        assert {"documents", "passages", "terms", "postings", "vectors"} <= set(names)
        for name in set(names) - {"tally"}:  # how many documents a collection had is no text
            rows = str(connection.execute(f"SELECT * FROM selfright_index.{name}").fetchall()).lower()
            assert not [word for word in ("xylo", "zugzw", "quix", "secret") if word in rows], name


def test_what_is_no_index_of_this_program_is_not_touched(database: str) -> None:
    import psycopg

    with pytest.raises(IndexNotFound, match="index add"):
        at(database, create=False)
    with psycopg.connect(database) as connection:
        connection.execute("CREATE SCHEMA theirs CREATE TABLE papers (text text)")
    with pytest.raises(NotAnIndex, match="theirs"):
        at(f"{database}?schema=theirs")
    at(database).close()
    for tokenizer, embedder in ((TOKENIZER, None), (TOKENIZER, WordHashes("another")), (BilingualTokenizer(), None)):
        with pytest.raises(IncompatibleIndex):
            open_store(database, tokenizer, embedder)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE selfright_index.about SET value = '99' WHERE name = 'version'")
    with pytest.raises(IncompatibleIndex, match="newer"):
        at(database)


def test_passwords_are_shown_nowhere(database: str, caplog: pytest.LogCaptureFixture) -> None:
    with_password = database.replace("postgres@", "postgres:s3cr3t@")
    with at(with_password) as store:
        assert "s3cr3t" not in store.info().location
        assert "s3cr3t" not in repr(vars(store))
    wrong = with_password.replace("127.0.0.1:", "127.0.0.1:1")[:60] + "?connect_timeout=1"
    for address in (wrong, with_password.replace("/test_", "/missing_")):
        with pytest.raises((StoreUnavailable, UsageError)) as error:
            at(address)
        assert "s3cr3t" not in str(error.value)
    assert "s3cr3t" not in caplog.text


def test_many_vectors_are_searched_by_a_graph(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(database) as store:
        texts = [f"{chr(97 + n % 26)}{n} wind {n % 7} boat {n % 11} keel {n % 13}" for n in range(300)]
        store.put([by_lines(document(f"d{n}", text, collection=f"c{n % 3}")) for n, text in enumerate(texts)])
        store.commit()
        assert store.info().dense_kind == "exact"
        exact = [ids(search(store, text)) for text in texts[::30]]
        among = [ids(search(store, text, collections=["c1"])) for text in texts[::30]]
        for module in ("reading", "writing"):
            monkeypatch.setattr(f"selfright.retrieval.postgres.{module}.EXACT_MOST", 50)
        store.put([by_lines(document("one", "more"))])
        store.remove(["one"])
        store.commit()
        assert store.info().dense_kind == "hnsw (pgvector)"
        for before, text in zip(exact, texts[::30], strict=True):
            assert len(set(before) & set(ids(search(store, text)))) >= 9
        for before, text in zip(among, texts[::30], strict=True):
            assert len(set(before) & set(ids(search(store, text, collections=["c1"])))) >= 9
