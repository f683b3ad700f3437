"""Diseases and chemicals found in biomedical abstracts (bc5cdr), exact spans, and how fast the extractor reads.

    python -m benchmarks.medical_mentions --data DIR [--limit 530] [--medcat]

Conditions and symptoms count as diseases, medicines and allergens as chemicals, whatever is said of them. The lexicon
is not made from this set, but its frequent misses were looked at once, and about 25 names added after it. With
``--medcat`` a MedCAT pack made of the lexicon's English names reads instead (needs the ``medcat`` extra).
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from selfright_medical.extract import MedicalExtractor
from selfright_medical.medcat import MedCatNames

TYPE = {"conditions": "Disease", "symptoms": "Disease", "medications": "Chemical", "allergies": "Chemical"}
Mention = tuple[int, int, str]
Reader = Callable[[str], Sequence[Mention]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=530, help="abstracts")
    parser.add_argument("--medcat", action="store_true", help="a MedCAT pack of the lexicon's names alone")
    options = parser.parse_args()
    lines = (options.data / "bc5cdr/dev/slots.jsonl").read_text(encoding="utf-8").splitlines()[: options.limit]
    rows = [json.loads(line) for line in lines]
    read_one = medcat_reader() if options.medcat else lexicon_reader()
    started = time.process_time()
    read = [read_one(row["text"]) for row in rows]
    seconds = time.process_time() - started
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    meant: Counter[str] = Counter()
    for row, slots in zip(rows, read, strict=True):
        gold = {(one["start"], one["end"], one["type"]) for one in row["entities"]}
        found = set(slots)
        right.update(kind for *_, kind in gold & found)
        said.update(kind for *_, kind in found)
        meant.update(kind for *_, kind in gold)
    print(f"{len(rows)} abstracts              precision  recall      F1  mentions")
    for kind in ("Disease", "Chemical"):
        print(f"  {kind:30}{figures(right[kind], said[kind], meant[kind])}")
    print(f"  {'both':30}{figures(right.total(), said.total(), meant.total())}")
    characters = sum(len(row["text"]) for row in rows)
    print(f"{characters / seconds:,.0f} characters a second of one core ({characters:,} in {seconds:.1f} s)")


def lexicon_reader() -> Reader:
    extractor = MedicalExtractor()
    extractor.read("warm up with 당뇨 and glucose 7.8 mmol/L")
    return lambda text: [(one.start, one.end, TYPE[one.name]) for one in extractor.read(text) if one.name in TYPE]


def medcat_reader() -> Reader:
    from benchmarks.medical_medcat import lexicon_pack

    kinds = {"condition": "Disease", "symptom": "Disease", "drug": "Chemical"}
    names = MedCatNames(lexicon_pack())
    return lambda text: [(one.start, one.end, kinds[one.concept.kind]) for one in names(text)]


def figures(right: int, said: int, meant: int) -> str:
    precision, recall = right / said if said else 0.0, right / meant if meant else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return f"{precision:9.3f}{recall:8.3f}{f1:8.3f}{meant:10d}"


if __name__ == "__main__":
    main()
