"""An answer told while it is written; what does not hold up is followed by what does."""

from typing import TextIO

from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, TurnEvent, TurnFinished

_WITHDRAWN = "[that did not hold up; looking further]"
_CORRECTED = "[corrected]"


class Teller:
    """Writes a turn's events to a terminal or a file.

    On a terminal the draft appears as it is written. Anything else gets the final answer alone: a file cannot take
    back what was written to it.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty()

    def tell(self, event: TurnEvent) -> None:
        """Writes what the event adds."""
        if not self._live:
            if isinstance(event, TurnFinished):
                self._write(f"{event.answer.answer}\n")
            return
        match event:
            case AnswerToken(text=text):
                self._write(text)
            case DraftWithdrawn():
                self._write(f"\n{_WITHDRAWN}\n")
            case AnswerCorrected(text=text):
                self._write(f"\n{_CORRECTED}\n{text}")
            case TurnFinished():
                self._write("\n")
            case _:
                pass

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
