"""The words of the report in one language; names of systems and metrics stand where they need no particle."""

from dataclasses import dataclass

from selfright.domain.passages import Language
from selfright.evals.report.labels import LABELS
from selfright.evals.report.markup import cut
from selfright.evals.report.sentences import SENTENCES
from selfright.evals.report.vocabulary import MEANINGS, WORDS

LANGUAGES: tuple[Language, ...] = ("en", "ko")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the report says, in one language."""

    language: Language

    def __call__(self, name: str, /, **values: object) -> str:
        """A sentence or a label with its values; an unknown name is a ``KeyError``."""
        found = SENTENCES[name] if name in SENTENCES else LABELS[name]
        return found[self._place].replace(" %", "\N{NO-BREAK SPACE}%").format(**values)

    def meaning(self, metric: str) -> str:
        """What a metric is, in a few words; nothing for one that is not of this package."""
        found = MEANINGS.get(metric)
        return found[self._place] if found else ""

    def word(self, name: str) -> str:
        """A verdict, stop reason or outcome; the name itself, shortened, where it is not known."""
        found = WORDS.get(name)
        return found[self._place] if found else cut(name, _LONGEST)

    @property
    def _place(self) -> int:
        return LANGUAGES.index(self.language)
