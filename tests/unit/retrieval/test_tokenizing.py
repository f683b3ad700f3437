"""The pool of tokenizing processes: same results, started when it pays, never in the way."""

import time
from collections.abc import Iterator

import pytest

from selfright.retrieval import tokenizing
from selfright.retrieval.korean import HangulBigrams, Term
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.retrieval.tokenizing import TokenizerPool

TEXTS = [f"Tablet {n}: 500 mg of 가나다라 daily, store.maxSize {n / 7}\0\udcff" for n in range(300)] + ["", " "]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is worth processes."""
    monkeypatch.setattr(tokenizing, "_PAYS_S", 0.0)
    monkeypatch.setattr(tokenizing, "_TASK_S", 0.005)


def running(pool: TokenizerPool) -> bool:
    return pool._workers is not None


@pytest.mark.usefixtures("always")
def test_processes_give_the_same_terms_and_end_when_idle() -> None:
    tokenizer = BilingualTokenizer(HangulBigrams())
    pool = TokenizerPool(tokenizer, processes=2, idle_s=0.2)
    expected = [tokenizer.joined(text) for text in TEXTS]
    for _ in range(2):
        assert pool.joined(TEXTS) == expected
        assert running(pool)
    workers = pool._workers
    assert workers is not None
    assert len(workers._alive) == 2
    deadline = time.monotonic() + 20
    while running(pool) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(pool)
    assert pool.joined(TEXTS[:2]) == expected[:2]
    pool.close()


@pytest.mark.usefixtures("always")
def test_processes_that_end_change_nothing() -> None:
    tokenizer = BilingualTokenizer(HangulBigrams())
    pool = TokenizerPool(tokenizer, processes=2)
    expected = [tokenizer.joined(text) for text in TEXTS]
    assert pool.joined(TEXTS) == expected
    assert pool._workers is not None
    for worker in list(pool._workers._alive):
        worker.kill()
    assert pool.joined(TEXTS) == expected
    pool.close()


def test_small_batches_stay_here() -> None:
    pool = TokenizerPool(BilingualTokenizer(HangulBigrams()), processes=2)
    for _ in range(20):
        pool.joined(TEXTS[:50])
    assert not running(pool)


@pytest.mark.usefixtures("always")
def test_one_core_and_foreign_tokenizers_stay_here() -> None:
    class Foreign:
        name = "foreign"

        def tokens(self, text: str) -> list[str]:
            return text.upper().split()

    class Syllables:
        name = "syllables"

        def terms(self, text: str) -> Iterator[Term]:
            yield from ((n, syllable) for n, syllable in enumerate(text) if syllable >= "가")

    for tokenizer, processes in (
        (BilingualTokenizer(HangulBigrams()), 1),
        (Foreign(), 2),
        (BilingualTokenizer(Syllables()), 2),
    ):
        pool = TokenizerPool(tokenizer, processes=processes)
        assert pool.joined(TEXTS) == [" ".join(tokenizer.tokens(text)) for text in TEXTS]
        assert not running(pool)


def test_a_worker_refuses_to_be_another_tokenizer() -> None:
    with pytest.raises(ValueError, match="expected the tokenizer other"):
        tokenizing.work({"name": "other", "morphemes": False, "user_words": []})
