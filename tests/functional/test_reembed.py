"""``selfright index reembed``: new vectors for an index, also when it was killed on the way."""

import importlib
import json
import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright import Selfright
from selfright.cli.commands.demo import _forget_if_outdated
from selfright.domain.errors import IncompatibleIndex, IndexBusy, StoreError
from selfright.domain.passages import Language
from selfright.domain.routing import Collection
from selfright.domain.stores import Store
from selfright.evals.beir import corpus_index
from selfright.retrieval import reembedding
from selfright.retrieval.preparing import text_to_index
from selfright.retrieval.reembedding import ReembedReport, reembed
from selfright.retrieval.schema import IndexMeta
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.wiring import networks
from selfright.wiring.networks import make_embedder
from tests.functional.conftest import Cli
from tests.support import points
from tests.support.crashing import CONTEXT
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER, batch, create_store, find, random_text
from tests.support.histories import open_store as open_old

needs_points = pytest.mark.skipif(
    not points.SUPPORTED or sys.platform == "win32", reason="no way here to stop a process inside a commit"
)
DOCUMENTS = 24


def model(start: int, count: int) -> dict[str, str]:
    chance = random.Random(start)
    return {f"d{number:03}": random_text(chance, number) for number in range(start, start + count)}


class Other(WordHashes):
    """Another embedder, for all languages; ``before`` is called before each block of texts."""

    def __init__(self, before: Callable[[], object] = lambda: None, languages: tuple[Language, ...] = ()) -> None:
        super().__init__("other", 64, languages)
        self._before = before

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._before()
        vectors: NDArray[np.float32] = super().embed(texts)[:, ::-1]
        return vectors


def fill(folder: Path) -> None:
    with create_store(folder) as store:
        store.put(batch(model(0, DOCUMENTS) | {"twin": "sail wind\nsail wind"}))
        store.describe(Collection.describe_as("odd", "Knots and ropes.", ["question"], ["age"]))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    fill(tmp_path / "source")
    return tmp_path / "source"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "_BLOCK", 4)


def renewed(folder: Path, embedder: WordHashes | None = None) -> ReembedReport:
    return reembed(folder, TOKENIZER, embedder or Other())


def texts_of(store: Store) -> dict[str, object]:
    """All that an index holds but its vectors."""
    held = {info.id: (store.document(info.id), store.passages_of(info.id)) for info in store.documents()}
    return {**held, "collections": store.collections()}


def check_vectors(store: Store, embedder: WordHashes) -> None:
    """Each passage has the embedder's vector, to the last bit, or none in a language that the embedder has not."""
    for info in store.documents():
        vectors = store.vectors_of(info.id)
        for passage in store.passages_of(info.id):
            if embedder.languages and passage.language not in embedder.languages:
                assert passage.id not in vectors
            else:
                assert np.array_equal(vectors[passage.id], embedder.embed([text_to_index(passage)])[0])


def check_new(folder: Path, before: dict[str, object], embedder: WordHashes | None = None) -> None:
    embedder = embedder or Other()
    with EmbeddedStore.open(folder, TOKENIZER, embedder) as store:
        assert store.verify() == []
        assert texts_of(store) == before
        check_vectors(store, embedder)
        with EmbeddedStore.create(folder.with_name(f"{folder.name}-built"), TOKENIZER, embedder) as built:
            held = ((store.document(info.id), store.passages_of(info.id)) for info in store.documents())
            built.put([(document, passages) for document, passages in held if document])
            built.commit()
            for query in ("sail wind", "harbour rope tide", "바람 항구"):
                assert [(hit.passage.id, hit.cosine, hit.trust) for hit in find(store, query)] == [
                    (hit.passage.id, hit.cosine, hit.trust) for hit in find(built, query)
                ]
    assert len(list((folder / "vectors").iterdir())) == 1


def test_all_but_the_vectors_stays(source: Path) -> None:
    with open_old(source) as store:
        before = texts_of(store)
    report = renewed(source)
    assert (report.before, report.embedder, report.documents) == ("word-hashes", "other", DOCUMENTS + 1)
    assert report.vectors == report.passages
    check_new(source, before)
    again = renewed(source)
    assert (again.before, again.embedder, again.vectors) == ("other", "other", report.vectors)


