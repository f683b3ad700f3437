"""What can be set is written down."""

import dataclasses
from pathlib import Path

from selfright.domain.flags import Flags
from selfright.domain.judgements import StopReason
from selfright.settings import SETTING_NAMES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_flag_and_stop_reason_is_documented_with_its_turn() -> None:
    page = (DOCS / "turn.md").read_text(encoding="utf-8")
    names = [field.name for field in dataclasses.fields(Flags)] + [reason.value for reason in StopReason]
    assert not [name for name in names if f"`{name}`" not in page]


def test_every_setting_is_documented_with_the_quick_start() -> None:
    page = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    assert not [name for name in SETTING_NAMES if f"`{name}`" not in page]
