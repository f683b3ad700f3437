"""``selfright ask`` and ``selfright search``."""

import sys
from typing import TYPE_CHECKING

import click

from selfright.domain.events import AnswerToken, NodeFinished, TurnFinished
from selfright.domain.turns import Mode, TurnOptions
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

if TYPE_CHECKING:
    from selfright.api import Selfright
    from selfright.domain.answers import Answer


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
    from selfright.entrypoints.account import account
    from selfright.schemas import answer_view

    with Selfright.open(**values_of(assignments, index=index, preset=preset)) as selfright:
        options = TurnOptions(collections=collections, session=session, user=user, record=record, mode=mode)
        watched = sys.stderr.isatty() and not as_json
        answer = _watched(selfright, question, options) if watched else selfright.ask(question, **options)
    if record:
        click.echo(f"recorded; run it again with: selfright trace replay {answer.trace_id[:8]}", err=True)
    if as_json:
        print_json(answer_view(answer))
    else:
        click.echo(account(answer))


def _watched(selfright: "Selfright", question: str, options: TurnOptions) -> "Answer":
    """The answer; a terminal shows what a turn that takes long has done last."""
    from selfright.entrypoints.progress import working

    answer: Answer | None = None
    with working("answering") as tell:
        for event in selfright.stream(question, **options):
            match event:
                case NodeFinished():
                    tell(f"{event.node}: {event.said}".rstrip(": "))
                case AnswerToken():
                    tell("writing")
                case TurnFinished():
                    answer = event.answer
                case _:
                    pass
    if answer is None:
        raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize
    return answer


SHOWN_CHARACTERS = 240
_BY = {"words": "words alone", "meaning": "meaning alone", "both": "words and meaning"}


@click.command()
@click.argument("query")
@index_option
@click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many passages.")
@collection_option
@set_option
@json_option
def search(
    query: str,
    index: str | None,
    k: int,
    collections: tuple[str, ...],
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find the passages nearest to QUERY, with their scores.

    Reports on stderr, and in each row of --json, what was used (words, meaning or both) and why.
    """
    from selfright.api import Selfright
    from selfright.schemas import search_view, searched_view

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        found = selfright.retrieve(query, k, collections)
    if found.trust:
        click.secho(f"searched by {_BY[found.trust.by]}: {found.trust.why}", dim=True, err=True)
    rows = search_view(found.hits)
    if as_json:
        print_json([{**row, "searched": searched_view(found.trust)} for row in rows])
        return
    if not rows:
        click.echo("nothing found", err=True)
    for row in rows:
        places = "  ".join(
            f"{name} {row[name]['rank']}. ({row[name]['score']:.2f})" for name in ("bm25", "dense") if row[name]
        )
        click.secho(f"{row['rank']:>2}. {row['title']}  ", bold=True, nl=False)
        click.secho(f"{row['passage_id']}  {row['rrf_score']:.4f}  {places}", dim=True)
        text = " ".join(row["text"].split())
        click.echo(f"    {text[:SHOWN_CHARACTERS]}{'…' if len(text) > SHOWN_CHARACTERS else ''}")
