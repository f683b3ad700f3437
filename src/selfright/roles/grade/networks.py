"""What a network that the user chose (port ``PairJudge``) makes of passages: a cross-encoder, say.

Nothing is known of it before: what it says counts as much as the grader's signals do, until ``selfright calibrate``
weighs the two on labelled pairs. One that is out of order fails nothing.
"""

from collections.abc import Mapping, Sequence

from selfright.domain.passages import Passage
from selfright.domain.ports import PairJudge
from selfright.roles.reading import QuestionFeatures, Sentences, network_text, read_pairs
from selfright.roles.scoring import log_odds

MOST_JUDGED = 20
JUDGED_CHARACTERS = 2_000  # of a passage: about as much as networks take that read 512 word pieces


def opinions(
    judge: PairJudge, asked: QuestionFeatures, passages: Sequence[Passage], signals: Sequence[float]
) -> list[Mapping[str, float] | None]:
    """For each passage what the signals say of it (``signals``, probabilities) and what the judge says, as log-odds.

    ``behind`` is how far the judge puts it behind the best of the set. None for a passage that the judge was not
    asked about: in a language that it does not read, or not among the twenty most probable by the signals. All are
    None where the judge cannot be used.
    """
    none: list[Mapping[str, float] | None] = [None] * len(passages)
    if ("ko" if asked.korean else "en") not in judge.languages:
        return none
    readable = [i for i, passage in enumerate(passages) if passage.language in judge.languages]
    chosen = sorted(sorted(readable, key=lambda i: -signals[i])[:MOST_JUDGED])
    texts = [_passage_text(asked, passages[i]) for i in chosen]
    judged = read_pairs(judge, asked.text, texts)
    if judged is None:
        return none
    best = max((found.score for found in judged), default=0.0)
    for i, found in zip(chosen, judged, strict=True):
        none[i] = {"signals": log_odds(signals[i]), "judge": found.score, "behind": best - found.score}
    return none


def _passage_text(asked: QuestionFeatures, passage: Passage) -> str:
    sentences = Sentences.of(asked, passage)
    return network_text(passage, sentences.text[slice(*sentences.window(asked, JUDGED_CHARACTERS))])
