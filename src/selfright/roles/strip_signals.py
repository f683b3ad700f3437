"""What the filter looks at: cheap signals of each strip of one passage, in a fixed order."""

from collections.abc import Sequence

from selfright.domain.passages import Passage
from selfright.roles.decompose import Span
from selfright.roles.grade.answer_spans import AnswerSpans
from selfright.roles.grade.features import Asked
from selfright.roles.quantities import quantities
from selfright.roles.questions import AnswerType, matches_type

SIGNALS = (
    "coverage",  # idf share of the question's terms in the strip
    "in_context",  # … in the strip, its heading and the strip before it
    "relative",  # coverage over the best strip's in this passage
    "neighbour",  # coverage of the better neighbour, relative to the best strip's
    "after_best",  # whether it directly follows the best strip
    "before_best",
    "rarest",  # whether it has the rarest of the terms that occur in the passage
    "type_asked",
    "type_novel",  # shows a thing of the asked type that the question does not name
    "only_type",  # … and no other strip of the passage does
    "first",  # the passage's first strip
    "long",  # characters over 300, at most 2
    "answer",  # the chance that the passage's answer stands in it, by the reader; 0 when there is none
    "answer_chance",  # … times the reader's chance that the passage answers
    "unread",  # most of it was not shown to the reader
)
READ = ("answer", "answer_chance", "unread")
LEXICAL = tuple(name for name in SIGNALS if name not in READ)


def strip_signals(
    asked: Asked,
    passage: Passage,
    spans: Sequence[Span],
    read: AnswerSpans | None = None,
) -> list[dict[str, float]]:
    """One dictionary per strip; ``spans`` are positions in the passage's text."""
    matcher = asked.matcher
    places = [set(matcher.places(passage.text[start:end])) for start, end in spans]
    heading = set(matcher.places(passage.heading))
    shares = [matcher.share(found) for found in places]
    typed = [_type_novel(asked, passage.text[start:end]) for start, end in spans]
    top = max(shares) or 1.0
    best = shares.index(max(shares))
    present = set().union(*places)
    rarest = max(present, key=lambda i: matcher.weights[i], default=-1)
    rows = []
    for i, (start, end) in enumerate(spans):
        before = places[i - 1] if i else set()
        around = max(shares[i - 1] if i else 0.0, shares[i + 1] if i + 1 < len(shares) else 0.0)
        rows.append(
            {
                "coverage": shares[i],
                "in_context": matcher.share(places[i] | heading | before),
                "relative": shares[i] / top,
                "neighbour": around / top,
                "after_best": float(i == best + 1),
                "before_best": float(i == best - 1),
                "rarest": float(rarest in places[i]),
                "type_asked": float(asked.kind not in _UNTYPED),
                "type_novel": typed[i],
                "only_type": typed[i] if typed[i] and sum(typed) == typed[i] else 0.0,
                "first": float(i == 0),
                "long": min(2.0, (end - start) / 300),
                "answer": read.within(start, end) if read else 0.0,
                "answer_chance": read.within(start, end) * read.chance if read else 0.0,
                "unread": float(read is not None and not read.covers(start, end)),
            }
        )
    return rows


_UNTYPED = (AnswerType.OTHER, AnswerType.YES_NO)


def _type_novel(asked: Asked, text: str) -> float:
    if asked.kind in _UNTYPED:
        return 0.0
    found = quantities(text)
    novel = tuple(q for q in found if not any(q.agrees(known) for known in asked.quantities))
    return matches_type(asked.kind, text, novel)
