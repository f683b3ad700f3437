"""``selfright demo``: five questions over the demo's documents, which it indexes first."""

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click

DATA = Path(__file__).parents[2] / "demo"

# Two things at once: the first search finds the one, the query rewritten from what was missing both.
TWO_THINGS = "What's the typical first dose of basal insulin, and where is the configuration file?"
# The index knows the one, the web the other.
TWO_PLACES = (
    "How long does a vertigo attack last in Ménière's disease, "
    "and what is the usual first dose of basal insulin in type 2 diabetes?"
)

# Which question shows which path through the loop; by its id in the demo set, or word for word.
SCENES = (
    ("right at once", "med-en-014"),
    ("corrected by a rewritten query", TWO_THINGS),
    ("rescued by the web", "med-en-web-01"),
    ("ambiguous: index and web merged", TWO_PLACES),
    ("honest abstention", "fx-ko-none-03"),
)


@click.command()
def demo() -> None:
    """Five questions over the demo documents, each a different path through the loop. Offline."""
    from selfright.api.selfright import Selfright
    from selfright.cli.commands.index_sync import make_vectors
    from selfright.cli.progress import bar
    from selfright.cli.render_answer import account
    from selfright.settings import load_settings

    place = load_settings().home / "demo" / "index"
    _forget_if_outdated(place)
    with Selfright.open(place, pack="medical", web_provider="static", web_folder=str(DATA / "web")) as selfright:
        with bar("Indexing the demo documents") as progress:
            report = selfright.add([DATA / "documents"], progress=progress, embed=False)
        make_vectors(selfright)
        click.echo(f"{report.added + report.replaced + report.unchanged} demo documents, Korean and English\n")
        with (DATA / "questions.jsonl").open(encoding="utf-8") as lines:
            questions = {row["id"]: row["question"] for row in map(json.loads, lines)}
        for number, (path, asked) in enumerate(SCENES, start=1):
            question = questions.get(asked, asked)
            click.secho(f"{number}. {path}", bold=True)
            click.secho(f"   {question}\n", fg="cyan")
            click.echo(textwrap.indent(account(selfright.ask(question)), "   ") + "\n")
    program = sys.argv[0] if Path(sys.argv[0]).name == "selfright" else "selfright"
    click.echo("Now with your own documents:")
    click.echo(f"  {program} index add DOCS/")
    click.echo(f'  {program} ask "..."')
    click.echo("More of the demo's:")
    click.echo(f'  {program} ask "What does error FX-1007 mean?" --index "{place}"')


def _forget_if_outdated(place: Path) -> None:
    """The demo's index is ours to make anew when another version or another embedder had made it."""
    from selfright.api.selfright import Selfright
    from selfright.domain.errors import IncompatibleIndex, IndexNotFound

    try:
        with Selfright.open(place) as selfright:
            selfright.search("?", 1)
    except IndexNotFound:
        return
    except IncompatibleIndex:
        shutil.rmtree(place)
