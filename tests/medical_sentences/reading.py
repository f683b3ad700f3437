"""Reads the annotated sentences; their form is told at the top of each file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selfright.domain.slots import Slot
from selfright_medical.lexicon import load_lexicon

_FACT = re.compile(
    r"(?P<name>\w+)=(?P<value>[^{}@!]+?)\s*(?P<not>!)?\s*(?P<subject>@family|@other)?\s*(?P<past>@past)?\s*(?:\{(?P<details>[^}]*)\})?\s*"
)
_NUMBER = re.compile(r"(?P<number>[\d./]+)(?: (?P<unit>\S+))?")


@dataclass(frozen=True, order=True)
class Fact:
    name: str
    value: str
    unit: str | None
    negated: bool
    subject: str
    time: str

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        marks = "!" * self.negated + f" @{self.subject}" * (self.subject != "user") + " @past" * (self.time == "past")
        return f"{self.name}={self.value}{unit} {marks}".strip()


@dataclass(frozen=True)
class Sentence:
    part: str
    language: str
    text: str
    facts: Mapping[Fact, Mapping[str, str]]


def sentences(folder: Path) -> list[Sentence]:
    found = []
    for language, name in (("ko", "korean.tsv"), ("en", "english.tsv")):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                part, text, gold = line.split("\t")
                found.append(Sentence(part, language, text, {} if gold == "-" else dict(_facts(gold))))
    return found


def fact_of(slot: Slot) -> Fact:
    value = slot.detail("key") or slot.value
    return Fact(slot.name, value, slot.unit, slot.negated, slot.subject, slot.time)


def _facts(gold: str) -> Iterator[tuple[Fact, Mapping[str, str]]]:
    for said in gold.split(";"):
        match = _FACT.fullmatch(said.strip())
        assert match, f"not understood: {said}"
        value, unit = match["value"], None
        if number := _NUMBER.fullmatch(value):
            value, unit = number["number"], number["unit"]
        else:
            value = _keys().get(value.lower(), value)
        details = dict(pair.strip().split("=") for pair in (match["details"] or "").split(",") if pair)
        subject = (match["subject"] or "@user")[1:]
        yield (
            Fact(match["name"], value, unit, bool(match["not"]), subject, "past" if match["past"] else "current"),
            details,
        )


@cache
def _keys() -> Mapping[str, str]:
    return {
        form.lower(): concept.id
        for concept in load_lexicon().of_kind("allergen", "drug", "symptom", "condition")
        for form in (*concept.forms_en, *concept.forms_ko)
    }
