"""``selfright index``: add, remove, list, info."""

from pathlib import Path
from typing import get_args

import click

from selfright.domain.passages import Origin
from selfright.entrypoints.commands.index_changes import exit_code, searched_by_words, tell_report, tell_words_only
from selfright.entrypoints.commands.index_collections import collections, describe
from selfright.entrypoints.commands.index_sync import sync
from selfright.entrypoints.commands.index_transfer import copy, export, import_
from selfright.entrypoints.commands.index_upkeep import compact, reembed, verify
from selfright.entrypoints.commands.options import index_option, json_option, print_json, set_option, values_of


@click.group()
def index() -> None:
    """Manage the index: add, remove and list documents, show figures, check and repair."""


@index.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@index_option
@click.option("--collection", metavar="NAME", default="default", show_default=True, help="Named part of the index.")
@click.option(
    "--origin",
    type=click.Choice(get_args(Origin)),
    default="index",
    show_default=True,
    help="Origin of the files: uploads and web pages rank behind your own.",
)
@click.option("--prune", is_flag=True, help="Then remove documents from PATHS whose files are gone.")
@click.option("--ray", metavar="ADDRESS", help="Do the work on a Ray cluster: local, auto or host:port.")
@set_option
@json_option
def add(
    paths: tuple[Path, ...],
    index: str | None,
    collection: str,
    origin: Origin,
    prune: bool,
    ray: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Add PATHS: files, folders, or JSONL with _id|id, title, text, metadata. Unchanged documents are skipped.

    Reads txt, md, html, pdf, docx, pptx, xlsx, hwpx, odt, csv, json and jsonl. An unreadable file is reported in
    one line, and the others are added.
    """
    from selfright.api import Selfright
    from selfright.domain.errors import UsageError
    from selfright.entrypoints.progress import bar

    if prune and ray:
        raise UsageError("--prune does not work with --ray; run 'selfright index sync' on the folders afterwards")
    with Selfright.open(**values_of(assignments, index=index)) as selfright, bar("Indexing") as progress:
        if prune:
            report = selfright.sync(paths, collection=collection, origin=origin, progress=progress)
        else:
            report = selfright.add(paths, collection=collection, origin=origin, progress=progress, ray=ray)
        words_only = searched_by_words(selfright)
    tell_report(report, as_json=as_json, pruned=prune)
    if words_only:
        tell_words_only()
    return exit_code(report)


@index.command()
@click.argument("document_ids", nargs=-1, required=True, metavar="DOC_ID...")
@index_option
@set_option
@json_option
def remove(document_ids: tuple[str, ...], index: str | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Remove documents by id ('selfright index list' shows the ids)."""
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        removed = selfright.remove(document_ids)
    missing = [document_id for document_id in document_ids if document_id not in removed]
    for document_id in missing:
        click.echo(f"selfright: no document '{document_id}' in the index; see 'selfright index list'", err=True)
    if as_json:
        print_json({"removed": removed, "missing": missing})
    else:
        click.echo(f"{len(removed):,} removed")
    return 1 if missing else 0


@index.command(name="list")
@index_option
@set_option
@json_option
def list_(index: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """List the documents."""
    from selfright.api import Selfright
    from selfright.domain.json_views import document_view

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        documents = selfright.documents()
    if as_json:
        print_json([document_view(document) for document in documents])
        return
    for document in documents:
        click.echo(f"{document.id}\t{document.title}\t{document.passages} passages\t{document.collection}")


@index.command()
@index_option
@set_option
@json_option
def info(index: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Show the index's sizes, tokenizer, embedder and kind of vector index."""
    from selfright.api import Selfright
    from selfright.domain.json_views import info_view

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        form = info_view(selfright.info())
    if as_json:
        print_json(form)
        return
    for name, value in form.items():
        shown = ", ".join(f"{k} {v:,}" for k, v in value.items()) if isinstance(value, dict) else value
        shown = ", ".join(value) if isinstance(value, tuple) else shown
        click.echo(f"{name:<15} {shown:,}" if isinstance(shown, int) else f"{name:<15} {shown}")


for command in (sync, import_, export, copy, describe, collections, verify, compact, reembed):
    index.add_command(command)
