"""``selfright index import`` and ``export``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfright.entrypoints.commands.options import (
    index_option,
    json_option,
    on_index,
    print_json,
    set_option,
    values_of,
)

if TYPE_CHECKING:
    from selfright.api import Selfright

_PATH = click.Path(path_type=Path)


@click.command(name="import")
@click.option("--corpus", type=_PATH, required=True, metavar="C.jsonl", help="Texts: one row each, with 'text'.")
@click.option("--faiss", type=_PATH, metavar="X.faiss", help="Vectors: a FAISS index that can return them.")
@click.option("--meta", type=_PATH, metavar="X.meta.jsonl", help="A line for each vector that names its row.")
@index_option
@click.option("--collection", metavar="NAME", help="Named part of the index [default: as the rows say, or 'default'].")
@click.option("--embedder", metavar="NAME", help="Which embedder made the vectors [default: the index's].")
@click.option("--no-vectors", is_flag=True, help="Import only the texts; the index's embedder computes the vectors.")
@set_option
@json_option
def import_(  # noqa: PLR0913, PLR0917 - one parameter for each option
    corpus: Path,
    faiss: Path | None,
    meta: Path | None,
    index: str | None,
    collection: str | None,
    embedder: str | None,
    no_vectors: bool,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Import an index made elsewhere, texts and vectors, atomically."""
    from selfright.api import Selfright
    from selfright.entrypoints.progress import bar

    _check_files(faiss, meta, no_vectors=no_vectors)
    values = values_of(assignments, index=index, embedder=embedder)
    with Selfright.open(**values) as selfright, bar("Importing") as progress:
        report = selfright.import_corpus(
            corpus, None if no_vectors else faiss, meta, collection=collection, progress=progress
        )
    for note in report.notes:
        click.echo(f"selfright: {note}", err=True)
    counts = {
        "added": report.added,
        "replaced": report.replaced,
        "passages": report.passages,
        "vectors": report.vectors,
    }
    if as_json:
        print_json({**counts, "notes": list(report.notes)})
    else:
        click.echo(", ".join(f"{name} {number:,}" for name, number in counts.items()))


@click.command(name="export")
@click.option("--to", "folder", type=_PATH, required=True, metavar="DIR", help="Folder to write; new or empty.")
@click.option("--passages", is_flag=True, help="A row for each passage instead of each document.")
@click.option("--vectors", is_flag=True, help="Write the vectors too, so that an import embeds nothing.")
@click.option("--force", is_flag=True, help="Replace an export that is there already.")
@on_index
@json_option
def export(
    selfright: "Selfright",
    folder: Path,
    passages: bool,
    vectors: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the documents in the layout of BEIR: corpus.jsonl with _id, title, text, metadata."""
    from selfright.entrypoints.progress import bar

    with bar("Exporting") as progress:
        report = selfright.export(folder, passages=passages, vectors=vectors, force=force, progress=progress)
    counts = {"documents": report.documents, "rows": report.rows, "vectors": report.vectors}
    if as_json:
        print_json({**counts, "folder": str(report.folder)})
    else:
        click.echo(", ".join(f"{name} {number:,}" for name, number in counts.items()) + f" → {report.folder}")


def _check_files(faiss: Path | None, meta: Path | None, *, no_vectors: bool) -> None:
    if not no_vectors and (faiss is None or meta is None):
        raise click.UsageError(
            "an import needs --faiss and --meta beside --corpus; to take the texts alone, add --no-vectors"
        )
