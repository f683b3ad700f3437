"""Questions made by rule: gaps cut out of sentences, and edits after which a question has no answer any more.

The edits are those that people make when they write unanswerable questions: another name or number, an opposite,
a negation, another word. ``random.Random`` decides, so a seed gives the same questions again.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.text import sentence_spans
from training.pairs import Page, Question

_OPPOSITES = """
more less / most least / first last / before after / increase decrease / increased decreased / increases decreases /
high low / higher lower / highest lowest / large small / larger smaller / largest smallest / big little / early late /
earlier later / earliest latest / north south / northern southern / east west / eastern western / begin end /
began ended / start stop / started stopped / win lose / won lost / old new / old young / oldest youngest /
older younger / good bad / better worse / best worst / long short / longer shorter / major minor / public private /
always never / all none / many few / allow forbid / allowed forbidden / accept reject / accepted rejected /
support oppose / supported opposed / success failure / successful unsuccessful / common rare / commonly rarely /
strong weak / stronger weaker / positive negative / rise fall / rose fell / gain loss / gained lost / above below /
over under / inside outside / internal external / upper lower / maximum minimum / male female / men women /
mother father / king queen / son daughter / brother sister / husband wife / buy sell / bought sold / enter leave /
entered left / hot cold / wet dry / fast slow / faster slower / rich poor / easy difficult / simple complex /
same different / similar different / include exclude / includes excludes / included excluded / with without /
possible impossible / legal illegal / ancient modern / left right / active inactive / acute chronic / create destroy /
created destroyed / build destroy / built destroyed / join leave / joined left / attack defend / attacked defended /
majority minority / cause prevent / causes prevents / caused prevented / true false / import export / imports exports
/ urban rural / winter summer / day night / agree disagree / agreed disagreed / ally enemy / allies enemies /
friend enemy / victory defeat / expand shrink / expanded shrank / appear disappear / known unknown / regular irregular
/ direct indirect / healthy sick / adult child / adults children / primary secondary / single multiple
"""
OPPOSITES: dict[str, list[str]] = {}
for _pair in re.split(r"[/\n]", _OPPOSITES):
    if _pair.strip():
        _one, _other = _pair.split()
        OPPOSITES.setdefault(_one, []).append(_other)
        OPPOSITES.setdefault(_other, []).append(_one)

_NAME = re.compile(r"\b[A-Z][\w'’.-]*(?:\s+(?:of\s+|the\s+|de\s+|von\s+)?[A-Z][\w'’-]*)*")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,.]*\d|(?<![\w.,])\d(?![\w.,])")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]{3,}")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|would|should|will)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:()]\s")
_ASKING = {
    "what",
    "which",
    "who",
    "whom",
    "whose",
    "when",
    "where",
    "why",
    "how",
    "does",
    "were",
    "have",
    "that",
    "this",
}
_DROPPED = 0.12
_SHORTEST, _LONGEST = 6, 40


class Maker:
    """Makes questions for pages; ``others`` are pages whose names and words may be borrowed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def gaps(self, page: Page, most: int) -> list[Question]:
        """Up to ``most`` questions cut out of the page's sentences."""
        spans = list(sentence_spans(page.text))
        self._random.shuffle(spans)
        made = (self._gap(page.text, start, end) for start, end in spans[:most])
        return [question for question in made if question]

    def edited(self, question: Question, page: Page, others: Sequence[Page]) -> Question | None:
        """The question after one edit that leaves it without an answer, or None where no edit fits."""
        edits = [self._other_name, self._other_number, self._opposite, self._negated, self._other_word]
        weights = [5, 3, 4, 1, 2]
        for _ in range(4):
            (edit,) = self._random.choices(edits, weights)
            text = edit(question.text, page, others)
            if text and text != question.text:
                return replace(question, text=text, label=0, made=True)
        return None

    def _gap(self, text: str, start: int, end: int) -> Question | None:
        sentence = text[start:end]
        if not _SHORTEST <= len(sentence.split()) <= _LONGEST:
            return None
        answer = self._answer(sentence)
        if answer is None:
            return None
        first, last, wh = answer
        before, after = self._clause(sentence, first, last)
        words = [w for w in f"{before} {after}".split() if self._random.random() > _DROPPED]
        if len(words) < 3:
            return None
        kept = " ".join(words).strip(" .,;:")
        asked = f"{wh} {kept}?" if self._random.random() < 0.7 else f"{before} {wh} {after}".strip(" .,;:") + "?"
        return Question(asked, 1, start + first, start + last, made=True)

    def _answer(self, sentence: str) -> tuple[int, int, str] | None:
        found: list[tuple[int, int, str]] = []
        names = (match for match in _NAME.finditer(sentence) if match.start() or " " in match.group())
        found += [(*match.span(), self._random.choice(("who", "what", "which", "where", "what"))) for match in names]
        for match in _NUMBER.finditer(sentence):
            year = re.fullmatch(r"1\d{3}|20\d\d", match.group())
            found.append(
                (*match.span(), self._random.choice(("when", "what year") if year else ("how many", "how much")))
            )
        words = list(_WORD.finditer(sentence))
        if words and (not found or self._random.random() < 0.4):
            at = self._random.randrange(len(words))
            last = words[min(len(words) - 1, at + self._random.randrange(3))]
            found.append((words[at].start(), last.end(), "what"))
        return self._random.choice(found) if found else None

    def _clause(self, sentence: str, first: int, last: int) -> tuple[str, str]:
        """What stands around the answer, cut at the clause's edges where enough is left."""
        cuts = [0, *(m.end() for m in _CLAUSE.finditer(sentence)), len(sentence)]
        low = max(cut for cut in cuts if cut <= first)
        high = min(cut for cut in cuts if cut >= last)
        if len(sentence[low:high].split()) < _SHORTEST or self._random.random() < 0.3:
            low, high = 0, len(sentence)
        return sentence[low:first].strip(), sentence[last:high].strip()

    def _source(self, page: Page, others: Sequence[Page]) -> str:
        other = self._random.choice(others) if others and self._random.random() < 0.5 else page
        return other.text

    def _swapped(self, text: str, pattern: re.Pattern[str], page: Page, others: Sequence[Page]) -> str:
        targets = [m for m in pattern.finditer(text) if m.start() > 0 and m.group().lower() not in _ASKING]
        if not targets:
            return ""
        target = self._random.choice(targets)
        offered = [m.group() for m in pattern.finditer(self._source(page, others)) if m.start() > 0]
        fresh = [word for word in offered if word.lower() not in text.lower()]
        return text[: target.start()] + self._random.choice(fresh) + text[target.end() :] if fresh else ""

    def _other_name(self, text: str, page: Page, others: Sequence[Page]) -> str:
        return self._swapped(text, _NAME, page, others)

    def _other_number(self, text: str, page: Page, others: Sequence[Page]) -> str:
        return self._swapped(text, _NUMBER, page, others)

    def _other_word(self, text: str, page: Page, others: Sequence[Page]) -> str:
        return self._swapped(text, _WORD, page, others)

    def _opposite(self, text: str, _page: Page, _others: Sequence[Page]) -> str:
        targets = [m for m in _WORD.finditer(text) if m.group().lower() in OPPOSITES]
        if not targets:
            return ""
        target = self._random.choice(targets)
        return text[: target.start()] + self._random.choice(OPPOSITES[target.group().lower()]) + text[target.end() :]

    def _negated(self, text: str, _page: Page, _others: Sequence[Page]) -> str:
        if " not " in text or "n't" in text:
            return ""
        found = _AUXILIARY.search(text)
        return f"{text[: found.end()]} {self._random.choice(('not', 'never'))}{text[found.end() :]}" if found else ""


def without_sentence(page: Page, chooser: random.Random) -> Page:
    """The page without one sentence that answers something: what it answered is not answered any more."""
    spans = list(sentence_spans(page.text))
    answered = [q for q in page.questions if q.label and q.start >= 0]
    if len(spans) < 3 or not answered:
        return page
    asked = chooser.choice(answered)
    start, end = next(((s, e) for s, e in spans if s <= asked.start < e), (0, 0))
    if start == end:
        return page
    return replace(
        page,
        text=page.text[:start] + page.text[end:].lstrip(),
        questions=tuple(_after_cut(q, page.text, start, end) for q in page.questions),
    )


def _after_cut(question: Question, text: str, start: int, end: int) -> Question:
    if question.start < 0 or question.end <= start:
        return question
    if question.start < end:
        return replace(question, label=0, start=-1, end=-1)
    shift = len(text) - end - len(text[end:].lstrip()) + end - start
    return replace(question, start=question.start - shift, end=question.end - shift)
