"""How complete an answer is: how probably it answers each part of the question, and what it leaves open.

The network that reads a question beside passages reads the answer in a passage's place. Single sentences are among what
it has learnt from: the one that answers, and its neighbours, which are about the same thing and leave the question
open. What is missing is told in words that can be searched for.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import shorten
from typing import Any

from selfright.domain.answers import Draft
from selfright.domain.codes import codes_in
from selfright.domain.file_names import full_title
from selfright.domain.passages import Passage
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.analysis import Term, TextAnalyzer, distinct
from selfright.roles.questions import question_parts
from selfright.roles.reading import read_pairs
from selfright.roles.rewrite.leaning import only_names
from selfright.roles.visible_text import Source, heading_above


@dataclass(frozen=True, slots=True)
class PartFacts:
    """One part of a question beside the answer.

    ``chance`` (0…1): how probably the answer answers it. ``share``: the part of its words, weighted by idf, that are in
    the answer or in the headings that it is cited from; ``missing``: the others, only codes where the answer is in
    another language.
    """

    text: str
    chance: float
    share: float
    terms: tuple[Term, ...] = ()
    missing: tuple[Term, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is rather not answered."""
        return self.chance < OPEN


OPEN = 0.5
# A text that says this, and answers by less than the second number (log-odds), speaks of answering and answers nothing.
# So do 47 of 64 such texts, and 5 of 500 answering sentences of SQuAD 2.0 and KorQuAD; but 13 of 95 right answers of
# the field sets (code, lists, "see …"), so it is asked only of what others brought beside the operator's own texts.
_EMPTY_CLAIM, _SAYS_SO, _ANSWERS = "The answer is in this document.", 2.0, 1.5
_LONGEST_PART = 120
_GAP = re.compile(r"[^,;:?!.()，。]{0,14}")
_KOREAN_ENDING = re.compile(r"[가-힣]+")
_PARTICLE = re.compile(
    r"(?:은|는|이|가|을|를|의|에|에서|에는|에게|한테|께|로|으로|와|과|랑|도|만|까지|부터|처럼|보다|이나|나|마다)+"
)
_TAIL = re.compile(r"[\s.!?。]+$")


class AnswerReader:
    """Reads answers beside questions. ``reader`` is used if ``weights.json`` (by ``training/fit_judges.py``) was fitted
    on it; without one, a part is answered as far as its words are taken up. ``claims`` is its other view.
    """

    def __init__(
        self, analyzer: TextAnalyzer, reader: PairJudge | None = None, claims: PairJudge | None = None
    ) -> None:
        stored = weights()
        self._analyzer = analyzer
        self._reader = reader if reader is not None and reader.name == stored["reader"] else None
        self._claims = claims
        self._weight, self._intercept = float(stored["weight"]), float(stored["intercept"])

    def parts(self, question: str, draft: Draft, sources: Sequence[Source]) -> list[PartFacts]:
        """The facts of each part of the question, at least one."""
        whole = self._analyzer.key_terms(question)
        said = frozenset(self._analyzer.tokens(f"{_headings(draft, sources)}\n{draft.text}"))
        doubtful = is_of_others(draft, [source.passage for source in sources])
        return [self._part(part, whole, draft, said, doubtful) for part in question_parts(question)]

    def _part(self, part: str, whole: Sequence[Term], draft: Draft, said: frozenset[str], doubtful: bool) -> PartFacts:
        terms = self._analyzer.key_terms(part) or whole
        total = sum(term.weight for term in terms)
        share = sum(term.weight for term in terms if term.token in said) / total if total else 1.0
        # "What about dogs?" asks for whatever is said of them, which the network has not learnt.
        named = share == 1.0 and only_names(part, self._analyzer)
        score = None if named else self.score(part, draft)
        chance = None if score is None else 0.0 if doubtful and self._is_empty(draft, score) else self._chance(score)
        chance = share if chance is None else chance
        foreign = bool(draft.text) and language_of(draft.text) != language_of(part)
        missing = (term for term in terms if term.token not in said and not (foreign and not codes_in(term.surface)))
        return PartFacts(part, chance, share, tuple(terms), tuple(missing))

    def chance(self, question: str, draft: Draft) -> float | None:
        """How probably (0…1) the draft answers, by the network; None when nobody reads it."""
        score = self.score(question, draft)
        return None if score is None else self._chance(score)

    def _chance(self, score: float) -> float:
        return 1 / (1 + math.exp(-(self._weight * score + self._intercept)))

    def _is_empty(self, draft: Draft, score: float) -> bool:
        """Whether the draft rather says that there is an answer than what it is."""
        if self._claims is None or score >= _ANSWERS:
            return False
        said = read_pairs(self._claims, _EMPTY_CLAIM, [_said(draft)])
        return said is not None and said[0].score > _SAYS_SO

    def score(self, question: str, draft: Draft) -> float | None:
        """What the network makes of the draft, as log-odds; None when nobody reads it."""
        if self._reader is None or not draft.text.strip() or language_of(question) not in self._reader.languages:
            return None
        read = read_pairs(self._reader, question, [draft_text(draft)])
        return read[0].score if read and math.isfinite(read[0].score) else None


