"""Whether a message speaks of what the index holds: a guard against taking a terse question for small talk."""

from selfright.roles.analysis import TextAnalyzer

_NEVER_SEEN = "\ufffe"  # no tokenizer yields it, so its weight is that of a term the index does not know
_UBIQUITOUS, _INCIDENTAL = 0.2, 0.8  # shares of that weight: a topic's words come more than once, but not everywhere


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
        (unknown,) = self._analyzer.idf([_NEVER_SEEN])
        return any(_UBIQUITOUS * unknown < term.weight < _INCIDENTAL * unknown for term in terms)
