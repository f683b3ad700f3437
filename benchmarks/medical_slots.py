"""Slot precision, recall and F1 on the annotated sentences of the tests, per slot.

    python -m benchmarks.medical_slots [--part dev|held] [--errors]

A slot counts when name, value, unit, negation, subject and time are all right; a value is the same when the lexicon
knows both as one thing. Details (dose, frequency, …) are scored beside them. Errors of the part held apart are never
shown.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from selfright_medical.extract import MedicalExtractor
from tests.medical_sentences.reading import Sentence, fact_of, sentences

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "medical_sentences"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "held"), default="dev")
    parser.add_argument("--errors", action="store_true", help="show what is wrong (dev only)")
    options = parser.parse_args()
    chosen = [sentence for sentence in sentences(FOLDER) if sentence.part == options.part]
    show = options.errors and options.part == "dev"
    for language in ("ko", "en"):
        report([one for one in chosen if one.language == language], language, show=show)
    report(chosen, "all", show=False)
    return 0


def report(chosen: list[Sentence], label: str, *, show: bool) -> None:
    extractor = MedicalExtractor()
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    meant: Counter[str] = Counter()
    details = [0, 0]
    for sentence in chosen:
        found = {fact_of(slot): slot for slot in extractor.read(sentence.text)}
        said.update(fact.name for fact in found)
        meant.update(fact.name for fact in sentence.facts)
        right.update(fact.name for fact in sentence.facts if fact in found)
        for fact, wanted in sentence.facts.items():
            if fact in found:
                details[1] += len(wanted)
                details[0] += sum(found[fact].detail(name) == value for name, value in wanted.items())
        if show and set(found) != set(sentence.facts):
            print(sentence.text)
            print("   missed:", *sorted(map(str, set(sentence.facts) - set(found))), sep="  ")
            print("   wrong: ", *sorted(map(str, set(found) - set(sentence.facts))), sep="  ")
    names = sorted(set(said) | set(meant), key=lambda name: -meant[name])
    print(f"\n{label}: {len(chosen)} sentences{'':14}precision  recall      F1  slots")
    for name in names:
        print(f"  {name:32}{_row(right[name], said[name], meant[name])}")
    print(f"  {'all':32}{_row(right.total(), said.total(), meant.total())}")
    print(f"  details of slots found: {details[0]} of {details[1]}", flush=True)


def _row(right: int, said: int, meant: int) -> str:
    precision, recall = right / said if said else 0.0, right / meant if meant else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return f"{precision:9.3f}{recall:8.3f}{f1:8.3f}{meant:7d}"


if __name__ == "__main__":
    sys.exit(main())
