"""``selfright ask`` and ``selfright search``."""

import sys
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.options import (
    collection_option,
    index_option,
    json_option,
    opening,
    preset_option,
    print_json,
    session_option,
    set_option,
    tell,
    user_option,
)
from selfright.domain.events import AnswerToken, NodeFinished, TurnFinished

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.domain.answers import Answer


@click.command()
@click.argument("question")
@opening(
    index_option,
    preset_option,
    click.option(
        "--mode", type=click.Choice(["ai_agent", "llm"]), help="The agent with your documents, or the model alone."
    ),
    collection_option,
    session_option,
    user_option,
    set_option,
)
@click.option("--record", is_flag=True, help="Record the turn so that it can be replayed ('selfright trace replay').")
@json_option
def ask(selfright: "Selfright", question: str, as_json: bool, **options: Any) -> None:
    """Answer QUESTION from the index, with citations and an account of how the answer came about."""
    from selfright.cli.render_answer import account
    from selfright.schemas import answer_view

    watched = sys.stderr.isatty() and not as_json
    answer = _show_progress(selfright, question, options) if watched else selfright.ask(question, **options)
    if options["record"]:
        click.echo(f"recorded; run it again with: selfright trace replay {answer.trace_id[:8]}", err=True)
    tell(answer_view(answer), [account(answer)], as_json=as_json)


def _show_progress(selfright: "Selfright", question: str, options: dict[str, Any]) -> "Answer":
    """The answer; a terminal shows what a turn that takes long has done last."""
    from selfright.cli.progress import working

    with working("answering") as show:
        for event in selfright.stream(question, **options):
            match event:
                case NodeFinished():
                    show(f"{event.node}: {event.said}".rstrip(": "))
                case AnswerToken():
                    show("writing")
                case TurnFinished():
                    return event.answer
                case _:
                    pass
    raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize


SHOWN_CHARACTERS = 240
_BY = {"words": "words alone", "meaning": "meaning alone", "both": "words and meaning"}


@click.command()
@click.argument("query")
@opening(
    index_option,
    click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many passages."),
    collection_option,
    set_option,
)
@json_option
def search(selfright: "Selfright", query: str, k: int, collections: tuple[str, ...], as_json: bool) -> None:
    """Find the passages nearest to QUERY, with their scores.

    Reports on stderr, and in each row of --json, what was used (words, meaning or both) and why.
    """
    from selfright.schemas import search_method_view, search_view

    found = selfright.retrieve(query, k, collections)
    if found.trust:
        click.secho(f"searched by {_BY[found.trust.by]}: {found.trust.why}", dim=True, err=True)
    rows = search_view(found.hits)
    if as_json:
        print_json([{**row, "searched": search_method_view(found.trust)} for row in rows])
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
