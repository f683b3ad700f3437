"""The words of the report in one language: its sentences, and what metrics mean and verdicts and outcomes are called.

Names of systems and metrics stand where they need no particle. The texts are in ``phrases.en.toml`` and
``phrases.ko.toml``.
"""

from dataclasses import dataclass

from selfright.domain.passages import Language
from selfright.domain.wordings import Texts, wordings
from selfright.evals.report.markup import cut

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the report says, in one language."""

    language: Language

    def __call__(self, name: str, /, **values: object) -> str:
        """A sentence or a label with its values; an unknown name is a ``KeyError``."""
        sentences = self._texts["sentences"]
        found = sentences[name] if name in sentences else self._texts["labels"][name]
        return found.replace(" %", "\N{NO-BREAK SPACE}%").format(**values)

    def meaning(self, metric: str) -> str:
        """What a metric is, in a few words; nothing for one that is not of this package."""
        return self._texts["meanings"].get(metric, "")

    def word(self, name: str) -> str:
        """A verdict, stop reason or outcome; the name itself, shortened, where it is not known."""
        return self._texts["words"].get(name) or cut(name, _LONGEST)

    @property
    def _texts(self) -> Texts:
        return wordings(__package__, "phrases")[self.language]
