"""``selfright ask``."""

import click

from selfright.domain.turns import Mode
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
@click.option(
    "--mode", type=click.Choice(["ai_agent", "llm"]), help="The agent with your documents, or the model alone."
)
@collection_option
@session_option
@user_option
@set_option
@click.option("--record", is_flag=True, help="Record the turn so that it can be replayed ('selfright trace replay').")
@json_option
def ask(  # noqa: PLR0913, PLR0917 - one parameter for each option
    question: str,
    index: str | None,
    preset: str | None,
    mode: Mode | None,
    collections: tuple[str, ...],
    session: str | None,
    user: str | None,
    assignments: tuple[str, ...],
    record: bool,
    as_json: bool,
) -> None:
    """Answer QUESTION from the index, with citations and an account of how the answer came about."""
    from selfright.api import Selfright
    from selfright.domain.json_views import answer_view
    from selfright.entrypoints.account import account

    with Selfright.open(**values_of(assignments, index=index, preset=preset)) as selfright:
        answer = selfright.ask(question, collections=collections, session=session, user=user, record=record, mode=mode)
    if record:
        click.echo(f"recorded; run it again with: selfright trace replay {answer.trace_id[:8]}", err=True)
    if as_json:
        print_json(answer_view(answer))
    else:
        click.echo(account(answer))
