"""A domain pack for the support desk of FxStore: it knows versions, systems and error codes.

Put this file where Python finds it and set ``pack = "support_desk:PACK"``.
"""

import re

from selfright.domain.packs import DomainPack, Pointer
from selfright.domain.slots import Concern, Profile, Slot, SlotKind

VERSION = re.compile(r"(?:fxstore|version|버전)\s*v?(\d+\.\d+(?:\.\d+)?)|\bv(\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)
SYSTEM = re.compile(r"\b(windows|linux|ubuntu|macos|alpine|android)\b|(윈도우|리눅스|우분투|맥)", re.IGNORECASE)
ERROR = re.compile(r"\bFX-\d{4}\b", re.IGNORECASE)
SYSTEMS = {"윈도우": "windows", "리눅스": "linux", "우분투": "ubuntu", "맥": "macos"}
DENIED = re.compile(r"\bnot (?:on|using) $", re.IGNORECASE)


class SupportExtractor:
    """Reads version, system and error code from a message (port ``SlotExtractor``)."""

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """Every mention with its place, so that a profile knows who said it where."""
        found = [*_versions(text, turn), *_systems(text, turn), *_errors(text, turn)]
        return tuple(sorted(found, key=lambda slot: slot.start))


def _versions(text: str, turn: int) -> list[Slot]:
    found = VERSION.finditer(text)
    return [Slot("version", m[1] or m[2], turn=turn, start=m.start(), end=m.end()) for m in found]


def _systems(text: str, turn: int) -> list[Slot]:
    return [
        Slot(
            "system",
            SYSTEMS.get(match[0], match[0].lower()),
            negated=DENIED.search(text[: match.start()]) is not None,
            turn=turn,
            start=match.start(),
            end=match.end(),
        )
        for match in SYSTEM.finditer(text)
    ]


def _errors(text: str, turn: int) -> list[Slot]:
    return [Slot("error", m[0].upper(), turn=turn, start=m.start(), end=m.end()) for m in ERROR.finditer(text)]


def summary(profile: Profile, language: str) -> str:
    """ "FxStore 0.3.0 on linux, error FX-1007" """
    parts = []
    if version := profile.values("version"):
        parts.append(f"FxStore {version[-1]}")
    if system := profile.values("system"):
        parts.append(system[-1])
    parts += [f"오류 {code}" if language == "ko" else f"error {code}" for code in profile.values("error")[-3:]]
    return ", ".join(parts)


def concerns(question: str, profile: Profile, language: str) -> tuple[Concern, ...]:
    """Files of 0.2 cannot be opened by 0.3 as they are: whoever has 0.2 and asks about upgrading must hear of it."""
    old = any(version.startswith("0.2") for version in profile.values("version"))
    if not old or not re.search(r"upgrad|migrat|0\.3|업그레이드|이전|변환", question, re.IGNORECASE):
        return ()
    text = {"en": "converting files of version 0.2", "ko": "0.2 파일의 변환"}
    return (
        Concern(text["ko" if language == "ko" else "en"], ("convert", "migrat", "변환"), ("0.2", "0.3", "fxstore")),
    )


def names(text: str) -> tuple[str, ...]:
    """What a message is about: its error codes. A sentence that names one can stand as the question by itself."""
    return tuple(dict.fromkeys(code.upper() for code in ERROR.findall(text)))


def urgent(text: str, language: str) -> str:
    """Who is about to lose data hears first what not to do."""
    if not re.search(r"corrupt|data loss|손상|데이터가 (?:사라|날아)", text, re.IGNORECASE):
        return ""
    if language == "ko":
        return "먼저 저장소 파일을 복사해 두고, 그 전에는 아무것도 쓰지 마세요."
    return "First copy the store's file, and write nothing to it before that."


PACK = DomainPack(
    name="fxstore-support",
    kinds=(
        SlotKind("version", {"en": "version", "ko": "버전"}),
        SlotKind("system", {"en": "system", "ko": "운영체제"}),
        SlotKind("error", {"en": "error code", "ko": "오류 코드"}, many=True),
    ),
    extractor=SupportExtractor,
    summary=summary,
    hints={
        "en": "7. Name the version that a statement holds for, where the passages do.",
        "ko": "7. 문단에 버전이 적혀 있으면 어느 버전의 내용인지 밝히세요.",
    },
    pointers=(Pointer(("error",), ("error code", "troubleshoot", "오류")),),
    urgent=urgent,
    concerns=concerns,
    names=names,
)
