"""What could be said in answer to a question, each with what it covers and how much it matters."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from selfright.domain.ports import Embedder
from selfright.domain.text import has_hangul
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.generate.pieces import Piece
from selfright.roles.matching import TermMatcher
from selfright.roles.offers import offers
from selfright.roles.questions import AnswerType, answer_type, matches_type, question_parts

# How much of a question's word is covered when it stands beside the sentence instead of in it.
_IN_LEAD, _IN_SECTION, _IN_TITLE, _IN_SENTENCE_BEFORE = 0.85, 0.7, 0.6, 0.5
_COVERAGE, _TYPE, _STRIP = 0.5, 0.2, 0.3
_COSINE = 0.25
_MOST_ITEMS = 8
_MOST_GROUP_CHARACTERS = 900
_MOST_EMBEDDED = 48

_WORD = re.compile(r"[^\W_]+")

# Text that talks to a language model instead of about the subject is data like any other, and no answer.
_TO_THE_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules?|context|above|previous)\b"
    r"|\bsystem prompt\b|\byou are (?:now )?(?:an? |the )?(?:ai|assistant|chatbot|language model)\b"
    r"|\b(?:grade|rate|mark|score) (?:me|this (?:passage|document|text)) (?:as )?\w+"
    r"|\b(?:answer|respond|reply) (?:only )?with\b.{0,60}\b(?:instead|regardless|no matter)\b"
    r"|</?(?:tool_call|system|assistant)\b"
    r"|(?:이전|앞의|위의|모든|기존)\s?(?:지시|명령|지침|프롬프트|규칙)[가-힣\s]{0,12}(?:무시|잊)|시스템\s?프롬프트"
    r"|(?:이|본) (?:문서|글|문단)[을를]? (?:관련 있|적합|정답)[가-힣\s]{0,8}(?:평가|채점|표시|판정)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence, or several entries of one list or table. ``strength`` says how well (0…1) each question word,
    by token, is covered; ``coverage`` is its idf-weighted mean; ``relevance`` (0…1) says how directly the candidate
    answers, ``by_part`` how directly it answers each part of the question.
    """

    pieces: tuple[Piece, ...]
    strength: dict[str, float]
    coverage: float
    relevance: float
    words: frozenset[str]
    by_part: tuple[float, ...]


def candidates(
    question: str, pieces: Sequence[Piece], analyzer: TextAnalyzer, embedder: Embedder | None = None
) -> list[Candidate]:
    """A candidate for each sentence, and for each list or table the entries of it that answer, in reading order."""
    scorer = _Scorer(question, analyzer)
    found: list[Candidate] = []
    for group in _groups(piece for piece in pieces if not _speaks_to_model(question, piece)):
        scored = [scorer.score((piece,)) for piece in group]
        found += [scorer.score(chosen) for chosen in _entries(scored)] if group[0].group >= 0 else scored
    return _with_cosines(question, found, embedder) if embedder else found


class _Scorer:
    def __init__(self, question: str, analyzer: TextAnalyzer) -> None:
        self._analyzer = analyzer
        self._terms = analyzer.key_terms(question)
        self._matcher = TermMatcher(analyzer, self._terms)
        self._places = lru_cache(maxsize=1024)(self._matcher.places)
        self._parts = [
            (part, answer_type(part), analyzer.key_terms(part) or self._terms) for part in question_parts(question)
        ]

    def score(self, pieces: tuple[Piece, ...]) -> Candidate:
        strength = self._strength(pieces)
        by_part = tuple(self._answering(pieces, part, kind, terms, strength) for part, kind, terms in self._parts)
        relevance = max(by_part) + _STRIP * max(piece.strip.score for piece in pieces)
        coverage = _weighted(self._terms, strength)
        return Candidate(pieces, strength, coverage, min(1.0, relevance), _words(pieces), by_part)

    def _strength(self, pieces: tuple[Piece, ...]) -> dict[str, float]:
        first = pieces[0]
        passage = first.strip.passage
        beside = (
            (_IN_LEAD, first.lead),
            (_IN_SECTION, passage.section),
            (_IN_TITLE, passage.title),
            (_IN_SENTENCE_BEFORE, first.before.text if first.before else ""),
        )
        spelled = {token for piece in pieces for token in self._analyzer.tokens(piece.text)}
        strength = {term.token: 1.0 if term.token in spelled else 0.0 for term in self._terms}
        for worth, text in beside:
            for at in self._places(text) if text else ():
                token = self._terms[at].token
                strength[token] = max(strength[token], worth)
        return strength

    def _answering(
        self, pieces: tuple[Piece, ...], part: str, kind: AnswerType, terms: Sequence[Term], strength: dict[str, float]
    ) -> float:
        covered = _weighted(terms, strength)
        text = " ".join(piece.text for piece in pieces)
        if kind is AnswerType.DEFINITION:
            offered = _defines(text, terms) if pieces[0].kind == "sentence" else 0.0
        else:
            offered = 1.0 if kind is AnswerType.LIST and len(pieces) > 1 else offers(kind, part, text)
        return _COVERAGE * covered + _TYPE * offered * min(1.0, 2 * covered)


