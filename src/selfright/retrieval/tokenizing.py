"""Many texts tokenised at a time, in worker processes where that pays."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from selfright.domain.ports import Tokenizer
from selfright.processes import Workers, usable_cpus
from selfright.retrieval.korean import HangulBigrams, KoreanMorphemes, holds_hangul
from selfright.retrieval.tokenizer import BilingualTokenizer

# Characters a second on one core, for deciding only: morphemes cost a hundred times what the rest does.
_KOREAN_RATE, _LATIN_RATE = 150_000.0, 15_000_000.0
_PAYS_S = 0.75  # work that is worth starting processes for; with morphemes each of them needs a second or two
_TASK_S = 0.05  # work handed over at a time
_MOST, _MOST_KOREAN = 4, 2  # each process that knows Korean morphemes takes about 400 MB
_IDLE_S = 20.0


class TokenizerPool:
    """Tokenises batches; results are those of ``tokenizer`` itself.

    Processes are started when the batches so far came to some seconds of work and end after ``idle_s`` seconds without
    any. ``processes``: at most so many; by default as many as there are cores, up to four, and two where Korean
    morphemes are cut. With one core, or a tokenizer that is not our own, everything is done in this process.
    """

    def __init__(self, tokenizer: Tokenizer, processes: int | None = None, idle_s: float = _IDLE_S) -> None:
        self._tokenizer = tokenizer
        self._join = join_of(tokenizer)
        self._setup = setup_of(tokenizer)
        self._most = min(processes or usable_cpus(), _MOST)
        self._idle_s = idle_s
        self._lock = threading.RLock()
        self._workers: Workers | None = None
        self._timer: threading.Timer | None = None
        self._work_s = 0.0

    def joined(self, texts: Sequence[str]) -> list[str]:
        """The terms of each text, joined by blanks."""
        return list(self.stream(texts))

    def stream(self, texts: Sequence[str]) -> Iterator[str]:
        """The same one by one; while the caller works with them, processes go on with those that follow."""
        costs = [_cost(text) for text in texts]
        with self._lock:
            workers = self._workers_for(sum(costs), any(map(holds_hangul, texts)))
            if workers is None:
                yield from map(self._join, texts)
                return
            try:
                for task in workers.map(_tasks(texts, costs), self._here):
                    yield from task
            finally:
                self._rest()

    def close(self) -> None:
        """Ends the processes; the next large batch starts new ones."""
        with self._lock:
            workers, self._workers = self._workers, None
            timer, self._timer = self._timer, None
            self._work_s = 0.0
        if timer is not None:
            timer.cancel()
        if workers is not None:
            workers.close()

    def _here(self, texts: Sequence[str]) -> list[str]:
        return [self._join(text) for text in texts]

    def _workers_for(self, cost: float, korean: bool) -> Workers | None:
        count = min(self._most, _MOST_KOREAN) if korean and self._setup and self._setup["morphemes"] else self._most
        self._work_s += cost
        if self._setup is None or count < 2 or cost < _TASK_S or self._work_s < _PAYS_S:
            return None
        if self._workers is not None and self._workers.count > count:
            self.close()
        if self._workers is None:
            self._workers = Workers(f"{__name__}:work", self._setup, count)
        return self._workers

    def _rest(self) -> None:
        """Lets the processes end if nothing more comes."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(self._idle_s, self.close)
        self._timer.daemon = True
        self._timer.start()


class GivenTerms:
    """A tokenizer that knows the terms of some texts beforehand, from whoever made them by the same rules."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The tokenizer's own."""
        return self._tokenizer.name

    def tokens(self, text: str) -> list[str]:
        """Terms in reading order."""
        known = self._known.get(text)
        return self._tokenizer.tokens(text) if known is None else known.split(" ") if known else []

    def translations(self, term: str) -> Sequence[tuple[str, float]]:
        """The tokenizer's own."""
        return self._tokenizer.translations(term)

    def learn(self, terms: Mapping[str, str]) -> None:
        """Knows these, joined by blanks, by their texts, and forgets those before."""
        self._known = dict(terms)


def join_of(tokenizer: Tokenizer) -> Callable[[str], str]:
    """What gives a text's terms joined by blanks, the quick way where the tokenizer has one."""
    if isinstance(tokenizer, BilingualTokenizer):
        return tokenizer.joined
    return lambda text: " ".join(tokenizer.tokens(text))


def work(setup: dict[str, Any]) -> Callable[[list[str]], list[str]]:
    """The worker's side: the same tokenizer again. Raises ``ValueError`` when it would be another one."""
    korean = KoreanMorphemes(setup["user_words"]) if setup["morphemes"] else HangulBigrams()
    tokenizer = BilingualTokenizer(korean)
    if tokenizer.name != setup["name"]:
        raise ValueError(f"expected the tokenizer {setup['name']}, but this would be {tokenizer.name}")
    return lambda texts: [tokenizer.joined(text) for text in texts]


def setup_of(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """What makes the same tokenizer in another process, None when that cannot be known."""
    if type(tokenizer) is not BilingualTokenizer or type(tokenizer.korean) not in (KoreanMorphemes, HangulBigrams):
        return None
    morphemes = isinstance(tokenizer.korean, KoreanMorphemes)
    words = tokenizer.korean.user_words if isinstance(tokenizer.korean, KoreanMorphemes) else ()
    return {"name": tokenizer.name, "morphemes": morphemes, "user_words": list(words)}


def _cost(text: str) -> float:
    return len(text) / (_KOREAN_RATE if holds_hangul(text) else _LATIN_RATE)


def _tasks(texts: Sequence[str], costs: Sequence[float]) -> Iterator[list[str]]:
    task: list[str] = []
    cost = 0.0
    for text, seconds in zip(texts, costs, strict=True):
        task.append(text)
        cost += seconds
        if cost >= _TASK_S:
            yield task
            task, cost = [], 0.0
    if task:
        yield task
