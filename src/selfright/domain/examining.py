"""A turn watched from outside: what each pass looked at and how it was judged, and what a judge from outside says."""

from dataclasses import dataclass, field
from typing import Literal

from selfright.domain.answers import Answer, Cost
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation
from selfright.domain.passages import Passage

Judge = Literal["none", "local", "model"]
"""Who judges the answer once more: nobody, the offline judge, or the language model that evaluates."""


@dataclass(frozen=True, slots=True)
class WatchedPass:
    """One pass of the loop: the passages the draft was judged or written from, and the turn's own judgement of it.

    ``found`` are the ten best passages of the pass's search, best first; ``graded`` those that were kept of them and
    graded; ``strips`` the texts that the draft was written from; ``draft`` its text, empty when it is a refusal.
    """

    passages: tuple[Passage, ...]
    evaluation: Evaluation | None
    found: tuple[Passage, ...] = ()
    graded: tuple[Passage, ...] = ()
    strips: tuple[str, ...] = ()
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """An answer with its passes and the flags it was made under.

    ``judged`` is a second judgement of the final answer against all that the turn looked at, the same for every
    preset; None when nobody was asked or the judge failed. ``judge_cost`` is not part of the answer's own cost.
    ``final`` is the draft that was chosen as the answer, before the turn decided whether to give it or to refuse.
    """

    answer: Answer
    passes: tuple[WatchedPass, ...]
    flags: Flags
    judged: Evaluation | None = None
    judge_cost: Cost = field(default_factory=Cost)
    final: str = ""
