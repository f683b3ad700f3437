"""The mode of a turn [S4], beside its preset; what can be a question."""

import pytest

from selfright.domain.errors import InputError, UnknownName, UsageError
from selfright.domain.turns import TurnOptions, check_question, preset_for


@pytest.mark.parametrize(
    ("options", "usual", "expected"),
    [
        ({}, "full", None),
        ({"preset": "crag"}, "full", "crag"),
        ({"mode": "llm"}, "full", "llm"),
        ({"mode": "llm", "preset": "llm"}, "full", "llm"),
        ({"mode": "ai_agent"}, "crag", None),
        ({"mode": "ai_agent"}, "llm", "full"),
        ({"mode": "ai_agent", "preset": "basic"}, "llm", "basic"),
    ],
)
def test_the_mode_chooses_the_preset(options: TurnOptions, usual: str, expected: str | None) -> None:
    assert preset_for(options, usual) == expected


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="preset is 'crag'"):
        preset_for({"mode": "llm", "preset": "crag"}, "full")
    with pytest.raises(UsageError, match="another preset"):
        preset_for({"mode": "ai_agent", "preset": "llm"}, "full")
    with pytest.raises(UnknownName, match=r"did you mean|one of"):
        preset_for({"mode": "agent"}, "full")


@pytest.mark.parametrize("question", [None, 3, b"What?", ["What?"]])
def test_what_is_no_text_is_no_question(question: object) -> None:
    with pytest.raises(InputError, match=f"must be text, but got {type(question).__name__}"):
        check_question(question)
