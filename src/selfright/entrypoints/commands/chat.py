"""``selfright chat``."""

import click

from selfright.entrypoints.commands.options import index_option, preset_option, set_option, values_of

_HELP = "Ask away. /sources shows the last answer's sources and account, /forget starts anew, /quit ends."


@click.command()
@index_option
@preset_option
@set_option
def chat(index: str | None, preset: str | None, assignments: tuple[str, ...]) -> None:
    """Talk with the index: follow-up questions are understood within the conversation."""
    from selfright.api import Selfright
    from selfright.domain.answers import Answer, Message
    from selfright.domain.errors import InputError
    from selfright.entrypoints.account import account

    history: list[Message] = []
    last: Answer | None = None
    with Selfright.open(**values_of(assignments, index=index, preset=preset)) as selfright:
        selfright.info()
        click.echo(_HELP, err=True)
        while (text := _read()) is not None:
            match text.strip():
                case "":
                    continue
                case "/quit" | "/exit":
                    return
                case "/forget":
                    history, last = [], None
                case "/sources":
                    click.echo(account(last) if last else "nothing was asked yet")
                case command if command.startswith("/"):
                    click.echo(f"no command '{command}'. {_HELP}", err=True)
                case question:
                    try:
                        last = selfright.ask(question, history=history)
                    except InputError as error:
                        click.echo(f"selfright: {error}", err=True)
                        continue
                    click.echo(last.answer)
                    limit = selfright.settings.flags.history_limit
                    history = [*history, Message("user", question), Message("assistant", last.answer)][-limit:]


def _read() -> str | None:
    try:
        return input("> ")
    except EOFError:
        return None
