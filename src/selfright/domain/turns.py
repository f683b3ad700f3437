"""What a turn starts with: the question, its options, who asks, and where that one may search.

Everything that is kept of a turn says under which scope it was made.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, get_args

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, UnknownName, UsageError
from selfright.domain.passages import Retrieval
from selfright.domain.text import compose_name, readable

if TYPE_CHECKING:
    from selfright.domain.ports import Retriever

DEFAULT_USER = "local"
MAX_QUESTION_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Scope:
    """A user (None: every user's) and the collections that may be searched.

    ``collections`` is None for all of them, those made later included; an empty tuple is none at all.
    """

    user: str | None
    collections: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.user is not None:
            object.__setattr__(self, "user", compose_name(self.user))

    @classmethod
    def of(cls, who: "str | Scope | None") -> "Scope":
        """The scope of a user, or of everyone, who may search everywhere; a scope stays what it is."""
        return who if isinstance(who, Scope) else cls(who)

    @property
    def owner(self) -> str:
        """The user, for what belongs to one user. Raises ``ValueError`` for everyone's scope."""
        if self.user is None:
            raise ValueError("a scope of one user was expected here, but it is everyone's")
        return self.user

    def covers(self, collections: Sequence[str] | None) -> bool:
        """Whether all that was found in ``collections`` (None: everywhere) may be seen."""
        return self.collections is None or (collections is not None and set(collections) <= set(self.collections))

    def shows(self, user: str, collections: Sequence[str] | None) -> bool:
        """Whether something of ``user``, found in ``collections``, may be seen."""
        return self.user in (None, user) and self.covers(collections)

    def within(self, named: Sequence[str] = ()) -> tuple[str, ...] | None:
        """Where to search when ``named`` are asked for; None means everywhere, and an empty tuple nowhere."""
        if self.collections is None:
            return tuple(named) or None
        return tuple(name for name in self.collections if not named or name in named)


def union_of_collections(some: Sequence[str] | None, more: Sequence[str] | None) -> tuple[str, ...] | None:
    """The collections of either; None, which means all, if one of them is None."""
    return None if some is None or more is None else tuple(sorted({*some, *more}))


@dataclass(frozen=True, slots=True)
class TurnCheckpoint:
    """How far a turn has come: its state, the nodes that are next, and what those of them gave that have ended.

    Where it is kept, its values are bytes.
    """

    state: Mapping[str, Any]
    names: tuple[str, ...]
    ended: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScopedRetriever:
    """What a turn searches with: whatever it asks for, it finds nothing outside of its scope."""

    inner: "Retriever"
    scope: Scope

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages of the scope, best first; of ``collections`` alone where some are named."""
        where = self.scope.within(collections)
        if where is not None and not where:
            return Retrieval(())
        return await self.inner.search(query, k, where or ())

    def over(self, wrapped: "Callable[[Retriever], Retriever]") -> Self:
        """The same scope over what ``wrapped`` makes of the retriever in it."""
        return type(self)(wrapped(self.inner), self.scope)


def check_question(question: object) -> str:
    """The question without blanks around it. Raises ``InputError`` for one that is no text, is empty or too long."""
    if not isinstance(question, str):
        raise InputError(f"a question must be text, but got {type(question).__name__}")
    # Places of facts are counted in the message, and the same message has to be the same question.
    question = readable(question).strip()
    if not question:
        raise InputError("the text is empty; give a question, or words to search for")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question has {len(question):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are taken. "
            "Put long text into a document and add it to the index"
        )
    return question


Mode = Literal["ai_agent", "llm"]
"""Who answers [S4]: the agent over the documents, or the model alone."""

_MODEL_ALONE = "llm"  # the preset of that mode


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of a user was erased."""

    sessions: int
    facts: int
    traces: int


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
