"""What models of pairs share: how much of two texts is shown, and what outputs mean."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from selfright.domain.errors import SettingsError
from selfright.domain.judgements import PairReading

MOST_TEXT_PIECES = 128


def most_text_pieces(length: int) -> int:
    """Word pieces of the question or claim that count in a window of ``length``: at most 128, and always under half."""
    return min(MOST_TEXT_PIECES, (length - 4) // 2)


Job = Literal["passages", "claims"]

_MOST = 3
_ENTAILS = frozenset({"entailment", "entailed", "entails", "entail", "e", "supports", "support"})
_NEUTRAL = frozenset({"neutral", "n", "not_enough_info", "nei"})
_DENIES = frozenset({"contradiction", "contradictory", "contradicts", "contradict", "c", "refutes", "refuted"})
_POSITIVE = _ENTAILS | {
    "yes", "true", "relevant", "positive", "consistent", "supported", "faithful", "factual", "grounded", "label_1",
}  # fmt: skip
_NEGATIVE = _DENIES | {
    "no", "false", "irrelevant", "negative", "inconsistent", "unsupported", "hallucination", "hallucinated", "label_0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """Which output says what. ``count`` is 0 where the config does not tell: 1 or 2 outputs are then understood.

    ``positive`` bears the text out or answers it, ``denies`` (None where no output does) says the opposite.
    """

    count: int = 0
    positive: int = 0
    denies: int | None = None

    def fit(self, width: int) -> bool:
        """Whether a row of ``width`` outputs can be understood."""
        return width == self.count if self.count else width in (1, 2)

    def reading(self, row: Sequence[float]) -> PairReading:
        """Of one output the raw logit; of several the log-odds of the positive one, computed from logits stably.

        An output that is not a number gives a score that is none either: what to do then is the caller's choice.
        """
        if len(row) == 1:
            return PairReading(row[0])
        positive = self.positive if self.count else 1
        denies = 0.0 if self.denies is None else _sigmoid(_log_odds(row, self.denies))
        return PairReading(_log_odds(row, positive), (), denies)


def read_labels(config: Mapping[str, Any], job: Job, where: str) -> Labels:
    """The labels that a config.json declares. Raises ``SettingsError`` for those that do not fit the job."""
    names = _names(config, where)
    if not names:
        return Labels()
    if len(names) == 1:
        return Labels(1)
    roles = [_role(name) for name in names]
    nli = sorted(roles) == ["denies", "entails", "neutral"] or sorted(roles) == ["denies", "entails"]
    if nli and job == "passages":
        raise SettingsError(
            f"{where} should judge passages beside a question, but is an NLI model ({', '.join(names)}), "
            "which judges claims: give it as claim_judge"
        )
    if nli:
        return Labels(len(names), roles.index("entails"), roles.index("denies"))
    if len(names) == 2:
        return Labels(2, _positive(names))
    raise SettingsError(
        f"{where} should have one label, two, or the three of an NLI model (entailment, neutral, contradiction), "
        f"but its config.json has {len(names)}: {', '.join(names[: _MOST + 1])}; "
        "name them in id2label, or choose another model"
    )


def _names(config: Mapping[str, Any], where: str) -> list[str]:
    """The names in the order of the outputs; empty where the config says nothing of labels."""
    numbered: list[tuple[object, object]] = []
    if isinstance(config.get("id2label"), Mapping):
        numbered = list(config["id2label"].items())
    elif isinstance(config.get("label2id"), Mapping):
        numbered = [(number, name) for name, number in config["label2id"].items()]
    elif isinstance(config.get("num_labels"), int):
        numbered = [(number, f"LABEL_{number}") for number in range(config["num_labels"])]
    try:
        names = {int(str(number)): str(name) for number, name in numbered}
    except ValueError:
        names = {-1: ""}
    if sorted(names) != list(range(len(numbered))):
        raise SettingsError(
            f"{where}/config.json should number its labels from 0 without gaps in id2label, but has "
            f"{', '.join(str(number) for number, _ in numbered[: _MOST + 1])}; correct it"
        )
    return [names[number] for number in range(len(names))]


def _role(name: str) -> str:
    plain = _plain(name)
    sets = (("entails", _ENTAILS), ("neutral", _NEUTRAL), ("denies", _DENIES))
    return next((role for role, known in sets if plain in known), "other")


def _positive(names: Sequence[str]) -> int:
    """Which of two says yes: by its name, else by the name of the other, else the second as is the custom."""
    plain = [_plain(name) for name in names]
    for number in (1, 0):
        if plain[number] in _POSITIVE:
            return number
    for number in (1, 0):
        if plain[number] in _NEGATIVE or plain[number].startswith(("not_", "non_")):
            return 1 - number
    return 1


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _log_odds(row: Sequence[float], number: int) -> float:
    """log p/(1-p) of one output's softmax: its logit less the log of the sum of the others' exponentials."""
    others = [value for other, value in enumerate(row) if other != number]
    if not all(math.isfinite(value) for value in row):
        return math.nan
    top = max(others)
    return row[number] - top - math.log(sum(math.exp(value - top) for value in others))


def _sigmoid(odds: float) -> float:
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    small = math.exp(odds)
    return small / (1 + small) if math.isfinite(small) else math.nan
