"""Medicines and allergies that clinical notes name (mts_dialog): recall, precision, and denied allergies.

    python -m benchmarks.medical_notes --data DIR [--dialogue] [--errors]

Read is the note of the sections MEDICATIONS and ALLERGY under its heading, or with ``--dialogue`` the conversation it
was written from (which does not always say what the note says). What the notes name was read by hand
(``medical_notes.tsv``); rows not listed there name nothing: whatever is found in them is wrong. What is denied is none.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from selfright.domain.slots import Slot
from selfright_medical.extract import MedicalExtractor
from selfright_medical.wording import concept_of

SLOT = {"MEDICATIONS": "medications", "ALLERGY": "allergies"}
HEADING = {"MEDICATIONS": "Medications: ", "ALLERGY": "Allergies: "}
LEFT_OUT = {"valid-66"}  # filed under allergies, but tells of other things


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dialogue", action="store_true")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    listed = gold()
    lines = (options.data / "mts_dialog/dev/slots.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["section"] in SLOT and row["id"] not in LEFT_OUT]
    counts: Counter[tuple[str, str]] = Counter()
    denied_kept = 0
    for row in rows:
        section, wanted = row["section"], listed.get(row["id"], frozenset())
        text = row["dialogue"] if options.dialogue else HEADING[section] + row["note"]
        found = names_in(text, SLOT[section])
        counts[section, "right"] += len(wanted & found)
        counts[section, "said"] += len(found)
        counts[section, "meant"] += len(wanted)
        denied_kept += section == "ALLERGY" and not wanted and bool(found)
        if options.errors and wanted != found:
            print(row["id"], "missed", sorted(wanted - found), "wrong", sorted(found - wanted))
    for section in SLOT:
        right, said, meant = (counts[section, what] for what in ("right", "said", "meant"))
        print(f"{section:12} recall {right / meant:.3f}  precision {right / said:.3f}  ({meant} values)")
    none = sum(row["section"] == "ALLERGY" and row["id"] not in listed for row in rows)
    print(f"allergies kept from {none} notes that name none: {denied_kept}")


def gold() -> dict[str, frozenset[str]]:
    found = {}
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            row, _, names = line.split("\t")
            found[row] = frozenset(map(key_of, names.split("|")))
    return found


def names_in(text: str, name: str) -> set[str]:
    slots = MedicalExtractor().read(text)
    return {slot.detail("key") or slot.value for slot in slots if slot.name == name and not slot.negated}


def key_of(name: str) -> str:
    concept = concept_of(Slot("medications", name))
    return concept.id if concept else name.lower()


if __name__ == "__main__":
    main()
