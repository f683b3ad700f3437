"""``selfright ask``."""

import click

from selfright.entrypoints.commands.options import (
    collection_option,
    index_option,
    json_option,
    preset_option,
    print_json,
    session_option,
    set_option,
    user_option,
    values_of,
)


@click.command()
@click.argument("question")
@index_option
@preset_option
@collection_option
@session_option
@user_option
@set_option
@json_option
def ask(
    question: str,
    index: str | None,
    preset: str | None,
    collections: tuple[str, ...],
    session: str | None,
    user: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Answer QUESTION from the index, with citations and an account of how the answer came about."""
    from selfright.api import Selfright
    from selfright.domain.forms import answer_form
    from selfright.entrypoints.account import account

    with Selfright.open(**values_of(assignments, index=index, preset=preset)) as selfright:
        answer = selfright.ask(question, collections=collections, session=session, user=user)
    if as_json:
        print_json(answer_form(answer))
    else:
        click.echo(account(answer))
