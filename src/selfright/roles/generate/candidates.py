"""What could be said in answer to a question, and which of it makes the answer.

The chosen candidates together cover the question, and none repeats another.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.domain.passages import Hit
from selfright.roles.answer_units import AnswerUnit
from selfright.roles.generate.layout import NUMBERED
from selfright.roles.quantities import quantities
from selfright.roles.selection import ScoredUnit, UnitScorer
from selfright.roles.visible_text import heading_above
from selfright.roles.words import content_words, singular, word_stems

# How far (log-odds) an entry may be behind the best of its list or table to be said with it: rows are apart from one
# another, what a list names belongs together.
_ITEM_MARGIN, _ROW_MARGIN = 2.0, 1.5
_MOST_ITEMS, _MOST_ROWS = 8, 12
_OF_WHOLE = 0.25  # how much the whole question counts where a sentence is scored for a part of it
_MOST_GROUP_CHARACTERS = 1_000

_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]+-?\d+[A-Za-z0-9-]*")
_ASKS = re.compile(r"[?？][\"”'’)\]»*_\s]*$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence, or several entries of one list or table.

    ``score`` (log-odds) says how directly it answers the question, ``by_part`` how directly it answers each of its
    parts; ``coverage`` (0…1) is the idf share of the question's words in and around it.
    """

    units: tuple[AnswerUnit, ...]
    score: float
    by_part: tuple[float, ...]
    coverage: float
    words: frozenset[str]

    @property
    def length(self) -> int:
        """Words as a reader counts them."""
        return sum(len(unit.text.split()) for unit in self.units)


def candidates(
    question: str, units: Sequence[AnswerUnit], scorer: UnitScorer, hits: Sequence[Hit] = ()
) -> list[Candidate]:
    """A candidate for each sentence, and for each list or table the entries of it that answer, in reading order.

    ``hits`` are what the search brought, the best first.
    """
    said = [unit for unit in units if _is_evidence(unit)]
    whole, *each_part = scorer.judge_parts(question, said, hits)
    scored = [
        Candidate((unit,), judged.score, _by_part(judged, of_unit), judged.coverage, word_stems(unit.text))
        for unit, judged, *of_unit in zip(said, whole, *each_part, strict=True)
    ]
    asked = content_words(question)
    return [candidate for group in _groups(scored) for candidate in _entries(_named_rows(question, group), asked)]


def _by_part(judged: ScoredUnit, of_parts: Sequence[ScoredUnit]) -> tuple[float, ...]:
    """A part seldom names what the whole question is about, so the score of the whole counts, too."""
    return tuple(_OF_WHOLE * judged.score + (1 - _OF_WHOLE) * part.score for part in of_parts) or (judged.score,)


def _groups(scored: Iterable[Candidate]) -> list[list[Candidate]]:
    """The entries of one list or table together, each sentence alone."""
    groups: list[list[Candidate]] = []
    last: AnswerUnit | None = None
    for candidate in scored:
        unit = candidate.units[0]
        if last and unit.group >= 0 and _place(unit) == _place(last):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
        last = unit
    return groups


def _place(unit: AnswerUnit) -> tuple[str, int]:
    return unit.strip.passage.document_id, unit.group


def _named_rows(question: str, group: list[Candidate]) -> list[Candidate]:
    """Of a table's rows those with the most of the numbers and codes that the question names ("3 months", "E1")."""
    if len(group) == 1 or group[0].units[0].kind != "row":
        return group
    amounts, codes = quantities(question), _codes(question)
    texts = [row.units[0].text for row in group]
    named = [
        sum(any(map(one.agrees, quantities(text))) for one in amounts) + len(codes & _codes(text)) for text in texts
    ]
    return [row for row, count in zip(group, named, strict=True) if count == max(named)]


def _codes(text: str) -> set[str]:
    return {code.upper() for code in _CODE.findall(text)}


def _entries(group: list[Candidate], asked: frozenset[str]) -> list[Candidate]:
    """The entries of a list that answer together: those not far behind the best. Of rows none that has only some of the
    words that are ``asked`` for and stand in one of those, but not in the headings; all others where most are near."""
    if len(group) == 1:
        return group
    best, is_table = max(group, key=lambda entry: entry.score), group[0].units[0].kind == "row"
    least = best.score - (_ROW_MARGIN if is_table else _ITEM_MARGIN)
    telling = singular(asked) - singular(word_stems(_context(best.units[0])))
    told = [singular(entry.words) & telling if is_table else frozenset() for entry in group]
    most = [words for entry, words in zip(group, told, strict=True) if entry.score >= least]
    alike = [entry for entry, words in zip(group, told, strict=True) if not any(words < other for other in most)]
    near = [entry for entry in alike if entry.score >= least]
    if is_table and 2 * len(near) > len(alike):  # the question does not tell them apart
        near = alike
    near.sort(key=lambda entry: -entry.score)
    chosen: list[Candidate] = []
    for entry in near[: _MOST_ROWS if is_table else _MOST_ITEMS]:
        length = sum(len(other.units[0].text) for other in chosen) + len(entry.units[0].text)
        if not chosen or length <= _MOST_GROUP_CHARACTERS:
            chosen.append(entry)
    chosen = _without_gaps(chosen, group)
    # One citation covers one strip; what spills into the next strip is a candidate of its own.
    by_strip: dict[int, list[Candidate]] = {}
    for entry in chosen:
        by_strip.setdefault(id(entry.units[0].strip), []).append(entry)
    return [_merge_entries(entries) for entries in by_strip.values()]


def _context(unit: AnswerUnit) -> str:
    """What all entries of its list or table stand under."""
    return f"{unit.strip.passage.context} {unit.lead} {unit.under}"


