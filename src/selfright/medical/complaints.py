"""Symptoms told in Korean sentences instead of names: 머리가 아파요, 숨이 많이 차고, 어지러워서."""

import functools
import re
from collections.abc import Iterator, Mapping
from importlib import resources

from selfright.medical.conjugating import beginnings
from selfright.medical.lexicon import Concept, load_lexicon
from selfright.medical.spotting import Mention

_PARTICLE = r"(?:이|가|은|는|도|을|를|에|에서|까지|부터|만|에는|엔)?"
_ADVERB = (
    r"(?:(?:너무|많이|좀|조금|조금씩|자주|계속|심하게|심하고|갑자기|자꾸|매우|아주|가끔|늘|항상|요즘"
    r"|살짝|약간|더|다시|또|막|몹시|꽤|진짜|정말"
    r"|며칠째|계속해서|별로|전혀|왜|이렇게|하나도|거의|제대로|경미하게|경미한|가볍게|많이씩|조금씩은)\s+){0,3}"
)
_DENIED = re.compile(r"\s*(?:건|것은|게)\s*아니|[가-힣]{0,2}지(?:는|도|를|가)?\s*(?:않|못)|진\s*않")
_HANGUL = re.compile("[가-힣]")
_DENIAL = "!"
_OR = re.compile(r"(?:이나|나)(?![가-힣])")  # 기침이나 콧물: no verb, but "or"


class Complaints:
    """Finds them; one regular expression for what has a subject, one for verbs that say it all."""

    def __init__(self) -> None:
        concepts = load_lexicon().concepts
        self._pairs: dict[tuple[str, str], tuple[Concept, bool]] = {}
        nouns: set[str] = set()
        verbs: set[str] = set()
        for key, said in _rows("verbs.tsv"):
            for noun in said[0]:
                for stem in said[1]:
                    for verb in beginnings(stem.removeprefix(_DENIAL)):
                        self._pairs[_close(noun), _close(verb)] = concepts[key], stem.startswith(_DENIAL)
                        nouns.add(noun)
                        verbs.add(verb)
        self._phrase = re.compile(
            rf"(?<![가-힣])(?P<noun>{_any(nouns)}){_PARTICLE}\s*{_ADVERB}(?P<verb>(?:(?:안|못)\s?)?(?:{_any(verbs)}))"
        )
        self._words = {form: concepts[key] for key, said in _rows("stems.tsv") for form in said[0]}
        self._word = re.compile(rf"(?<![가-힣])(?P<not>안\s?)?(?P<word>{_any(self._words)})")

    def find(self, text: str) -> Iterator[Mention]:
        """The complaints: those with a subject first, then the others, which may lie in the former."""
        if not _HANGUL.search(text):
            return
        for match in self._phrase.finditer(text):
            noun, verb = _close(match["noun"]), _close(match["verb"])
            concept, negated = self._pairs.get((noun, verb), (None, False))
            if concept is None and verb[0] in "안못":
                concept, negated = self._pairs.get((noun, verb[1:]), (None, False))[0], True
            if concept and not _OR.match(text, match.end("noun")):
                negated = negated or _DENIED.match(text, match.end()) is not None
                yield Mention(concept, match.start(), match.end(), "ko", negated, verbal=True)
        for match in self._word.finditer(text):
            negated = match["not"] is not None or _DENIED.match(text, match.end()) is not None
            yield Mention(self._words[match["word"]], match.start("word"), match.end(), "ko", negated, verbal=True)


@functools.cache
def complaints() -> Complaints:
    """The one reader of complaints."""
    return Complaints()


def _rows(name: str) -> Iterator[tuple[str, list[list[str]]]]:
    text = resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, *columns = line.split("\t")
            yield key, [column.split("|") for column in columns]


def _any(forms: set[str] | Mapping[str, object]) -> str:
    return "|".join(
        r"\s*".join(map(re.escape, form.split())) for form in sorted(forms, key=lambda form: (-len(form), form))
    )


def _close(text: str) -> str:
    return "".join(text.split())