def is_of_others(draft: Draft, passages: Sequence[Passage]) -> bool:
    """Whether the draft cites only what others brought, though the operator's own texts were found beside that."""
    cited = {citation.passage_id for citation in draft.citations}
    used = [passage for passage in passages if passage.id in cited or not cited]
    return not any(passage.trusted for passage in used) and any(passage.trusted for passage in passages)


def draft_text(draft: Draft) -> str:
    """The draft's sentences under the titles that they are cited from."""
    titles = dict.fromkeys(full_title(citation.document_id, citation.title) for citation in draft.citations)
    return "\n".join([*filter(None, titles), _said(draft)])


def _said(draft: Draft) -> str:
    return "\n".join(sentence.text for sentence in draft.sentences) or draft.text


def _headings(draft: Draft, sources: Sequence[Source]) -> str:
    """What the cited texts stand under: title, section, and the last heading inside the passage."""
    passages: Mapping[str, Passage] = {source.passage.id: source.passage for source in sources}
    found: dict[str, None] = {}
    for citation in draft.citations:
        passage = passages.get(citation.passage_id)
        inside = heading_above(passage, citation.start) if passage else ""
        found |= dict.fromkeys((full_title(citation.document_id, citation.title), citation.section, inside))
    return " ".join(found)


def missing_words(parts: Sequence[PartFacts]) -> list[str]:
    """What of the question is left open, as the question writes it.

    Of several parts those that are not answered; of one the codes or else the words that the answer does not have, or
    all of it.
    """
    found = [part for part in parts if part.is_open]
    if len(parts) > 1:
        return list(dict.fromkeys(_TAIL.sub("", part.text)[:_LONGEST_PART] for part in found))
    items = (item for part in found for item in _codes(part) or _stretches(part) or [_TAIL.sub("", part.text)])
    return [item for item in dict.fromkeys(items) if any(map(str.isalnum, item))]


def open_parts(question: str, parts: Sequence[PartFacts]) -> list[str]:
    """The parts that are left open as they were asked, or the codes in them that the answer does not have."""
    found = [part for part in parts if part.is_open]
    whole = len(parts) > 1 and len(found) == len(parts)
    asked = [question] if whole else [item for part in found for item in _codes(part) or [part.text]]
    items = (shorten(_TAIL.sub("", item), _LONGEST_PART, placeholder=" …") for item in asked)
    return [item for item in dict.fromkeys(items) if any(map(str.isalnum, item))]


def _codes(part: PartFacts) -> list[str]:
    return [term.surface for term in distinct(part.missing) if codes_in(term.surface)]


def _stretches(part: PartFacts) -> list[str]:
    """Missing words together with the light words between them, until a word that is taken up or a comma comes.

    A Korean predicate ("나오나요") names nothing by itself, and is left out where it stands alone.
    """
    missing = {term.token for term in part.missing}
    runs: list[tuple[int, int]] = []
    joins = False
    for term in distinct(part.terms):
        start, end = term.start, term.start + len(term.surface)
        if term.token in missing:
            if joins and _GAP.fullmatch(part.text, runs[-1][1], start):
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
        joins = term.token in missing
    named = ((start, end, _word_end(part.text, end)) for start, end in runs)
    words = (part.text[start:last] for start, end, last in named if last == end or " " in part.text[start:end])
    return [word for word in words if len(word) > 1]


def _word_end(text: str, end: int) -> int:
    """``end`` moved past the ending of a Korean word, unless that is only a particle."""
    ending = _KOREAN_ENDING.match(text, end)
    return end if ending is None or _PARTICLE.fullmatch(ending.group()) else ending.end()


@cache
def weights() -> Mapping[str, Any]:
    """The weights that ship with the package."""
    stored: Mapping[str, Any] = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return stored
