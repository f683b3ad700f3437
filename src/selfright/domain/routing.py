"""Named parts of an index, and which of them a question is sent to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self
from unicodedata import category

from selfright.domain.errors import InputError, UnknownName, UsageError
from selfright.domain.judgements import QueryClass
from selfright.domain.markup import INVISIBLE
from selfright.domain.text import check_name

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode's categories of what controls text, line breaks among them
MAX_DESCRIPTION = 2_000
MAX_SLOTS = 50
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Collection:
    """A named part of an index, and what its operator says of it.

    ``classes`` are the query classes it serves, all of them when none is given; ``slots`` are names of slots whose
    presence in a message points to it; ``documents`` is how many it holds.
    """

    name: str
    description: str = ""
    classes: tuple[QueryClass, ...] = ()
    slots: tuple[str, ...] = ()
    documents: int = 0

    @classmethod
    def describe_as(cls, name: str, description: str, classes: Sequence[str] = (), slots: Sequence[str] = ()) -> Self:
        """A collection as somebody describes it, in one line.

        Raises ``UnknownName`` for a class that there is not and ``InputError`` for an empty name or too long a text.
        """
        name, description = collection_name(name), " ".join(description.split())
        if len(description) > MAX_DESCRIPTION:
            raise InputError(
                f"a description has at most {MAX_DESCRIPTION:,} characters, but this one has {len(description):,}; "
                "one or two sentences that name what is treated serve best"
            )
        kinds = tuple(dict.fromkeys(_class_named(given) for given in classes))
        named = tuple(dict.fromkeys(slot.strip() for slot in slots if slot.strip()))
        if len(named) > MAX_SLOTS:
            raise InputError(f"a collection takes at most {MAX_SLOTS} slots, but got {len(named)}")
        return cls(name, description, kinds, named)

    def serves(self, kind: QueryClass | None) -> bool:
        """Whether questions of this class may be sent here; an unknown class may be sent anywhere."""
        return not self.classes or kind in (None, QueryClass.UNKNOWN) or kind in self.classes


def collection_name(name: str) -> str:
    """The name of a collection, without blanks around it; what is typed and what comes from a file's name are one.

    Raises ``UsageError`` for one that is empty, too long, or would look like another or break a line: with line breaks,
    NUL, signs that turn the direction of writing or that nobody sees.
    """
    name = check_name("collection", name.strip())
    if unseen := next((sign for sign in name if category(sign) in _UNSEEN or INVISIBLE.match(sign)), None):
        raise UsageError(
            f"the name of a collection must not have the invisible character U+{ord(unseen):04X}; leave it out"
        )
    return name


def _class_named(name: str) -> QueryClass:
    valid = [kind.value for kind in QueryClass if kind is not QueryClass.UNKNOWN]
    if name not in valid:
        raise UnknownName("query class", name, valid)
    return QueryClass(name)


class RoutingReason(StrEnum):
    """Why a turn searches these collections; ``about`` of a ``RoutingDecision`` is what it says it of."""

    NAMED_BY_USER = "named_by_user"
    SEARCHED_BEFORE = "searched_before"  # a pass before did not find enough
    TOO_LITTLE = "too_little"  # what the chosen collections, ``about``, brought
    ROUTER_FAILED = "router_failed"  # with an error of the class ``about``
    ONLY_ONE = "only_one"
    UNDESCRIBED = "undescribed"
    UNCLEAR = "unclear"  # nothing points to some of them; ``about`` is how near each is, in brackets
    ANY_MAY = "any_may"  # any of them may hold it; ``about`` likewise


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The collections to search, none meaning all of them, and why; ``fallback`` when it could not be told which.

    ``reason`` is a code, or what a router says in its own words.
    """

    collections: tuple[str, ...]
    reason: RoutingReason | str
    fallback: bool = False
    about: str = ""

    @property
    def names(self) -> str:
        """The collections in one line; of many only the first."""
        rest = len(self.collections) - _NAMED
        return ", ".join(self.collections[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")

    @classmethod
    def everywhere(cls, reason: RoutingReason | str, about: str = "") -> "RoutingDecision":
        """The fallback: all collections."""
        return cls((), reason, fallback=True, about=about)
