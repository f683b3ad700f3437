"""Which candidates make the answer: together they cover the question, and none repeats another."""

import math
from collections import Counter
from collections.abc import Sequence

from selfright.roles.analysis import Term
from selfright.roles.generate.candidates import Candidate

_LEAST_NEW = 0.1
_LEAST_RELEVANCE = 0.7
_CLEARLY = 0.85
_COVERED = 0.5
_AS_GOOD = 0.92
_SAME = 0.55
_RELEVANCE_WEIGHT, _REPEAT_WEIGHT = 0.25, 0.3
_MOST_SALIENT = 60


def choose_answer(candidates: Sequence[Candidate], terms: Sequence[Term], limit: int = 4) -> list[Candidate]:
    """The most direct answer, then what adds to it: greedy cover of the question's words, repeats penalised (MMR)."""
    if not candidates:
        return []
    best = max(candidates, key=lambda candidate: candidate.relevance)
    chosen = _for_each_part(best, candidates)[:limit]
    rivals = [c for c in candidates if c not in chosen and c.relevance >= _LEAST_RELEVANCE * best.relevance]
    while rivals and len(chosen) < limit:
        following = max(rivals, key=lambda rival: _gain(rival, chosen, terms))
        rivals.remove(following)
        if _adds(following, best, chosen, terms):
            chosen.append(following)
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
        if reached < _CLEARLY * other.by_part[part] and _repeats(other, chosen) <= _SAME:
            chosen.append(other)
    return chosen


def _summary_gain(candidate: Candidate, salient: dict[str, float]) -> float:
    new = sum(salient.get(word, 0.0) for word in candidate.words)
    return new * (0.3 + candidate.relevance) / math.sqrt(8 + len(candidate.words))


def _gain(candidate: Candidate, chosen: Sequence[Candidate], terms: Sequence[Term]) -> float:
    new = _new_share(candidate, chosen, terms)
    return new + _RELEVANCE_WEIGHT * candidate.relevance - _REPEAT_WEIGHT * _repeats(candidate, chosen)


def _adds(candidate: Candidate, best: Candidate, chosen: Sequence[Candidate], terms: Sequence[Term]) -> bool:
    """Covers more of the question, or answers as directly as the best without saying the same."""
    if _repeats(candidate, chosen) > _SAME:
        return False
    as_good = candidate.relevance >= _AS_GOOD * best.relevance and len(chosen) < 3
    return as_good or _new_share(candidate, chosen, terms) >= _LEAST_NEW


def _new_share(candidate: Candidate, chosen: Sequence[Candidate], terms: Sequence[Term]) -> float:
    total = sum(term.weight for term in terms)
    new = 0.0
    for term in terms:
        covered = max(other.strength.get(term.token, 0.0) for other in chosen)
        if covered < _COVERED:
            new += term.weight * max(0.0, candidate.strength.get(term.token, 0.0) - covered)
    return new / total if total else 0.0


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> float:
    """The share of the candidate's words that one chosen candidate already has."""
    own = candidate.words
    return max((len(own & other.words) / max(1, len(own)) for other in chosen), default=0.0)