def _defines(text: str, terms: Sequence[Term]) -> float:
    """A definition says what its subject is: the word asked for opens the sentence."""
    opening = text[:40].casefold()
    opens = any(term.surface.casefold() in opening for term in terms)
    return matches_type(AnswerType.DEFINITION, text) * (1.0 if opens else 0.4)


def _weighted(terms: Iterable[Term], strength: dict[str, float]) -> float:
    total = covered = 0.0
    for term in terms:
        total += term.weight
        covered += term.weight * strength.get(term.token, 0.0)
    return covered / total if total else 0.0


def _words(pieces: Iterable[Piece]) -> frozenset[str]:
    """The words of the pieces, Korean ones cut to their first two syllables, where most particles are gone."""
    words = (word for piece in pieces for word in _WORD.findall(piece.text.casefold()))
    return frozenset(word[:2] if has_hangul(word) else word for word in words)


def _groups(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Pieces of one list or table together, each sentence alone."""
    groups: list[list[Piece]] = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        same = last and piece.group >= 0 and last.group == piece.group
        if same and last and last.strip.passage.document_id == piece.strip.passage.document_id:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _entries(scored: list[Candidate]) -> list[tuple[Piece, ...]]:
    """Which entries of a list answer together: those that say more of the question than the rest, else all."""
    best = max(candidate.coverage for candidate in scored)
    least = min(candidate.coverage for candidate in scored)
    telling = [c.pieces[0] for c in scored if c.coverage >= best - 0.05] if best - least > 0.05 else []
    chosen = telling or [candidate.pieces[0] for candidate in scored]
    kept: list[Piece] = []
    for piece in chosen[:_MOST_ITEMS]:
        if kept and sum(len(p.text) for p in kept) + len(piece.text) > _MOST_GROUP_CHARACTERS:
            break
        kept.append(piece)
    # One citation covers one strip; what spills into the next strip is a candidate of its own.
    by_strip: dict[int, list[Piece]] = {}
    for piece in kept:
        by_strip.setdefault(id(piece.strip), []).append(piece)
    return [tuple(group) for group in by_strip.values()]


def _speaks_to_model(question: str, piece: Piece) -> bool:
    return bool(_TO_THE_MODEL.search(piece.text)) and not _TO_THE_MODEL.search(question)


def _with_cosines(question: str, found: list[Candidate], embedder: Embedder) -> list[Candidate]:
    """Relevance mixed with the similarity of question and text, for the candidates that lead without it."""
    leading = sorted(range(len(found)), key=lambda at: -found[at].relevance)[:_MOST_EMBEDDED]
    if not leading:
        return found
    texts = [" ".join(piece.text for piece in found[at].pieces)[:600] for at in leading]
    vectors = embedder.embed([question, *texts])
    cosines = vectors[1:] @ vectors[0]
    mixed = list(found)
    for at, cosine in zip(leading, cosines, strict=True):
        relevance = (1 - _COSINE) * found[at].relevance + _COSINE * max(0.0, min(1.0, float(cosine)))
        mixed[at] = replace(found[at], relevance=relevance)
    return mixed
