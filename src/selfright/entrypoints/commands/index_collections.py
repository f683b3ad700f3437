"""``selfright index describe`` and ``selfright index collections``: the named parts of an index."""

from typing import TYPE_CHECKING, Any

import click

from selfright.entrypoints.commands.options import index_option, json_option, print_json, set_option, values_of

if TYPE_CHECKING:
    from selfright.domain.routing import Collection


@click.command()
@click.argument("name")
@click.argument("text")
@click.option("--class", "classes", metavar="CLASS", multiple=True, help="Query class it serves; may be repeated.")
@click.option("--slot", "slots", metavar="SLOT", multiple=True, help="Slot that points to it; may be repeated.")
@index_option
@set_option
@json_option
def describe(
    name: str,
    text: str,
    classes: tuple[str, ...],
    slots: tuple[str, ...],
    index: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Describe the collection NAME in TEXT, so that matching questions are sent to it; "" removes the description.

    One or two sentences that name the topics work best. They replace the previous description, classes and slots.
    """
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        described = selfright.describe_collection(name, text, classes=classes, slots=slots)
    if not described.documents:
        click.echo(f"selfright: no document is in '{described.name}' yet; add with --collection", err=True)
    _show([described], as_json)


@click.command()
@index_option
@set_option
@json_option
def collections(index: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """List the collections: documents, description, query classes and slots."""
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        _show(selfright.collections(), as_json)


def _show(found: "list[Collection]", as_json: bool) -> None:
    forms = [_form(collection) for collection in found]
    if as_json:
        print_json(forms)
        return
    for form in forms:
        declared = [f"{part}: {', '.join(form[part])}" for part in ("classes", "slots") if form[part]]
        click.echo("\t".join([form["name"], f"{form['documents']:,} documents", form["description"] or "-", *declared]))


def _form(collection: "Collection") -> dict[str, Any]:
    return {
        "name": collection.name,
        "description": collection.description,
        "classes": [kind.value for kind in collection.classes],
        "slots": list(collection.slots),
        "documents": collection.documents,
    }