def test_passages_in_a_language_that_the_embedder_does_not_know_get_no_vector(source: Path) -> None:
    with open_old(source) as store:
        before = texts_of(store)
    only_korean = Other(languages=("ko",))
    report = renewed(source, only_korean)
    assert 0 < report.vectors < report.passages
    check_new(source, before, only_korean)


def test_to_words_alone_and_back(source: Path) -> None:
    with open_old(source) as store:
        before = texts_of(store)
    gone = reembed(source, TOKENIZER, None)
    assert (gone.embedder, gone.vectors) == ("none", 0)
    assert not (source / "vectors").exists()
    with EmbeddedStore.open(source, TOKENIZER, None) as store:
        assert texts_of(store) == before
        assert store.verify() == []
        assert find(store, "sail wind")[0].dense is None
    renewed(source)
    check_new(source, before)


def test_who_has_the_index_open_with_the_old_embedder_is_told_so(source: Path) -> None:
    with open_old(source) as reader, open_old(source) as writer:
        assert find(reader, "sail wind")
        renewed(source)
        for attempt in (
            lambda: find(reader, "sail wind"),
            reader.info,
            lambda: reader.vectors_of("twin"),
            lambda: writer.put(batch({"late": "sail"})),
            lambda: writer.put(batch({"late": "sail"})),  # the first one has left nothing open
            lambda: writer.remove(["twin"]),
        ):
            with pytest.raises(IncompatibleIndex, match=r"vectors of other \(64 dimensions\) by now"):
                attempt()
    with EmbeddedStore.open(source, TOKENIZER, Other()) as store:
        assert store.document("late") is None
        assert store.remove(["twin"]) == ["twin"]


def test_one_at_a_time(source: Path) -> None:
    def second() -> None:
        with pytest.raises(IndexBusy):
            renewed(source)

    renewed(source, Other(second))


def test_an_embedder_that_fails_leaves_the_index_as_it_was(source: Path) -> None:
    calls = 0

    def fail() -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            with open_old(source) as store:  # meanwhile it is searched as before, and others do not write
                assert find(store, "sail wind")
                with pytest.raises(IndexBusy):
                    store.remove(["twin"])
            raise ConnectionError("the provider is gone")

    with open_old(source) as store:
        before = texts_of(store)
    with pytest.raises(ConnectionError):
        renewed(source, Other(fail))
    with open_old(source) as store:
        assert texts_of(store) == before
        check_vectors(store, WordHashes())
    renewed(source)
    check_new(source, before)


# Killed


def _work(folder: Path, channel: socket.socket | None = None) -> None:
    reembedding._BLOCK = 4
    if channel is not None:
        points.let_watch(channel)
    renewed(folder)


def killed(folder: Path, number: int, *, torn: bool = False) -> int:
    """Does the work and kills it at its ``number``-th change of the folder; gives back how many it made."""
    ours, theirs = socket.socketpair()
    counted, reached = 0, None

    def here(point: points.Point) -> bool:
        nonlocal counted, reached
        counted += 1
        if counted < number:
            return False
        reached = str(point)
        if torn:
            points.tear(point)
        return True

    with ours, theirs:
        process = CONTEXT.Process(target=_work, args=(folder, theirs))
        process.start()
        theirs.close()
        assert process.pid
        points.watch(ours, folder, here, process.pid)
    process.join()
    assert process.exitcode == (-signal.SIGKILL if reached else 0), (process.exitcode, reached, os.getpid())
    process.close()
    return counted


_EVERY = int(os.environ.get("REEMBED_EVERY", "0"))  # REEMBED_EVERY=1 kills at each change there is: minutes


