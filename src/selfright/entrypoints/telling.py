"""An answer told while it is written; what does not hold up is followed by what does."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, TurnEvent, TurnFinished
from selfright.domain.passages import Language
from selfright.domain.text import language_of

_WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "withdrawn": "[that did not hold up; looking further]",
            "corrected": "[corrected]",
            "again": "[nothing better was found: this is the withdrawn draft again, take it with care]",
        },
        "ko": {
            "withdrawn": "[근거가 부족해 거두고 더 찾아봅니다]",
            "corrected": "[고친 답]",
            "again": "[더 나은 답을 찾지 못했습니다. 거둔 초안을 다시 보이니 조심해서 보십시오]",
        },
    }
)


class Teller:
    """Writes a turn's events to a terminal or a file, its remarks in the question's language.

    On a terminal the draft appears as it is written. Anything else gets the final answer alone: a file cannot take
    back what was written to it. A withdrawn draft that is the answer after all says so.
    """

    def __init__(self, out: TextIO, question: str = "") -> None:
        self._out = out
        self._live = out.isatty()
        self._words = _WORDS[language_of(question)]
        self._draft = ""
        self._withdrawn: set[str] = set()

    def tell(self, event: TurnEvent) -> None:
        """Writes what the event adds."""
        match event:
            case AnswerToken(text=text):
                self._hear(text)
            case DraftWithdrawn():
                self._withdrawn.add(self._draft.strip())
                self._draft = ""
                self._say(f"\n{self._words['withdrawn']}\n")
            case AnswerCorrected(text=text):
                self._draft = ""
                self._say(f"\n{self._words[self._remark(text) or 'corrected']}\n{text}")
            case TurnFinished(answer=answer):
                remark = self._remark(answer.answer)
                mark = f"{self._words[remark]}\n" if remark else ""
                self._write("\n" if self._live else f"{mark}{answer.answer}\n")
            case _:
                pass

    def _hear(self, text: str) -> None:
        whole = not self._draft and self._remark(text)
        self._draft += text
        self._say(f"{self._words[whole]}\n{text}" if whole else text)

    def _remark(self, text: str) -> str:
        """What is to be said of this answer, as the name of the words for it."""
        return "again" if text.strip() and text.strip() in self._withdrawn else ""

    def _say(self, text: str) -> None:
        if self._live:
            self._write(text)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
