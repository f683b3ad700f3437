"""Slots by a language model: what it may say, and what stands when it says something else."""

import asyncio
from typing import Any

import pytest

from selfright.domain.chat import Job
from selfright.domain.errors import ModelUnavailable
from selfright.domain.slots import Slot
from selfright.medical.extract import MedicalExtractor
from selfright.medical.llm_extract import LONGEST, ModelExtractor
from tests.support.chat import Scripted, ScriptedChat

TEXT = "속이 부글부글해요. 엄마는 와파린 3mg을 드시고, 저는 혈압이 140/90이에요."


def fact(kind: str, quote: str, **others: Any) -> dict[str, Any]:
    return {"kind": kind, "quote": quote, "negated": False, "subject": "user", "time": "current", **others}


def read(text: str, reply: Scripted) -> tuple[Slot, ...]:
    return asyncio.run(ModelExtractor(ScriptedChat([reply]), Job.CLASSIFY, MedicalExtractor()).extract(text, turn=2))


def test_the_model_points_and_the_rules_measure() -> None:
    facts = [fact("symptoms", "속이 부글부글"), fact("medications", "와파린", subject="family")]
    symptom, medicine, pressure = read(TEXT, {"facts": facts})
    assert (symptom.name, symptom.value, TEXT[symptom.start : symptom.end]) == (
        "symptoms",
        "속이 부글부글",
        "속이 부글부글",
    )
    assert (medicine.value, medicine.subject, medicine.detail("dose")) == ("와파린", "family", "3 mg")
    assert (pressure.name, pressure.value, pressure.turn) == ("blood_pressure", "140/90", 2)


def test_what_the_model_does_not_point_at_is_no_slot_and_its_word_counts() -> None:
    text = "I wonder about aspirin. No asthma."
    assert read(text, {"facts": [fact("conditions", "asthma", negated=True)]}) == tuple(
        slot for slot in MedicalExtractor().read(text, 2) if slot.name == "conditions"
    )
    (slot,) = read("I cannot stand eggs", {"facts": [fact("allergies", "eggs")]})
    assert (slot.name, slot.value, slot.detail("key")) == ("allergies", "egg", "allergen:egg")


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("away"),
        "no object at all",
        {"facts": "none"},
        {"facts": [{"kind": "conditions"}]},
        {"facts": [fact("plans", "와파린")]},
        {"facts": [fact("medications", "메트포르민")]},  # nothing that was said
        {"facts": [fact("medications", "와파린", subject="me")]},
        {"facts": [fact("medications", "와파린", negated="no")]},
        {"facts": [fact("medications", "와파린")] * 41},
    ],
    ids=["away", "text", "no list", "no quote", "kind", "invented", "subject", "negated", "too many"],
)
def test_else_the_rules_stand(reply: Scripted) -> None:
    assert read(TEXT, reply) == MedicalExtractor().read(TEXT, 2)


@pytest.mark.parametrize("text", ["", "아스피린 " * LONGEST], ids=["empty", "long"])
def test_no_call_is_made_for_nothing_or_too_much(text: str) -> None:
    chat = ScriptedChat()
    assert asyncio.run(ModelExtractor(chat, Job.CLASSIFY, MedicalExtractor()).extract(text[:6_000])) is not None
    assert chat.requests == []
