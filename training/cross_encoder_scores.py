"""The reader's scores for every candidate of the labelled sets, in the order of ``training.grader_rows``.

    python -m training.cross_encoder_scores --data DIR --reader FILE.onnx --cache DIR --tag NAME

The reader is the one trained with ``--left-out``: only questions that it was not trained on are among the cases.
"""

import argparse
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.ports import Tokenizer
from selfright.llm.cross_encoder import CrossEncoder
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked, Read
from selfright.roles.grade.neural import shown
from training.fit_grader_reader_data import cases_of
from training.labelled import MEASURED_ON, TRAINED_ON, Case
from training.pairs import seen_questions


def pairs_of(cases: Iterable[Case], tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """(question, what is shown of the passage) of each English candidate, an empty text for the others."""
    analyzers: dict[int, TextAnalyzer] = {}
    pairs: list[tuple[str, str]] = []
    for case in cases:
        analyzer = analyzers.setdefault(id(case.statistics), TextAnalyzer(tokenizer, case.statistics))
        asked = Asked.of(case.question, analyzer)
        for candidate in case.candidates:
            english = not asked.korean and candidate.passage.language == "en"
            text = shown(asked, candidate.passage, Read.of(asked, candidate.passage)) if english else ""
            pairs.append((case.question, text))
    return pairs


def network(file: Path) -> CrossEncoder:
    """The reader in a file, whatever its hash is."""
    return CrossEncoder(file, sha256(file.read_bytes()).hexdigest())


def scored(reader: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Log-odds of each pair, NaN where nothing is shown. Pairs of a question stand together."""
    found = np.full(len(pairs), np.nan)
    shown_at = [n for n, (_, text) in enumerate(pairs) if text]
    for question, places in groupby(shown_at, key=lambda n: pairs[n][0]):
        at = list(places)
        found[at] = [judged.score for judged in reader.read(question, [pairs[n][1] for n in at])]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--sets", default="")
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    reader = network(arguments.reader)
    tokenizer, known = BilingualTokenizer(), seen_questions(arguments.data)
    for loader in (*TRAINED_ON, *MEASURED_ON):
        if arguments.sets and loader.__name__ not in arguments.sets.split(","):
            continue
        pairs = pairs_of(cases_of(loader, arguments.data, tokenizer, known), tokenizer)
        scores = scored(reader, pairs)
        np.save(arguments.cache / f"reader-{arguments.tag}-{loader.__name__}.npy", scores)
        print(f"{loader.__name__}: {np.isfinite(scores).sum()} of {len(pairs)} scored", flush=True)


if __name__ == "__main__":
    main()
