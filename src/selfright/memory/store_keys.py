"""Where the parts of a session lie in LangGraph's store, and what they are called there."""

from urllib.parse import quote, unquote

from langgraph.store.base import PutOp, SearchItem

from selfright.domain.errors import InputError
from selfright.memory.conversation import Head, RunningTurn, SessionInfo

MAX_NAME = 200
HEADS, TURNS = "heads", "turns"


def info(item: SearchItem) -> SessionInfo:
    """What a session's stored head says of it."""
    head = Head.restored(item.value)
    return SessionInfo(unlabel(item.key), head.turns, head.created, head.updated, head.unfinished is not None)


def owner(item: SearchItem) -> tuple[str, str]:
    """The user and the session that a stored head belongs to."""
    return unlabel(item.namespace[1]), unlabel(item.key)


def put_head(user: str, session: str, head: Head | None) -> PutOp:
    """Writes a session's head, or deletes it."""
    return PutOp((HEADS, label(user)), label(session), None if head is None else head.stored())


def turns_of(user: str, session: str) -> tuple[str, ...]:
    """The namespace of a session's turns."""
    return (TURNS, label(user), label(session))


def turn_key(number: int) -> str:
    """The key of a turn's record."""
    return f"{number:08d}"


def lock_key(user: str, session: str) -> str:
    """The key of the lock on a session."""
    return f"{label(user)}/{label(session)}"


def thread_id(user: str, session: str, turn: RunningTurn) -> str:
    """The thread of a turn's checkpoints."""
    return f"{lock_key(user, session)}/{turn.number}"


def label(name: str) -> str:
    """The name as LangGraph takes it in a namespace, where dots separate; different names stay different."""
    return quote(name, safe="", errors="surrogatepass").replace(".", "%2E")


def unlabel(label: str) -> str:
    """The name that ``label`` made a label of."""
    return unquote(label, errors="surrogatepass")


def check_name(what: str, name: str) -> None:
    """Raises ``InputError`` for a name that is empty or too long."""
    if not 0 < len(name) <= MAX_NAME:
        raise InputError(f"the name of a {what} must have 1 to {MAX_NAME} characters, but has {len(name):,}")