def _without_gaps(chosen: Sequence[Candidate], group: Sequence[Candidate]) -> list[Candidate]:
    """The chosen entries in order; of numbered steps that are mostly chosen, those in between, too."""
    places = sorted(map(group.index, chosen))
    span = group[places[0] : places[-1] + 1]
    steps = all(NUMBERED.match(entry.units[0].text) for entry in span)
    return list(span) if steps and 2 * len(places) > len(span) else [group[place] for place in places]


def _merge_entries(entries: Sequence[Candidate]) -> Candidate:
    units = tuple(unit for entry in entries for unit in entry.units)
    by_part = tuple(map(max, zip(*(entry.by_part for entry in entries), strict=True)))
    score, coverage = max(e.score for e in entries), max(e.coverage for e in entries)
    return Candidate(units, score, by_part, coverage, word_stems(" ".join(unit.text for unit in units)))


def _is_evidence(unit: AnswerUnit) -> bool:
    """Whether the unit tells something: it is no question itself."""
    return not (unit.kind == "sentence" and _ASKS.search(unit.text))


# In log-odds: how far behind the best a candidate may be and still be said; how far the best may be behind a candidate
# on one part of the question before that one must be said.
_MARGIN, _CLEARLY = 2.0, 1.0
_WORDS_OF_TWO, _WORDS_OF_MORE = 100, 60
SAME, SAME_ELSEWHERE = 0.8, 0.55  # share of its words that a sentence may have from one said, of its document or not
_MOST_SALIENT = 60


def choose_answer(candidates: Sequence[Candidate], limit: int = 5) -> list[Candidate]:
    """The most direct answer, one for each part of the question that it leaves open, then what answers nearly as well.

    A row under another heading of a passage is not added to what is under one ("in summer", "in winter"). None repeats
    another. What is added last keeps the answer short: a second one, and a table beside the best one, within 100 words,
    more within 60.
    """
    if not candidates:
        return []
    best = max(candidates, key=lambda candidate: candidate.score)
    chosen = _for_each_part(best, candidates)[:limit]
    near = [candidate for candidate in candidates if candidate.score >= best.score - _MARGIN]
    for rival in sorted(near, key=lambda candidate: -candidate.score):
        words = sum(candidate.length for candidate in (*chosen, rival))
        most = _WORDS_OF_TWO if len(chosen) == 1 or _is_beside(rival, best) else _WORDS_OF_MORE
        fits = len(chosen) < limit and words <= most
        if fits and not _repeats(rival, chosen) and not _is_elsewhere(rival, chosen):
            chosen.append(rival)
    return chosen


def _is_beside(candidate: Candidate, best: Candidate) -> bool:
    """Whether it is rows of a table in the passage of the best one."""
    first = candidate.units[0]
    return first.kind == "row" and first.strip.passage.id == best.units[0].strip.passage.id


def _is_elsewhere(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Whether it is a table's row, and what was chosen of its passage is all under other headings."""
    first = candidate.units[0]
    beside = [one.units[0] for one in chosen if one.units[0].strip.passage.id == first.strip.passage.id]
    topics = {heading_above(unit.strip.passage, unit.start) for unit in beside}
    return first.kind == "row" and bool(topics) and heading_above(first.strip.passage, first.start) not in topics


def choose_summary(candidates: Sequence[Candidate], limit: int = 8) -> list[Candidate]:
    """The candidates that together say most of what the evidence keeps coming back to, in reading order."""
    spread = Counter(word for candidate in candidates for word in candidate.words)
    # A word of every other sentence says as little as one that occurs once.
    worth = {word: count * math.log((1 + len(candidates)) / count) for word, count in spread.items() if len(word) > 1}
    salient = dict(sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:_MOST_SALIENT])
    chosen: list[Candidate] = []
    left = list(candidates)
    while left and len(chosen) < limit:
        best = max(left, key=lambda candidate: _summary_gain(candidate, salient))
        if chosen and _summary_gain(best, salient) <= 0.0:
            break
        left.remove(best)
        chosen.append(best)
        for word in best.words:
            salient.pop(word, None)
    return sorted(chosen, key=candidates.index)


def _for_each_part(best: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate, and one for each part of the question that it answers clearly worse than another does."""
    chosen = [best]
    for part in range(len(best.by_part)):
        reached = max(candidate.by_part[part] for candidate in chosen)
        other = max(candidates, key=lambda candidate: candidate.by_part[part])
        if reached < other.by_part[part] - _CLEARLY and not _repeats(other, chosen):
            chosen.append(other)
    return chosen


def _summary_gain(candidate: Candidate, salient: dict[str, float]) -> float:
    new = sum(salient.get(word, 0.0) for word in candidate.words)
    return new * (0.3 + candidate.coverage) / math.sqrt(8 + len(candidate.words))


def _repeats(candidate: Candidate, chosen: Iterable[Candidate]) -> bool:
    """Whether it says in the same words what one chosen candidate says. Where another document does, be it with another
    name or number, fewer words are enough: the better one is said."""

    def most(other: Candidate) -> float:
        document = other.units[0].strip.passage.document_id
        return SAME if candidate.units[0].strip.passage.document_id == document else SAME_ELSEWHERE

    return any(
        _introduces_one(candidate, other) or overlap(candidate.words, other.words) > most(other) for other in chosen
    )


def _introduces_one(one: Candidate, other: Candidate) -> bool:
    """Whether one of them is the line above the list that the other is of, and which is said with that."""
    first, second = one.units[0], other.units[0]
    same = first.strip.passage.document_id == second.strip.passage.document_id
    return same and (first.start == second.lead_start or second.start == first.lead_start)


def overlap(words: frozenset[str], others: frozenset[str]) -> float:
    """The share (0…1) of the words that ``others`` have, too."""
    return len(words & others) / max(1, len(words))
