"""How quickly text becomes terms, one by one and many at a time.

    python -m benchmarks.tokenizing_speed [--data DIR] [--passages 20000]

English: passages of 80 words drawn from a Zipf vocabulary, or with ``--data`` (a folder of BEIR-layout sets) from
``squad2``; Korean: ``korquad``, with ``--data`` only. The best of three rounds counts; ``CPU`` is what this process
spent, which says more than the clock where other work runs beside.
"""

import argparse
import itertools
import json
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from selfright.retrieval.tokenizer import BilingualTokenizer

WORDS = 80


def cpu() -> float:
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def texts_of(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line)["text"] for line in lines)


def passages_of(words: Sequence[str]) -> list[str]:
    return [" ".join(words[start : start + WORDS]) for start in range(0, len(words) - WORDS, WORDS)]


def synthetic(count: int) -> list[str]:
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(3, 10))) for _ in range(50_000)]
    weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(vocabulary))))
    return passages_of(rng.choices(vocabulary, cum_weights=weights, k=(count + 1) * WORDS))


def report(what: str, texts: Sequence[str], work: Callable[[], list[str]]) -> list[str]:
    best, spent = float("inf"), 0.0
    for _ in range(3):
        started, before = time.perf_counter(), cpu()
        result = work()
        if time.perf_counter() - started < best:
            best, spent = time.perf_counter() - started, cpu() - before
    words, characters = sum(len(text.split()) for text in texts), sum(map(len, texts))
    rate = f"{words / best / 1e6:8.2f} M words/s {characters / best / 1e6:8.2f} M characters/s"
    print(f"{what:28}{best:8.2f} s {rate}   CPU {spent:6.2f} s")
    return result


def measure(name: str, texts: Sequence[str]) -> None:
    tokenizer = BilingualTokenizer()
    tokenizer.join_terms(texts[0])  # loads the morphemes where there is Hangul
    single = report(f"{name}, one by one", texts, lambda: [tokenizer.join_terms(text) for text in texts])
    assert report(f"{name}, as a batch", texts, lambda: tokenizer.join_all_terms(texts)) == single


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--passages", type=int, default=20_000)
    options = parser.parse_args()
    measure("synthetic", synthetic(options.passages))
    if options.data:
        words = [word for text in texts_of(options.data / "squad2" / "corpus.jsonl") for word in text.split()]
        measure("squad2", passages_of(words)[: options.passages])
        measure("korquad", list(itertools.islice(texts_of(options.data / "korquad" / "corpus.jsonl"), 1_000)))


if __name__ == "__main__":
    main()
