"""The medical pack: everything that makes the general engine one for questions of health."""

from collections.abc import Callable
from pathlib import Path

from selfright.domain.packs import DomainPack, Pointer
from selfright.domain.passages import Language
from selfright.domain.ports import ChatModel, SlotExtractor, TermLexicon
from selfright.medical.context import summary, terms
from selfright.medical.contraindications import concerns
from selfright.medical.kinds import KINDS
from selfright.medical.names import keyed
from selfright.medical.naming import names, vocabulary
from selfright.medical.red_flags import urgent
from selfright.medical.safety import is_medical, needs_source, notes
from selfright.medical.things import asked_things, things_in
from selfright.medical.words import user_words


def _extractor() -> SlotExtractor:
    from selfright.medical.extract import MedicalExtractor

    return MedicalExtractor()


def _model_extractor(chat: ChatModel, rules: SlotExtractor, stood_in: Callable[[], None]) -> SlotExtractor:
    from selfright.medical.llm_extract import ModelExtractor

    return ModelExtractor(chat, rules, stood_in)


def _linker(model: Path) -> SlotExtractor:
    from selfright.medical.extract import MedicalExtractor
    from selfright.medical.medcat import load_medcat

    return MedicalExtractor(also=load_medcat(model))


def _lexicon() -> TermLexicon:
    from selfright.medical.bilingual import BilingualLexicon

    return BilingualLexicon()


HINTS: dict[Language, str] = {
    "en": (
        "7. State a dose, or that medicines go or do not go together, only when a passage says so, with its number.\n"
        "8. You do not diagnose. Where the profile names a condition, pregnancy, allergy or medicine for which the "
        "passages give a warning, say that warning first."
    ),
    "ko": (
        "7. 용량이나 약물 상호작용은 문단에 있을 때에만 그 번호와 함께 말하세요.\n"
        "8. 진단하지 마세요. 프로필에 있는 질환, 임신, 알레르기, 복용 약에 관해 문단이 주의하라고 하면 그 주의 사항을 "
        "먼저 말하세요."
    ),
}

WARNING: dict[Language, str] = {
    "en": "your profile speaks against this, ask a doctor or pharmacist first",
    "ko": "프로필에 따르면 주의해야 하므로 먼저 의사나 약사와 상의하세요",
}

POINTERS = (
    Pointer(
        ("medications", "allergies"), ("drug", "medicine", "medication", "pharma", "약물", "의약품", "복약", "약품")
    ),
    Pointer(("symptoms",), ("symptom", "emergency", "first aid", "증상", "응급")),
    Pointer(("conditions",), ("disease", "condition", "disorder", "질환", "질병", "병")),
    Pointer(("pregnancy",), ("pregnan", "obstetric", "임신", "산부인과")),
    Pointer(
        ("glucose", "hba1c", "creatinine", "egfr", "cholesterol", "ldl", "hdl", "triglycerides", "ast", "alt"),
        ("laborator", "lab test", "blood test", "검사"),
    ),
)

MEDICAL = DomainPack(
    name="medical",
    kinds=KINDS,
    extractor=_extractor,
    model_extractor=_model_extractor,
    linker=_linker,
    words=user_words,
    lexicon=_lexicon,
    summary=summary,
    terms=terms,
    hints=HINTS,
    keyed=keyed,
    pointers=POINTERS,
    urgent=urgent,
    concerns=concerns,
    warning=WARNING,
    needs_source=needs_source,
    notes=notes,
    about=is_medical,
    names=names,
    vocabulary=vocabulary,
    asked=asked_things,
    things=things_in,
)
