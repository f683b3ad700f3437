"""Whether a message speaks of what the index holds: a guard against taking a terse question for small talk."""

from selfright.roles.analysis import TextAnalyzer

# Shares of the weight of a word that the index does not know: a topic's words come more than once, but not everywhere.
_UBIQUITOUS, _INCIDENTAL = 0.2, 0.8


class IndexTopics:
    """Calls a message on topic when one of its key terms is a word that the indexed documents come back to.

    For ``OfflineClassifier(is_on_topic=…)``: a terse complaint about what the documents treat is then never small talk,
    at the price that more small talk is looked up.
    """

    def __init__(self, analyzer: TextAnalyzer) -> None:
        self._analyzer = analyzer

    def __call__(self, text: str) -> bool:
        """Whether ``text`` is on topic; false while the index is empty."""
        terms = self._analyzer.key_terms(text)
        unseen = self._analyzer.unseen(term.token for term in terms)
        return any(
            _UBIQUITOUS * most < term.weight < _INCIDENTAL * most for term, most in zip(terms, unseen, strict=True)
        )
