"""The reader's scores for every candidate of the labelled sets, in the order of ``training.grader_rows``.

    python -m training.cross_encoder_scores --data DIR --reader FILE.onnx --cache DIR --tag NAME [--half 0|1]

With ``--half`` only questions of the groups that this reader did not see are scored, the others stay NaN.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.ports import Tokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked, Read
from selfright.roles.grade.neural import shown
from training.fit_grader_reader_data import cases_of
from training.labelled import MEASURED_ON, TRAINED_ON, Case
from training.pairs import load_pages

PIECES = 3_000


def halves(data: Path) -> dict[str, int]:
    """Question (lower case) → the half of the groups it was trained in."""
    return {q.text.strip().lower(): page.half for page in load_pages(data) for q in page.questions}


class Scorer:
    """Runs the network over many questions per passage."""

    def __init__(self, file: Path, pieces: Any, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
        self._pieces = pieces

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """One log-odds per (question, what is shown)."""
        asked: dict[str, list[int]] = defaultdict(list)
        for number, (_, text) in enumerate(pairs):
            asked[text].append(number)
        ids = {text: self._cut(text, 224) for text in asked}
        found = np.zeros(len(pairs))
        batch: list[str] = []
        for text in sorted(asked, key=lambda text: len(ids[text])):
            if batch and len(ids[text]) * (len(batch) + 1) > PIECES:
                self._run(batch, ids, asked, pairs, found)
                batch = []
            batch.append(text)
        if batch:
            self._run(batch, ids, asked, pairs, found)
        return found

    def _cut(self, text: str, most: int) -> list[int]:
        ids: list[int] = self._pieces.encode(text).ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _run(
        self,
        batch: Sequence[str],
        ids: dict[str, list[int]],
        asked: dict[str, list[int]],
        pairs: Sequence[tuple[str, str]],
        found: NDArray[np.float64],
    ) -> None:
        numbers = [n for text in batch for n in asked[text]]
        owner = np.array([place for place, text in enumerate(batch) for _ in asked[text]])
        questions = [self._cut(pairs[n][0], 32) for n in numbers]
        order = sorted(range(len(numbers)), key=lambda i: len(questions[i]))
        for start in range(0, len(order), 128):
            part = order[start : start + 128]
            used = sorted({int(owner[i]) for i in part})
            feed = {
                "passages": _padded([ids[batch[place]] for place in used]),
                "questions": _padded([questions[i] for i in part]),
                "owner": np.array([used.index(int(owner[i])) for i in part]),
            }
            found[[numbers[i] for i in part]] = self._session.run(None, feed)[0][:, 0]


def _padded(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return ids


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--half", type=int, default=-1, help="the half that the reader was trained on")
    parser.add_argument("--sets", default="")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    from tokenizers import Tokenizer as Pieces

    from selfright.llm.minilm import model_folder
    from selfright.retrieval.tokenizer import BilingualTokenizer

    pieces = Pieces.from_file(str(model_folder() / "tokenizer.json"))
    pieces.no_truncation()
    pieces.no_padding()
    scorer, tokenizer, half = (
        Scorer(arguments.reader, pieces, arguments.threads),
        BilingualTokenizer(),
        halves(arguments.data),
    )
    for loader in (*TRAINED_ON, *MEASURED_ON):
        if arguments.sets and loader.__name__ not in arguments.sets.split(","):
            continue
        pairs = pairs_of(cases_of(loader, arguments.data, tokenizer), tokenizer)
        wanted = [
            n
            for n, (q, text) in enumerate(pairs)
            if text and half.get(q.strip().lower(), 1 - arguments.half) != arguments.half
        ]
        scores = np.full(len(pairs), np.nan)
        if wanted:
            scores[wanted] = scorer.scores([pairs[n] for n in wanted])
        np.save(arguments.cache / f"reader-{arguments.tag}-{loader.__name__}.npy", scores)
        print(f"{loader.__name__}: {len(wanted)} of {len(pairs)} scored", flush=True)


if __name__ == "__main__":
    main()
