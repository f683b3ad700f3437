"""What the network that reads pairs is worth beside the words, of claims beside their evidence.

    python -m training.claims_read --data DIR [--network FILE] [--rows 200]

Rows are claims that the network has not learnt from, of sets that may shape what ships; the last sets only measure.
``together`` is what ships (``roles/evaluate/nli.py``).
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from selfright.domain.passages import Hit, Passage
from selfright.domain.ports import Tokenizer
from selfright.domain.text import language_of
from selfright.models.files import FOLDER
from selfright.models.reader import PairNet, PairViews
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.claims import claim_facts
from selfright.roles.evaluate.nli import WORDS_AND_READER, ClaimNli
from selfright.roles.evaluate.scoring import words_support
from selfright.roles.scoring import log_odds
from selfright.roles.visible_text import sources
from training.answered import healthver_nc, mtrag
from training.bm25 import Index
from training.fitting import Array, auc, calibration_error
from training.labelled import passage
from training.reading_rows import CLAIMS, SUPPORTED, claims_of


@dataclass(frozen=True)
class Said:
    """A claim beside its evidence: 1 when it is supported."""

    dataset: str
    group: str
    claim: str
    evidence: Passage
    label: int


def claims(data: Path, most: int) -> Iterator[Said]:
    """At most so many rows of each set, drawn with a seed where there are more."""
    for name in CLAIMS:
        rows = [row for row in claims_of(data, name) if row.text and row.left_out]
        random.Random(3).shuffle(rows)
        for n, row in enumerate(rows[:most]):
            yield Said(
                name, row.group, row.asked, passage(f"{name}/{n}", row.heading, row.text), int(row.label == SUPPORTED)
            )
    for loader in (mtrag, healthver_nc):
        answers = list(loader(data))
        random.Random(3).shuffle(answers)
        for one in answers[:most]:
            text = "\n\n".join(each.text for each in one.evidence)
            yield Said(loader.__name__, one.group, one.answer, passage(one.evidence[0].id, "", text), one.label)


def opinions(rows: Sequence[Said], tokenizer: Tokenizer, file: Path) -> Array:
    """Log-odds of each claim by words, and by the network; NaN where nobody is asked: it stands there word for word."""
    reader = PairViews(PairNet(file)).claims
    texts = {row.evidence.text for row in rows}
    analyzer = TextAnalyzer(tokenizer, Index(tokenizer.tokens(text) for text in texts).statistics)
    nli = ClaimNli()
    found = np.full((len(rows), 2), np.nan)
    for n, row in enumerate(rows):
        evidence = sources((), (Hit(row.evidence, 1.0),))
        fact = claim_facts(row.claim, evidence, analyzer)
        if not fact.verbatim:
            said = nli.read(reader, fact, evidence)
            found[n] = log_odds(words_support(fact)), max((one.score for _, one in said), default=np.nan)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--network", type=Path, default=FOLDER)
    parser.add_argument("--rows", type=int, default=200, help="of a set")
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    rows = list(claims(arguments.data, arguments.rows))
    x = opinions(rows, BilingualTokenizer(), arguments.network)
    asked = [n for n in range(len(rows)) if not np.isnan(x[n]).any()]
    rows, x = [rows[n] for n in asked], x[asked]
    y = np.array([float(row.label) for row in rows])
    p = np.array([WORDS_AND_READER({"words": words, "reader": network}) for words, network in x])
    measured = {}
    for name in dict.fromkeys(row.dataset for row in rows):
        for language in ("en", "ko"):
            mask = np.array([row.dataset == name and language_of(row.claim) == language for row in rows])
            if mask.sum() >= 30:
                measured[f"{name}, {language}"] = {
                    "claims": int(mask.sum()),
                    "words": round(auc(x[mask, 0], y[mask]), 3),
                    "network": round(auc(x[mask, 1], y[mask]), 3),
                    "together": round(auc(p[mask], y[mask]), 3),
                    "ece": round(calibration_error(p[mask], y[mask]), 3),
                }
    print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
