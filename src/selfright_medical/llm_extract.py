"""Slots by a language model: it points at words of the message and says how they are meant; the rest stays rules.

The model may only quote. What it names must stand in the message letter by letter, so that it can neither invent
a fact nor be talked into one that the user did not write. Ages, vitals, laboratory values and doses are read by rules.
An allergy is kept only where nothing speaks against it: see ``_allergy``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

from selfright.domain.chat import ChatRequest, Job, PromptDelimiters
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.passages import Language
from selfright.domain.ports import ChatModel, SlotExtractor
from selfright.domain.slots import Slot, SlotTime, Subject
from selfright.domain.text import language_of
from selfright_medical.extract import KEY, MedicalExtractor
from selfright_medical.lexicon import Concept, Kind
from selfright_medical.spotting import Mention, longest, spotter
from selfright_medical.wording import TEXTS

KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {"conditions": "condition", "symptoms": "symptom", "medications": "drug", "allergies": "drug"}
)
"""What a model may point at → the kind of thing that it is in the lexicon."""

SUBJECTS = ("user", "family", "other")
TIMES = ("current", "past")

SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "title": Job.EXTRACT.value,
        "type": "object",
        "properties": {
            "facts": {
                "type": "array",
                "description": "what the message names, in its order",
                "items": {
                    "type": "object",
                    "properties": {
                        "kind": {"type": "string", "enum": list(KINDS)},
                        "quote": {"type": "string", "description": "words of the message, letter by letter"},
                        "negated": {"type": "boolean"},
                        "subject": {"type": "string", "enum": list(SUBJECTS)},
                        "time": {"type": "string", "enum": list(TIMES)},
                        "certain": {"type": "boolean"},
                    },
                    "required": ["kind", "quote", "negated", "subject", "time", "certain"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["facts"],
        "additionalProperties": False,
    }
)


def extraction_prompt(text: str, language: Language) -> tuple[str, str]:
    """The rules, and the message."""
    texts = TEXTS[language]["extraction"]
    return texts["rules"], f"{texts['label']}:\n{PromptDelimiters.around(text).wrap('message', text)}"


LONGEST = 4_000
"""Characters of a message that are shown to the model; a longer one is left to the rules."""

MOST_FACTS = 40
ALLERGIES = "allergies"
_UNCERTAIN = (("certainty", "uncertain"),)
_MOST_TOKENS = 2_048  # forty facts, and room for a model that thinks first


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Implements the port ``SlotExtractor``: one call for a message of up to 4,000 characters.

    What ``rules`` read stands whenever the model is out of reach, answers with anything but the object that was asked
    for, or quotes what the message does not say; ``stood_in`` is then called. It is not when the turn's budget is spent
    or the message too long, for then nothing has failed.
    """

    chat: ChatModel
    rules: SlotExtractor
    stood_in: Callable[[], None] = lambda: None

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """The facts in the order in which they stand."""
        if not text.strip() or len(text) > LONGEST:
            return await self.rules.extract(text, turn)
        try:
            facts = await self._facts(text)
        except BudgetSpent:
            return await self.rules.extract(text, turn)
        except (ModelUnavailable, ModelRejected, ReplyUnusable):
            self.stood_in()
            return await self.rules.extract(text, turn)
        pointed = longest((_mention(fact) for fact in facts), len(text))
        read = await MedicalExtractor(also=lambda _text: pointed).extract(text, turn)
        unread = (fact for fact in facts if not any(_meet(fact, slot) for slot in read))
        slots = (*(_as_meant(slot, facts) for slot in read), *(_slot(fact, turn) for fact in unread))
        return tuple(sorted(filter(None, slots), key=lambda slot: (slot.start, slot.end)))

    async def _facts(self, text: str) -> list[Slot]:
        system, user = extraction_prompt(text, language_of(text))
        request = ChatRequest(Job.EXTRACT, system, user, max_tokens=_MOST_TOKENS, schema=SCHEMA)
        facts = ((await self.chat.complete(request)).data or {}).get("facts")
        if not isinstance(facts, list | tuple) or len(facts) > MOST_FACTS:
            raise ReplyUnusable(f"a list of at most {MOST_FACTS} facts was expected, and something else came")
        return [*_place_facts(text, facts)]


