"""``selfright chat``: an answer told while it is written; a draft that fails its checks is followed by the next one."""

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, TextIO

import click

from selfright.cli.commands.options import (
    index_option,
    opening,
    preset_option,
    session_option,
    set_option,
    user_option,
)
from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, TurnEvent, TurnFinished
from selfright.domain.passages import Language
from selfright.domain.text import language_of
from selfright.domain.wordings import wordings

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.domain.answers import Answer

DEFAULT_SESSION = "chat"


@cache
def _words(language: Language) -> Mapping[str, str]:
    return wordings("selfright.cli", "render_answer")[language]["chat"]


def _spoken() -> Language:
    """The language of the machine: Korean or English."""
    spoken = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "ko" if spoken.lower().startswith("ko") else "en"


@click.command()
@opening(index_option, preset_option, session_option, user_option, set_option)
def chat(selfright: "Selfright", session: str | None, user: str | None) -> None:
    """Chat with the index. The conversation is saved, and follow-up questions are understood.

    Ctrl-C stops an answer; at the prompt it ends the chat.
    """
    selfright.info()
    Conversation(selfright, DEFAULT_SESSION if session is None else session, user).go()


class Conversation:
    """A chat at the terminal: answers on stdout, everything else on stderr."""

    def __init__(self, selfright: "Selfright", session: str, user: str | None) -> None:
        from selfright.domain.turns import DEFAULT_USER

        self._selfright = selfright
        self._session = session
        self._user = DEFAULT_USER if user is None else user
        self._last: Answer | None = None
        self._words = _words(_spoken())

    def go(self) -> None:
        """Until the input or ``/quit`` ends it."""
        from selfright.cli.render_answer import account, steps

        click.echo(self._words["help"], err=True)
        self._take_up()
        while True:
            try:
                text = input("> ")
            except EOFError:
                return
            match text.strip():
                case "":
                    continue
                case "/quit" | "/exit":
                    return
                case "/help" | "/?":
                    click.echo(self._words["help"], err=True)
                case "/forget":
                    self._selfright.forget(self._session, self._user)
                    self._last = None
                    click.echo(self._words["new"], err=True)
                case "/sources" | "/trace" as wish:
                    shown = account if wish == "/sources" else steps
                    click.echo(shown(self._last) if self._last else self._words["nothing"])
                case command if command.startswith("/"):
                    click.echo(f"{self._words['unknown'].format(command=command)} {self._words['help']}", err=True)
                case question:
                    self._answer(question)

    def _take_up(self) -> None:
        """Says what conversation this goes on with, and answers what a crash left open."""
        so_far = self._selfright.conversation(self._session, self._user)
        if so_far.turns:
            click.echo(self._words["turns"].format(turns=so_far.turns), err=True)
        if so_far.unfinished is not None:
            click.echo(self._words["continuing"].format(question=so_far.unfinished.question), err=True)
            self._answer(so_far.unfinished.question)

    def _answer(self, question: str) -> None:
        from selfright.domain.errors import InputError, SessionBusy

        printer = EventPrinter(sys.stdout, question)
        try:
            with closing(self._selfright.stream(question, session=self._session, user=self._user)) as events:
                for event in events:
                    printer.show(event)
                    if isinstance(event, TurnFinished):
                        self._last = event.answer
                        for note in event.answer.notes:
                            click.echo(f"  – {note}", err=True)
        except KeyboardInterrupt:
            click.echo(f"\n{self._words['stopped']}", err=True)
        except (InputError, SessionBusy) as error:
            click.echo(f"selfright: {error}", err=True)


class EventPrinter:
    """Writes a turn's events to a terminal or a file, its remarks in the question's language.

    On a terminal the draft appears as it is written. Anything else gets the final answer alone: a file cannot take
    back what was written to it. A withdrawn draft that is the answer after all says so.
    """

    def __init__(self, out: TextIO, question: str = "") -> None:
        self._out = out
        self._live = out.isatty()
        self._words = _words(language_of(question))
        self._draft = ""
        self._held = self._corrects = False
        self._withdrawn: set[str] = set()

    def show(self, event: TurnEvent) -> None:
        """Writes what the event adds; the mark that belongs above an answer is known at the end of the turn."""
        match event:
            case AnswerToken(text=text):
                self._held = not self._draft and text.strip() in self._withdrawn
                self._draft += text
                self._say("" if self._held else text)
            case DraftWithdrawn():
                self._withdrawn.add(self._draft.strip())
                self._draft = ""
                self._say(f"\n{self._words['withdrawn']}\n")
            case AnswerCorrected():
                self._held, self._corrects = True, True
            case TurnFinished(answer=answer):
                self._finish(answer)
            case _:
                pass

    def _finish(self, answer: "Answer") -> None:
        from selfright.cli.render_answer import doubt

        mark = doubt(answer, is_withdrawn=answer.answer.strip() in self._withdrawn)
        if self._live and not self._held:
            self._write(f"\n{mark}\n" if mark else "\n")
            return
        mark = mark or (self._words["corrected"] if self._live and self._corrects else "")
        self._write("\n" * (self._live and self._corrects) + "\n".join(filter(None, (mark, answer.answer))) + "\n")

    def _say(self, text: str) -> None:
        if self._live:
            self._write(text)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
