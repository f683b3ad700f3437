"""``selfright index``: its documents, its named parts, its figures, its upkeep; in from elsewhere, and out."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.index_sync import belonging_options, exit_code, make_vectors, sync, tell_report
from selfright.cli.commands.options import (
    format_counts,
    index_option,
    json_option,
    on_index,
    opening,
    say,
    set_option,
    tell,
)
from selfright.domain.text import compose_name, singular

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.domain.routing import Collection

_PATH = click.Path(path_type=Path)


@click.command(name="import")
@opening(
    click.option("--corpus", type=_PATH, required=True, metavar="C.jsonl", help="Texts: one row each, with 'text'."),
    click.option("--faiss", type=_PATH, metavar="X.faiss", help="Vectors: a FAISS index that can return them."),
    click.option("--meta", type=_PATH, metavar="X.meta.jsonl", help="A line for each vector that names its row."),
    index_option,
    click.option(
        "--collection", metavar="NAME", help="Named part of the index [default: as the rows say, or 'default']."
    ),
    click.option("--embedder", metavar="NAME", help="Which embedder made the vectors [default: the index's]."),
    click.option(
        "--no-vectors", is_flag=True, help="Import only the texts; the index's embedder computes the vectors."
    ),
    set_option,
)
@json_option
def import_(
    selfright: "Selfright",
    corpus: Path,
    faiss: Path | None,
    meta: Path | None,
    collection: str | None,
    no_vectors: bool,
    as_json: bool,
) -> None:
    """Import an index made elsewhere, texts and vectors, atomically."""
    from selfright.cli.progress import bar

    if not no_vectors and (faiss is None or meta is None):
        raise click.UsageError(
            "an import needs --faiss and --meta beside --corpus; to take the texts alone, add --no-vectors"
        )
    vectors = None if no_vectors else faiss
    with bar("Importing") as progress:
        report = selfright.import_corpus(corpus, vectors, meta, collection=collection, progress=progress)
    for note in report.notes:
        say(note)
    counts = {name: getattr(report, name) for name in ("added", "replaced", "passages", "vectors")}
    tell({**counts, "notes": list(report.notes)}, [format_counts(counts)], as_json=as_json)


@click.command(name="export")
@click.option("--to", "folder", type=_PATH, required=True, metavar="DIR", help="Folder to write; new or empty.")
@click.option("--vectors", is_flag=True, help="Write the vectors too, so that an import embeds nothing.")
@click.option("--force", is_flag=True, help="Replace an export that is there already.")
@on_index
@json_option
def export(selfright: "Selfright", folder: Path, as_json: bool, **options: bool) -> None:
    """Write the documents in the layout of BEIR: corpus.jsonl with _id, title, text, metadata."""
    from selfright.cli.progress import bar

    with bar("Exporting") as progress:
        report = selfright.export(folder, progress=progress, **options)
    counts = {"documents": report.documents, "vectors": report.vectors}
    form = {**counts, "folder": str(report.folder)}
    tell(form, [f"{format_counts(counts)} → {report.folder}"], as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("text")
@click.option("--class", "classes", metavar="CLASS", multiple=True, help="Query class it serves; may be repeated.")
@click.option("--slot", "slots", metavar="SLOT", multiple=True, help="Slot that points to it; may be repeated.")
@on_index
@json_option
def describe(
    selfright: "Selfright",
    name: str,
    text: str,
    classes: tuple[str, ...],
    slots: tuple[str, ...],
    as_json: bool,
) -> None:
    """Describe the collection NAME in TEXT, so that matching questions are sent to it; "" removes the description.

    One or two sentences that name the topics work best. They replace the previous description, classes and slots.
    """
    described = selfright.describe_collection(name, text, classes=classes, slots=slots)
    if not described.documents:
        say(f"no document is in '{described.name}' yet; add with --collection")
    _show([described], as_json)


@click.command()
@on_index
@json_option
def collections(selfright: "Selfright", as_json: bool) -> None:
    """List the collections: documents, description, query classes and slots."""
    _show(selfright.collections(), as_json)


def _show(found: "list[Collection]", as_json: bool) -> None:
    tell([asdict(collection) for collection in found], map(_line, found), as_json=as_json)


def _line(collection: "Collection") -> str:
    kinds = {"classes": collection.classes, "slots": collection.slots}
    declared = [f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names]
    documents = singular(f"{collection.documents:,} documents")
    return "\t".join([collection.name, documents, collection.description or "-", *declared])


@click.command()
@click.option("--repair", is_flag=True, help="Rebuild what can be rebuilt from the catalogue.")
@on_index
@json_option
def verify(selfright: "Selfright", repair: bool, as_json: bool) -> int:
    """Check every record, vector and file of the index."""
    from selfright.retrieval.catalogue_file import FILE_NAME

    findings = selfright.verify(repair=repair)
    unmended = [finding for finding in findings if not finding.mended]
    lines = [f"{'mended' if each.mended else 'damaged'}\t{each.file}\t{each.problem}" for each in findings]
    form = {"sound": not unmended, "findings": [asdict(finding) for finding in findings]}
    tell(form, lines or ["the index is sound"], as_json=as_json)
    if any(finding.file == FILE_NAME for finding in unmended):
        say("--repair cannot mend the catalogue: restore the index from a backup, or add its documents to a new one")
    elif unmended and not repair:
        say("put it right with: selfright index verify --repair")
    return 1 if unmended else 0


@click.command()
@on_index
@json_option
def compact(selfright: "Selfright", as_json: bool) -> None:
    """Free the space of replaced and removed documents, and rebuild the search indexes."""
    before = selfright.info().bytes
    selfright.compact()
    after = selfright.info().bytes
    form = {"bytes_before": before, "bytes_after": after}
    tell(form, [f"{before:,} bytes before, {after:,} bytes after"], as_json=as_json)


@click.command()
@on_index
@json_option
def reembed(selfright: "Selfright", as_json: bool) -> None:
    """Embed every passage again with the configured embedder.

    Until all vectors are ready, the index is searched as before, but not changed. For an index on a server, use
    'export', and 'import --no-vectors' into another place.
    """
    from selfright.cli.progress import bar

    with bar("Embedding") as progress:
        report = selfright.reembed(progress=progress)
    if as_json:
        tell(asdict(report), (), as_json=True)
        return
    already = report.before == report.embedder
    change = f" has vectors of {report.embedder} already" if already else f": {report.before} → {report.embedder}"
    click.echo(f"{report.location}{change}")
    click.echo(format_counts({"documents": report.documents, "passages": report.passages, "vectors": report.vectors}))
    lacking = report.passages - report.vectors
    if lacking and report.vectors:
        say(f"{lacking:,} passages are in no language that {report.embedder} knows")


@click.group()
def index() -> None:
    """Manage the index: add, remove and list documents, show figures, check and repair."""


@index.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@opening(
    index_option,
    *belonging_options,
    click.option("--prune", is_flag=True, help="Then remove documents from PATHS whose files are gone."),
    click.option("--ray", metavar="ADDRESS", help="Do the work on a Ray cluster: local, auto or host:port."),
    set_option,
)
@json_option
def add(
    selfright: "Selfright", paths: tuple[Path, ...], prune: bool, ray: str | None, as_json: bool, **options: Any
) -> int:
    """Add PATHS: files, folders, or JSONL with _id|id, title, text, metadata. Unchanged documents stay as they are.

    Reads txt, md, html, pdf, office files of all kinds, hwpx, csv, json and jsonl. An unreadable file is reported
    in one line, and the others are added; the exit code is 1 then.

    Documents can be searched by words at once, and by meaning when their vectors are made; Ctrl-C leaves the rest of
    these to 'selfright index embed'.
    """
    from selfright.cli.progress import bar
    from selfright.domain.errors import UsageError

    if prune and ray:
        raise UsageError("--prune does not work with --ray; run 'selfright index sync' on the folders afterwards")
    with bar("Indexing") as progress:
        if prune:
            report = selfright.sync(paths, progress=progress, embed=False, **options)
        else:
            report = selfright.add(paths, progress=progress, ray=ray, embed=False, **options)
    tell_report(report, as_json=as_json, pruned=prune)
    make_vectors(selfright)
    return exit_code(report)


@index.command()
@on_index
@json_option
def embed(selfright: "Selfright", as_json: bool) -> None:
    """Make the vectors that passages still lack, where 'add' or 'sync' was interrupted."""
    before = selfright.info().without_vectors
    make_vectors(selfright)
    form = {"embedded": before - selfright.info().without_vectors}
    tell(form, [f"{form['embedded']:,} passages embedded"], as_json=as_json)


@index.command()
@click.argument("document_ids", nargs=-1, required=True, metavar="DOC_ID...")
@on_index
@json_option
def remove(selfright: "Selfright", document_ids: tuple[str, ...], as_json: bool) -> int:
    """Remove documents by id ('selfright index list' shows the ids)."""
    removed = selfright.remove(document_ids)
    missing = [each for each in document_ids if each not in removed and compose_name(each) not in removed]
    for document_id in missing:
        say(f"no document '{document_id}' in the index; see 'selfright index list'")
    tell({"removed": removed, "missing": missing}, [f"{len(removed):,} removed"], as_json=as_json)
    return 1 if missing else 0


@index.command(name="list")
@on_index
@json_option
def list_(selfright: "Selfright", as_json: bool) -> None:
    """List the documents."""
    documents = selfright.documents()
    lines = (
        f"{each.id}\t{each.title}\t{each.passages:,} passage{'s' if each.passages != 1 else ''}\t{each.collection}"
        for each in documents
    )
    tell([asdict(document) for document in documents], lines, as_json=as_json)


@index.command()
@on_index
@json_option
def info(selfright: "Selfright", as_json: bool) -> None:
    """Show the index's sizes, tokenizer, embedder and kind of vector index."""
    from selfright.schemas import info_view

    form = info_view(selfright.info())
    lines = (f"{name:<15} {_format(value)}" for name, value in form.items() if value != ())  # (): the store can do all
    tell(form, lines, as_json=as_json)


def _format(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{name} {number:,}" for name, number in value.items())
        case tuple():
            return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


for command in (sync, import_, export, describe, collections, verify, compact, reembed):
    index.add_command(command)
