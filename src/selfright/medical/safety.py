"""What is said of health only with care: doses and interactions need a source, and no answer is a diagnosis."""

import re

from selfright.domain.passages import Language
from selfright.medical.complaints import complaints
from selfright.medical.naming import OF_OTHER_FIELDS
from selfright.medical.spotting import spotter

_LONGEST = 10_000
_UNIT = r"(?:mg|mcg|µg|μg|ug|밀리그램|마이크로그램|IU|국제단위)"
_COUNTED = r"(?:g|ml|mL|cc|units?|tablets?|pills?|capsules?|drops?|puffs?|teaspoons?|그램|정|알|캡슐|포|방울|단위)"
_TAKING = (
    r"(?:take|taken|taking|dos(?:e|es|age|ing)|daily|a day|per day|every \d+|twice|once|times|inject|administer\w*"
    r"|복용|투여|투약|용량|하루|매일|드시|드세요|먹|주사|\d+\s*회|시간마다|식후|식전)"
)
_DOSE = re.compile(
    rf"\d[\d.,]*\s*{_UNIT}(?![a-z])|\d[\d.,]*\s*{_COUNTED}(?![a-z])[^.!?]*{_TAKING}"
    rf"|{_TAKING}[^.!?]*\d[\d.,]*\s*{_COUNTED}(?![a-z])",
    re.IGNORECASE,
)
_INTERACTION = re.compile(
    r"\binteract(?:s|ion|ions|ing)?\b[^.!?]*\b(?:drug|medic\w+|with)\b|\b(?:drug|medicine)s? interactions?\b"
    r"|\b(?:take|taken|taking|combin\w+|mix\w*)\b[^.!?]*\b(?:together|with (?:other )?(?:drug|medic|alcohol)\w*)\b"
    r"|상호\s*작용|병용|(?:함께|같이|동시에)\s*(?:복용|투여|먹|드시|드세요|사용)[^.!?]*(?:약|제|안|돼|됩"
    r"|위험|금기|가능)",
    re.IGNORECASE,
)
_NOTE: dict[Language, str] = {
    "en": "This is general information from its sources, no diagnosis; for your own case ask a doctor or pharmacist.",
    "ko": "출처에 근거한 일반 정보이며 진단이 아닙니다. 본인의 상태는 의사나 약사와 상의하세요.",
}


def needs_source(sentence: str) -> bool:
    """Whether a sentence states a dose or what medicines do together: such things are said with a citation or not."""
    return _DOSE.search(sentence) is not None or _INTERACTION.search(sentence) is not None


def notes(question: str, language: Language) -> tuple[str, ...]:
    """The note that goes with every answer to a question of health; none with others."""
    return (_NOTE[language],) if is_medical(question) else ()


def is_medical(text: str) -> bool:
    """Whether a text names a condition, symptom, medicine or measurement that the lexicon knows."""
    text = text[:_LONGEST]
    found = [*complaints().find(text), *spotter("condition", "symptom", "drug", "lab").find(text)]
    return any(text[mention.start : mention.end] not in OF_OTHER_FIELDS for mention in found)
