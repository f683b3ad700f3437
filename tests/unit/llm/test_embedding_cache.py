"""Vectors kept on disk: never a wrong one, never a text, bounded, shared, and dispensable at any moment."""

import logging
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from selfright.llm import embedding_cache
from selfright.llm.embedding_cache import CachedEmbedder
from tests.support.embedders import WordHashes

TEXTS = ["a lamp", "등대지기", "the north pier", ""]


class Sided(WordHashes):
    """Embeds a question in another way than a passage."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.embedded.append(f"query: {text}")
        return -super()._vector(text)


Opener = Callable[..., CachedEmbedder]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cached(path: Path) -> Iterator[Opener]:
    """Opens cached embedders over one file, and closes them in the end."""
    opened = []

    def open_(embedder: WordHashes, **options: int) -> CachedEmbedder:
        opened.append(CachedEmbedder(embedder, path, **options))
        return opened[-1]

    yield open_
    for embedder in opened:
        embedder.close()


def filled(cached: Opener, texts: Sequence[str] = TEXTS) -> NDArray[np.float32]:
    """Vectors that are in the file now."""
    embedder = cached(WordHashes())
    vectors = embedder.embed(texts)
    embedder.close()
    return vectors


def test_vectors_are_the_embedder_s_own_and_computed_once_for_all_objects(cached: Opener) -> None:
    first, second = WordHashes(), WordHashes()
    one, two = cached(first), cached(second)
    fresh = one.embed([*TEXTS, TEXTS[0]])
    one.close()
    again = two.embed(TEXTS[::-1])
    assert np.array_equal(fresh, WordHashes().embed([*TEXTS, TEXTS[0]]))
    assert np.array_equal(again, fresh[3::-1])
    assert again.dtype == np.float32
    assert first.embedded == TEXTS
    assert second.embedded == []
    assert two.embed([]).shape == (0, 64)


def test_what_a_caller_does_with_vectors_changes_none(cached: Opener) -> None:
    inner = WordHashes()
    embedder = cached(inner)
    vectors = embedder.embed(TEXTS)
    vectors[:] = 0  # what the caller does with the result is no business of the cache's
    assert np.array_equal(embedder.embed(TEXTS), WordHashes().embed(TEXTS))
    assert inner.embedded == TEXTS


def test_it_stands_in_for_its_embedder(cached: Opener) -> None:
    embedder = cached(WordHashes("mine", 16, ("ko",)))
    assert (embedder.name, embedder.dimension, embedder.languages) == ("mine", 16, ("ko",))


@pytest.mark.parametrize("other", [WordHashes("other"), WordHashes(dimension=32)], ids=["name", "dimension"])
def test_embedders_do_not_mix(cached: Opener, other: WordHashes) -> None:
    filled(cached)
    assert np.array_equal(cached(other).embed(TEXTS), type(other)(other.name, other.dimension).embed(TEXTS))
    assert other.embedded == TEXTS


def test_queries_and_passages_do_not_mix_where_the_embedder_tells_them_apart(cached: Opener) -> None:
    inner = Sided()
    embedder = cached(inner)
    passage = embedder.embed(["a lamp"])[0]
    queries = [embedder.embed_query("a lamp") for _ in range(2)]
    assert queries[0] @ passage < 0
    assert np.array_equal(*queries)
    assert inner.embedded == ["a lamp", "query: a lamp"]


def test_a_query_is_a_text_like_others_where_the_embedder_does_not(cached: Opener) -> None:
    inner = WordHashes()
    embedder = cached(inner)
    assert np.array_equal(embedder.embed(["a lamp"])[0], embedder.embed_query("a lamp"))
    assert inner.embedded == ["a lamp"]


def test_the_file_is_private_and_holds_no_text(cached: Opener, path: Path) -> None:
    embedder = cached(WordHashes())
    embedder.embed(["a very telling sentence", *(f"number {n}" for n in range(200))])
    files = list(path.parent.iterdir())
    assert len(files) == 3  # the file, its log and the log's index
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
    embedder.close()
    assert b"telling" not in path.read_bytes()
    assert b"word-hashes" not in path.read_bytes()


@settings(max_examples=20)
@given(texts=st.lists(st.text(max_size=8), max_size=30))
def test_any_texts_in_any_order_get_their_own_vectors(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any" / "embeddings.sqlite"
    embedder = CachedEmbedder(WordHashes(), path)
    assert np.array_equal(embedder.embed(texts), WordHashes().embed(texts))
    embedder.close()


DAMAGES = (
    "vector = CAST(x'0102' || substr(vector, 3) AS BLOB)",
    "vector = substr(vector, 5)",
    "vector = 'text'",
    "vector = 1.5",
    "checksum = checksum + 1",
    "checksum = 'text'",
    "key = CAST(x'0102' || substr(key, 3) AS BLOB)",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_computed_again(cached: Opener, path: Path, damage: str) -> None:
    expected = filled(cached)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"UPDATE vectors SET {damage}")
    connection.close()
    for computed in (TEXTS, []):
        inner = WordHashes()
        embedder = cached(inner)
        assert np.array_equal(embedder.embed(TEXTS), expected)
        assert inner.embedded == computed  # and the second time it is there again
        embedder.close()


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all " * 1000)


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def _zeroed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[16_384:] = bytes(len(content) - 16_384)
    path.write_bytes(content)


def _newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [_garbage, _torn, _zeroed, _newer, _folder], ids=lambda spoil: spoil.__name__)
def test_a_file_that_cannot_be_used_costs_one_warning_and_no_vector(
    cached: Opener, path: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    expected = filled(cached)
    spoil(path)
    inner = WordHashes()
    embedder = cached(inner)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert np.array_equal(embedder.embed(TEXTS), expected)
        embedder.close()
    assert inner.embedded == TEXTS * 3
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]
    assert "delete the file" in caplog.text


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_never_give_a_wrong_vector(cached: Opener, path: Path, seed: int) -> None:
    texts = [f"text {n}" for n in range(150)]
    expected = filled(cached, texts)
    content = bytearray(path.read_bytes())
    for position in np.random.default_rng(seed).integers(0, len(content), 40):
        content[position] ^= 0xFF
    path.write_bytes(content)
    assert np.array_equal(cached(WordHashes()).embed(texts), expected)


def test_a_file_that_was_locked_is_used_again(
    cached: Opener, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedding_cache, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(embedding_cache, "REST_S", 0.0)
    filled(cached)
    embedder = cached(WordHashes())
    holder = sqlite3.connect(path)
    holder.execute("BEGIN IMMEDIATE")
    many = [f"text {n}" for n in range(300)]
    embedder.embed(many)
    holder.execute("ROLLBACK")
    embedder.embed(["one more"])
    embedder.close()
    inner = WordHashes()
    cached(inner).embed([*TEXTS, "one more"])
    assert inner.embedded == []
    assert len(caplog.records) == 1


def test_a_file_that_stays_locked_is_left_alone(
    cached: Opener, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedding_cache, "_PATIENCE_S", 0.05)
    expected = filled(cached)
    holder = sqlite3.connect(path)
    holder.execute("BEGIN IMMEDIATE")
    inner = WordHashes()
    embedder = cached(inner)
    many = [f"text {n}" for n in range(300)]
    for _ in range(2):
        assert np.array_equal(embedder.embed(TEXTS), expected)
        assert np.array_equal(embedder.embed(many), WordHashes().embed(many))
    assert [text for text in inner.embedded if text in TEXTS] == []  # reading goes on while another process writes
    assert ["is locked" in record.getMessage() for record in caplog.records] == [True]
    holder.close()


def test_many_writers_at_once_lose_nothing_and_mix_nothing_up(cached: Opener) -> None:
    texts = [f"text {n}" for n in range(400)]
    expected = WordHashes().embed(texts)
    wrong: list[int] = []

    def work(first: int) -> None:
        embedder = cached(WordHashes())
        for start in range(0, 400, 50):
            rows = [(first + start + n) % 400 for n in range(200)]
            wrong.extend(np.flatnonzero((embedder.embed([texts[r] for r in rows]) != expected[rows]).any(axis=1)))
        embedder.close()

    threads = [threading.Thread(target=work, args=(n * 67,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    inner = WordHashes()
    assert np.array_equal(cached(inner).embed(texts), expected)
    assert inner.embedded == []


def test_the_file_stays_within_its_bound_and_the_newest_stay(cached: Opener, path: Path) -> None:
    embedder = cached(WordHashes(dimension=1_024), max_bytes=1)
    for batch in range(12):
        embedder.embed([f"{batch}-{n}" for n in range(150)])
    embedder.close()
    assert path.stat().st_size < 1.5 * embedding_cache.LEAST_BYTES
    inner = WordHashes(dimension=1_024)
    again = cached(inner)
    again.embed(["11-149", "0-0"])
    assert inner.embedded == ["0-0"]
