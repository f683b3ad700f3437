"""Names of things in Korean and English, so that a question in one language finds passages in the other offline."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from selfright.domain.errors import SettingsError
from selfright.domain.passages import Language
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.tokenizer import BilingualTokenizer

_MOST = 16
_LONGEST_TEXT = 4_000  # characters of a text that are looked through
_LONGEST_TERM = 100

_HANGUL = "\uac00-\ud7a3"
_REST = re.compile(rf"[{_HANGUL}]*")
_LATIN = re.compile("[a-z0-9]")
# What may hang on a Korean noun: particles, also two of them, the copula, and what makes a verb of it.
_ENDING = re.compile(
    r"(?:들)?(?:(?:이|가|은|는|을|를|의|에|도|만|과|와|로|으로|이나|나|이란|란|보다|처럼|까지|부터|마다|조차|밖에|한테|에게|에서|에선|에는"
    r"|에도|에서는|에서도|에게서|에게는|으로는|로는|으로도|로도|으로서|로서|으로써|로써|으로부터|로부터|과의|와의|과는|와는|에의|이랑|랑|하고"
    r"|이라는|라는|이라도|라도|이든|든|인가|일까|인데|이며|이면|이고|인지|이지만|입니다|입니까|인가요|이에요|예요|이다|이었다|였다|인)"
    r"|(?:하|한|할|해|했|되|된|될|돼|됐|받|시키|시킨|당하|당한).*)?"
)
_ANYWHERE = 3  # syllables; so long a name is meant wherever it stands


class FileLexicon:
    """A list of names in a file: one thing a line, Korean, a tab, English; synonyms are separated by ``|``.

    Blank lines and lines that begin with ``#`` are passed over. Raises ``SettingsError`` naming the line that is wrong.
    ``limit``: at most so many phrases for a text.
    """

    def __init__(self, path: Path, limit: int = _MOST) -> None:
        text = _read(path)
        korean: dict[str, tuple[str, ...]] = {}
        english: dict[str, tuple[str, ...]] = {}
        for ko, en in _entries(path, text):
            for name in ko:
                korean[_normal(name)] = (*korean.get(_normal(name), ()), *en)
            for name in en:
                english[_stems(name)] = (*english.get(_stems(name), ()), *ko)
        self.name = f"lexicon-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        self._korean, self._english, self._limit = korean, english, limit
        self._longest_korean = max(map(len, korean), default=0)
        self._longest_english = max((name.count(" ") + 1 for name in english), default=0)

    def expand(self, text: str, language: Language) -> Sequence[str]:
        """Phrases in the other language, longest names first taken, in the order of the text, each once."""
        text = text[:_LONGEST_TEXT]
        found = self._in_korean(_normal(text)) if language == "ko" else self._in_english(text)
        return tuple(dict.fromkeys(phrase for phrases in found for phrase in phrases))[: self._limit]

    def _in_korean(self, text: str) -> Iterator[tuple[str, ...]]:
        place = last = 0  # ``last``: where the name before this place ended
        while place < len(text):
            name = _longest_name(text, place, self._korean, self._longest_korean, follows=place == last)
            if name:
                yield self._korean[name]
                place = last = place + len(name)
            else:
                place += 1

    def _in_english(self, text: str) -> Iterator[tuple[str, ...]]:
        words = _stems(text).split()
        place = 0
        while place < len(words):
            for count in range(min(self._longest_english, len(words) - place), 0, -1):
                name = " ".join(words[place : place + count])
                if name in self._english:
                    yield self._english[name]
                    place += count
                    break
            else:
                place += 1


_plain = BilingualTokenizer(HangulBigrams())


def _stems(text: str) -> str:
    return _plain.joined(text)


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def _longest_name(text: str, place: int, names: Mapping[str, object], longest: int, *, follows: bool) -> str:
    """The longest name that begins at ``place`` and is meant there, or nothing."""
    begins = follows or place == 0 or not text[place - 1].isalnum()
    for end in range(min(len(text), place + longest), place, -1):
        name = text[place:end]
        if name in names and _is_meant(name, text, end, begins=begins, names=names):
            return name
    return ""


def _is_meant(name: str, text: str, end: int, *, begins: bool, names: Mapping[str, object]) -> bool:
    """Whether a name stands there as a word or a part of a compound, and is not a chance run of syllables."""
    if not _REST.fullmatch(name[-1]):
        return begins and _LATIN.match(text, end) is None
    if len(name) >= _ANYWHERE:
        return True
    if not begins:
        return False
    rest = _REST.match(text, end)
    left = rest.group() if rest else ""
    # A compound of two names: the other one must begin right here.
    follow = len(name) > 1 and any(left[:size] in names for size in range(2, len(left) + 1))
    return follow or _ENDING.fullmatch(left) is not None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path}: the term list cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{path}: expected UTF-8 text, but byte {error.start} is none; save the list as UTF-8"
        ) from error


def _entries(path: Path, text: str) -> Iterator[tuple[list[str], list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        sides = [[name.strip() for name in side.split("|")] for side in line.split("\t")]
        if len(sides) != 2:
            raise SettingsError(f"{path}, line {number}: expected 'Korean<tab>English', but found {len(sides)} columns")
        if not all(0 < len(name) <= _LONGEST_TERM for side in sides for name in side):
            raise SettingsError(
                f"{path}, line {number}: a name must have 1 to {_LONGEST_TERM} characters; remove empty ones"
            )
        yield sides[0], sides[1]
