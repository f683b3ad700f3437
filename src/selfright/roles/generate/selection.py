"""Which candidates make the answer: together they cover the question, and none repeats another."""

import math
from collections import Counter
from collections.abc import Sequence

from selfright.roles.generate.candidates import Candidate

# In log-odds: how far behind the best a candidate may be and still be said; how far the best may be behind a candidate
# on one part of the question before that one must be said.
_MARGIN, _CLEARLY = 1.8, 1.0
_WORDS_OF_TWO, _WORDS_OF_MORE = 80, 60
SAME = 0.55
_MOST_SALIENT = 60


def choose_answer(candidates: Sequence[Candidate], limit: int = 5) -> list[Candidate]:
    """The most direct answer, one for each part of the question that it leaves open, then what answers nearly as well.

    None repeats another. What is added last keeps the answer short: a second one within 80 words, more within 60.
    """
    if not candidates:
        return []
    best = max(candidates, key=lambda candidate: candidate.score)
    chosen = _for_each_part(best, candidates)[:limit]
    near = [candidate for candidate in candidates if candidate.score >= best.score - _MARGIN]
    for rival in sorted(near, key=lambda candidate: -candidate.score):
        words = sum(candidate.length for candidate in (*chosen, rival))
        fits = len(chosen) < limit and words <= (_WORDS_OF_TWO if len(chosen) == 1 else _WORDS_OF_MORE)
        if fits and _repeats(rival, chosen) <= SAME:
            chosen.append(rival)
    return chosen


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
        if reached < other.by_part[part] - _CLEARLY and _repeats(other, chosen) <= SAME:
            chosen.append(other)
    return chosen


def _summary_gain(candidate: Candidate, salient: dict[str, float]) -> float:
    new = sum(salient.get(word, 0.0) for word in candidate.words)
    return new * (0.3 + candidate.coverage) / math.sqrt(8 + len(candidate.words))


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> float:
    """The share of the candidate's words that one chosen candidate already has."""
    return max((repeated(candidate.words, other.words) for other in chosen), default=0.0)


def repeated(words: frozenset[str], others: frozenset[str]) -> float:
    """The share (0…1) of the words that ``others`` have, too; above ``SAME`` a sentence repeats another."""
    return len(words & others) / max(1, len(words))