def _place_facts(text: str, facts: Sequence[object]) -> Iterator[Slot]:
    """The facts at their places, in the model's words; the same words quoted again are the next ones like them."""
    reached: dict[str, int] = {}
    for said in facts:
        fact = _check_fact(said)
        start = text.find(fact.value, reached.get(fact.value, 0))
        if start < 0:
            raise ReplyUnusable("the model quoted words that the message does not hold; ask again")
        reached[fact.value] = end = start + len(fact.value)
        yield replace(fact, start=start, end=end)


def _check_fact(fact: object) -> Slot:
    """The fact, which has no place yet; its value is the words it was told by."""
    said = fact if isinstance(fact, Mapping) else {}
    kind, quote, subject, time = (said.get(name) for name in ("kind", "quote", "subject", "time"))
    negated, certain = said.get("negated"), said.get("certain", True)
    if not (kind in KINDS and isinstance(quote, str) and quote.strip()):
        raise ReplyUnusable(f"a fact with a kind of {tuple(KINDS)} and a quote was expected, and something else came")
    if not (isinstance(negated, bool) and isinstance(certain, bool)):
        raise ReplyUnusable("true or false was expected for 'negated' and 'certain', and something else came")
    if subject not in SUBJECTS or time not in TIMES:
        raise ReplyUnusable(f"a subject of {SUBJECTS} and a time of {TIMES} were expected, and something else came")
    details = () if certain else _UNCERTAIN
    return Slot(str(kind), quote, None, negated, cast("Subject", subject), cast("SlotTime", time), details=details)


def _mention(fact: Slot) -> Mention:
    """The lexicon's concept when the quoted words hold one, else a new one by these words."""
    quote, kind = fact.value, KINDS[fact.name]
    known = spotter("condition", "symptom", "drug", "allergen").find(quote)
    fitting = next((one.concept for one in known if one.concept.kind in (kind, "allergen")), None)
    concept = fitting or Concept(f"said:{quote.casefold()}", kind, (quote,), (quote,), "said")
    return Mention(concept, fact.start, fact.end, language_of(quote))


def _as_meant(slot: Slot, facts: Sequence[Slot]) -> Slot | None:
    """A slot of the rules as the model says it is meant; none for a name that it did not point at."""
    if slot.name not in KINDS:
        return slot
    fact = next((one for one in facts if _meet(one, slot)), None)
    if ALLERGIES in (slot.name, fact.name if fact else ""):
        return _allergy(slot, fact)
    if fact is None:
        return None
    meant = replace(slot, name=fact.name, negated=fact.negated, subject=fact.subject, time=fact.time)
    return _if_sure(meant, fact)


def _allergy(slot: Slot, fact: Slot | None) -> Slot | None:
    """An allergy that nothing speaks against; what the rules read as one stays one if the model is silent about it.

    Where one of the two denies what the other states, or the model is unsure, it is unclear what the user cannot stand,
    and nothing is kept. A denial is kept as one where both read it, for it may take back what was said before.
    """
    if fact is None:
        return slot
    if fact.details or (slot.negated and slot.name == ALLERGIES) != fact.negated:
        return None
    key = tuple(pair for pair in slot.details if pair[0] == KEY)
    return replace(slot, name=ALLERGIES, subject=fact.subject, time=fact.time, details=key)


def _if_sure(slot: Slot, fact: Slot) -> Slot | None:
    """What is not certain is a suspected condition, and of anything else nothing to keep."""
    if fact.details and slot.name != "conditions":
        return None
    details = {name: value for name, value in slot.details if name != "certainty"} | dict(fact.details)
    return replace(slot, details=tuple(sorted(details.items())))


def _slot(fact: Slot, turn: int) -> Slot | None:
    """What only the model sees as a fact: 계란을 먹으면 큰일 나요. An allergy that only it denies is none."""
    if fact.name == ALLERGIES and (fact.negated or fact.details):
        return None
    mention = _mention(fact)
    value, details = mention.concept.name(mention.language), ((KEY, mention.concept.id),)
    return _if_sure(replace(fact, value=value, turn=turn, details=details), fact)


def _meet(fact: Slot, slot: Slot) -> bool:
    return slot.name in KINDS and fact.start < slot.end and slot.start < fact.end
