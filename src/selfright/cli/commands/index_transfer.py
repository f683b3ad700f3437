"""``selfright index import`` and ``export``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

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

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright

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
