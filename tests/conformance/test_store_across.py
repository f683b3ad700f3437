"""Search in an index of two languages, the same in every engine of ours."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright.domain.passages import Document, Language, Retrieval
from selfright.domain.stores import Store
from selfright.domain.text import language_of
from selfright.retrieval.fusion_weights import load_model
from selfright.retrieval.preparing import text_to_index
from tests.conformance.test_store import ENGINES, in_folder, in_milvus, in_postgres, milvus_folder
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document

__all__ = ["milvus_folder"]

SUBJECTS = {"교체": 3, "changed": 3, "역사": 4, "history": 4, "입장": 5, "entry": 5, "전망": 6, "view": 6}
KOREAN = document("안내", "등대의 램프와 역사.\n등대의 램프와 입장.\n등대의 램프와 전망.", "등대")
ENGLISH = document("lamp", "It is changed every 90 days.\nThe history of the place.", "Beacon")
QUESTION = "등대의 램프 교체"
HELP = document(
    "help",
    "CORS 헤더를 답니다.\n"
    "로그인 오류를 알립니다.\n결제 오류를 봅니다.\n화면 오류를 적습니다.\n알림 오류를 모읍니다.\n"
    "문제를 빨리 해결합니다.\n고장을 바로 해결합니다.\n민원을 먼저 해결합니다.\n요청을 함께 해결합니다.\n"
    "인쇄 방법을 배웁니다.\n저장 방법을 고릅니다.\n결제 방법을 바꿉니다.\n",
)
MANUAL = document(
    "manual",
    "\n".join(
        f"{start} the {part} of the server." for start in ("CORS blocks", "Install", "Restart", "Watch")
        for part in ("cache", "proxy", "router", "queue", "worker", "gateway", "logs")
    ),
)  # fmt: skip


class TwoTongues(WordHashes):
    """All texts lie close together, those of a language closer, those of a language and a subject closest."""

    def __init__(self) -> None:
        super().__init__(load_model().embedder, 8, ())

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.array([4, 0.8, 0, 0, 0, 0, 0, 0], dtype=np.float32)
        if language_of(text) == "en":
            vector[[1, 2]] = vector[[2, 1]]
        for word in text.lower().replace(".", "").split():
            vector[SUBJECTS.get(word, 7)] += word in SUBJECTS
        return vector

    def cross_language_penalty(self, vector: NDArray[np.float32], language: Language) -> NDArray[np.float32]:
        towards = np.array([0, -0.2, 0.2, 0, 0, 0, 0, 0], dtype=np.float32)
        return vector + (towards if language == "ko" else -towards)


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    match request.param:
        case "embedded":
            opener = in_folder(TwoTongues())
        case "postgres":
            opener = in_postgres(request.getfixturevalue("shared_database"), TwoTongues())
        case _:
            opener = in_milvus(request.getfixturevalue("milvus_folder"), TwoTongues())
    with opener(tmp_path / "across") as opened:
        yield opened


def put(store: Store, *sources: Document) -> None:
    store.put([by_lines(source) for source in sources])
    store.commit()


def found(store: Store, query: str = QUESTION) -> Retrieval:
    return asyncio.run(store.search(query, 5, ()))


def test_the_query_leans_only_while_the_index_holds_two_languages(store: Store) -> None:
    plain = TwoTongues().embed([QUESTION])[0]
    for leans in (False, True, False):
        put(store, KOREAN, *([ENGLISH] if leans else []))
        result = found(store)
        searched = TwoTongues().cross_language_penalty(plain, "ko") if leans else plain
        assert result.query_vector == tuple(plain.tolist())
        assert {hit.passage.language for hit in result.hits} == ({"ko", "en"} if leans else {"ko"})
        for hit in result.hits:
            passage = TwoTongues().embed([text_to_index(hit.passage)])[0]
            assert hit.dense is not None
            assert hit.dense.score == pytest.approx(float(searched @ passage), abs=1e-3)
            assert hit.cosine == pytest.approx(float(plain @ passage), abs=1e-3)
        store.remove(["lamp"])
        store.commit()


def test_what_only_the_other_language_answers_comes_first(store: Store) -> None:
    put(store, KOREAN, ENGLISH)
    hits = found(store).hits
    assert hits[0].passage.id == "lamp#0"
    assert hits[0].bm25 is None
    assert all(hit.bm25 for hit in hits if hit.passage.language == "ko")


def test_a_name_in_latin_letters_outweighs_common_korean_words(store: Store) -> None:
    """Seven English passages hold it, too, and all forty passages are no measure of how rare a Korean word is."""
    put(store, HELP, MANUAL)
    hits = asyncio.run(store.search("CORS 오류 해결 방법", 40, ())).hits
    korean = {hit.passage.id: hit.bm25.rank for hit in hits if hit.bm25 and hit.passage.language == "ko"}
    assert len(korean) == 12
    assert min(korean, key=lambda name: korean[name]) == "help#0"
    everyday, name, unseen, unseen_name = store.idf(["해결", "cor", "자전거", "jwt"])  # "cor": the stem of CORS
    assert everyday == pytest.approx(math.log(1 + (12 - 4 + 0.5) / (4 + 0.5)))
    assert name == pytest.approx(math.log(1 + (40 - 8 + 0.5) / (8 + 0.5)))
    assert everyday < unseen < unseen_name


def test_every_engine_scores_a_foreign_passage_alike(store: Store, tmp_path: Path) -> None:
    with in_folder(TwoTongues())(tmp_path / "folder") as embedded:
        for one in (store, embedded):
            put(one, KOREAN, ENGLISH)
        for query in (QUESTION, "the history of the lamp"):
            hits, same = found(store, query).hits, found(embedded, query).hits
            assert [hit.passage for hit in hits] == [hit.passage for hit in same]
            assert [hit.rrf_score for hit in hits] == pytest.approx([hit.rrf_score for hit in same], abs=1e-3)
