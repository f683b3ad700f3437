"""``selfright search``."""

import click

from selfright.entrypoints.commands.options import (
    collection_option,
    index_option,
    json_option,
    print_json,
    set_option,
    values_of,
)

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
    from selfright.domain.json_views import search_view, searched_view

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
