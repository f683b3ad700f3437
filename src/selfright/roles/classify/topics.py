"""Whether a message speaks of what the index holds: a guard against taking a terse question for small talk."""

from selfright.roles.analysis import TextAnalyzer

_NEVER_SEEN = "\ufffe"  # no tokenizer yields it, so its weight is that of a term the index does not know
_UBIQUITOUS = 0.35


class IndexTopics:
    """Calls a message on topic when at least half of its key terms, by weight, occur in the index but not everywhere.

    For ``OfflineClassifier(is_on_topic=…)``.
    """

    def __init__(self, analyzer: TextAnalyzer) -> None:
        self._analyzer = analyzer

    def __call__(self, text: str) -> bool:
        """Whether ``text`` is on topic; false while the index is empty."""
        terms = self._analyzer.key_terms(text)
        (unknown,) = self._analyzer.idf([_NEVER_SEEN])
        total = sum(term.weight for term in terms)
        telling = sum(term.weight for term in terms if _UBIQUITOUS * unknown < term.weight < unknown - 1e-9)
        return total > 0 and telling >= total / 2