@needs_points
def test_killed_anywhere_the_index_is_the_old_one_or_the_new_one(source: Path, tmp_path: Path) -> None:
    with open_old(source) as store:
        before = texts_of(store)
    fill(tmp_path / "whole")
    total = killed(tmp_path / "whole", 10_000)
    check_new(tmp_path / "whole", before)
    numbers = range(1, total + 1, _EVERY) if _EVERY else (3, total // 2, total - 60, total - 40, total - 20, total - 5)
    ends = set()
    for number in numbers:
        folder = tmp_path / f"killed-{number}"
        fill(folder)
        assert killed(folder, number, torn=number % 2 == 0) == number
        try:
            with open_old(folder) as store:
                assert texts_of(store) == before
                check_vectors(store, WordHashes())
                ends.add("old")
        except IncompatibleIndex:
            ends.add("new")
        renewed(folder)
        check_new(folder, before)
    assert ends == {"old", "new"}


def _work_with_small_files(folder: Path, most: int) -> None:
    resource = importlib.import_module("resource")  # there is none on Windows
    reembedding._BLOCK = 4
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        renewed(folder)
    except StoreError:
        sys.exit(3)


@pytest.mark.skipif(sys.platform == "win32", reason="no way here to bound the size of files")
@pytest.mark.parametrize("most", [0, 4_096, 10_000])  # the vectors, the catalogue's log
def test_without_room_it_says_so_and_loses_nothing(source: Path, most: int) -> None:
    with open_old(source) as store:
        before = texts_of(store)
    process = CONTEXT.Process(target=_work_with_small_files, args=(source, most))
    process.start()
    process.join(120)
    assert process.exitcode == 3
    with open_old(source) as store:
        assert texts_of(store) == before
        check_vectors(store, WordHashes())
    renewed(source)
    check_new(source, before)


# From outside


@pytest.mark.parametrize("name", ["e5", "none"])
def test_the_message_names_the_setting_that_keeps_the_old_vectors(name: str) -> None:
    embedder = None if name == "none" else make_embedder(name)
    meta = IndexMeta("", "t", embedder.name if embedder else "none", embedder.dimension if embedder else 0)
    with pytest.raises(IncompatibleIndex, match=f"index reembed', or keep the old ones and set embedder={name}$"):
        meta.check("here", "t", "another", 3)


def test_from_the_command_line(cli: Cli, documents: Path, tmp_path: Path, home_folder: Path) -> None:
    (home_folder / "home").mkdir(parents=True)
    index = ("--index", tmp_path / "index")
    assert cli("index", "add", documents, *index, "--set", "embedder=none").code == 0
    for words in (("search", "lamp"), ("ask", "How often is the lamp changed?"), ("serve", "--port", "0")):
        refused = cli(*words, *index, "--set", "embedder=e5")
        assert (refused.code, refused.out) == (1, "")
        assert (
            "made with the embedder none (0 dimensions), but is opened with multilingual-e5-small-q4 (384"
            in refused.err
        )
        assert "'selfright index reembed'" in refused.err
        assert "embedder=none" in refused.err
    with (
        Selfright.open(tmp_path / "index", embedder="e5") as selfright,
        pytest.raises(IncompatibleIndex, match="selfright index reembed"),
    ):
        selfright.ask("How often is the lamp changed?")
    assert cli("index", "list", *index, "--set", "embedder=e5").out.count("\n") == 3
    done = cli("index", "reembed", *index, "--set", "embedder=e5")
    assert done.code == 0, done.err
    assert "none → multilingual-e5-small-q4" in done.out
    assert "in no language" not in done.err
    found = json.loads(cli("search", "lamp", *index, "--set", "embedder=e5", "--json").out)
    assert found[0]["dense"]
    assert "already" in cli("index", "reembed", *index, "--set", "embedder=e5").out
    elsewhere = cli("index", "reembed", "--index", "postgresql://nobody@127.0.0.1:1/none")
    assert elsewhere.code == 2
    assert "import --no-vectors" in elsewhere.err
    missing = cli("index", "reembed", "--index", tmp_path / "missing")
    assert missing.code == 1
    assert "there is no index" in missing.err


def test_where_auto_means_another_embedder_by_now_our_own_indexes_follow(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, demo = tmp_path / "corpus.jsonl", tmp_path / "demo"
    corpus.write_text(json.dumps({"_id": "a", "text": "The lamp is changed every 90 days."}) + "\n")
    values = {"home": tmp_path / "home"}
    for embedder in (WordHashes(languages=()), Other()):
        monkeypatch.setattr(networks, "resolve_embedder", lambda *_, embedder=embedder: embedder)
        with corpus_index(corpus, values) as selfright:
            assert selfright.info().embedder == embedder.name
            assert selfright.search("lamp")[0].dense
        _forget_if_outdated(demo)
        assert not demo.exists()
        with Selfright.open(demo, **values) as selfright:
            selfright.add(documents)
