"""The options of a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from selfright.domain.answers import Message
from selfright.domain.errors import UnknownName, UsageError

DEFAULT_USER = "local"

Mode = Literal["ai_agent", "llm"]
"""Who answers [S4]: the agent over the documents, or the model alone."""

_MODEL_ALONE = "llm"  # the preset of that mode


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of a user was erased."""

    sessions: int
    facts: int
    traces: int
    ratings: int = 0


class TurnOptions(TypedDict, total=False):
    """Options of a question.

    ``mode`` is ``ai_agent``, or ``llm`` for the model alone (the preset ``llm``). ``preset`` and ``flags`` override the
    settings. ``history`` is a conversation that the caller keeps; ``session`` names one that is stored for ``user``.
    ``profile`` has facts about the user; ``collections`` limits the search. ``record`` makes the turn replayable.
    """

    mode: Mode | None
    preset: str | None
    flags: Mapping[str, object] | None
    history: Sequence[Message | Mapping[str, str]]
    profile: Mapping[str, object] | None
    collections: str | Sequence[str]
    session: str | None
    user: str | None
    record: bool


def preset_for(options: TurnOptions, usual: str) -> str | None:
    """The preset that the options ask for, None for the ``usual`` one.

    Raises ``UnknownName`` for a mode that there is not, ``UsageError`` for a preset of the other mode.
    """
    mode, preset = options.get("mode"), options.get("preset")
    if mode is None:
        return preset
    if mode not in get_args(Mode):
        raise UnknownName("mode", mode, get_args(Mode))
    if mode == "llm":
        if preset not in (None, _MODEL_ALONE):
            raise UsageError(f"mode 'llm' is the preset 'llm', but the preset is '{preset}'; leave one of them out")
        return _MODEL_ALONE
    if preset == _MODEL_ALONE:
        raise UsageError("mode 'ai_agent' needs another preset than 'llm'; leave one of them out")
    return preset or ("full" if usual == _MODEL_ALONE else None)
