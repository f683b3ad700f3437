"""``selfright index sync``: the index is what the folders are, once or from now on; and what it and ``add`` report."""

import importlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from selfright.cli.commands.options import (
    format_counts,
    index_option,
    json_option,
    opening,
    print_json,
    say,
    set_option,
)
from selfright.domain.passages import Origin
from selfright.domain.text import singular

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.ingest.pipeline import Report

_NAMED = 10
_WORTH_TELLING = 200  # passages without vectors: some seconds of work


def tell_report(report: "Report", *, as_json: bool, pruned: bool = False, dry_run: bool = False) -> None:
    """Counts on stdout; on stderr the files that failed, and the first ten that were skipped, with reasons."""
    for remark in _remarks(report):
        say(remark)
    if as_json:
        print_json(report_form(report, pruned=pruned, dry_run=dry_run))
    else:
        if dry_run:
            tell_changes(report)
        counts = _format_counts_of(report, pruned=pruned)
        click.echo(f"{counts} (nothing was changed: --dry-run)" if dry_run else counts)


def report_form(report: "Report", *, pruned: bool, dry_run: bool = False) -> dict[str, object]:
    """The report as a JSON value."""
    form: dict[str, object] = {
        **_counts(report, pruned=pruned),
        "errors": [{"path": path, "error": why} for path, why in report.failed],
        "skipped_files": [{"path": path, "why": why} for path, why in report.skipped_names],
        "recognised": [{"document_id": name, "pages": pages} for name, pages in report.recognised],
    }
    if pruned:
        changes = [{"change": kind, "document_id": name, "source": source} for kind, name, source in report.changes]
        form |= {"kept": report.kept, "dry_run": dry_run, "changes": changes}
    return form


def tell_changes(report: "Report") -> None:
    """A line for each document that was added, replaced or removed."""
    for kind, document_id, source in report.changes:
        beside = f"\t{source}" if source and not source.endswith(f"/{document_id}") else ""
        click.echo(f"{kind}\t{document_id}{beside}")
    more = report.added + report.replaced + report.removed - len(report.changes)
    if more > 0:
        click.echo(f"and {more:,} more")


def make_vectors(selfright: "Selfright") -> None:
    """The second half of adding: passages that can be searched by words get their vectors."""
    from selfright.cli.progress import bar

    waiting = selfright.info().without_vectors
    if not waiting:
        return
    told = waiting >= _WORTH_TELLING
    if told:
        say(f"searchable by words now; {waiting:,} passages get vectors (if stopped, 'selfright index embed' goes on)")
    with bar("Embedding") as progress:
        left = selfright.embed(progress)
    if told and not left:
        say(f"{waiting:,} passages have their vectors")


def exit_code(report: "Report") -> int:
    """1 when a file or a row failed; the others are indexed."""
    return 1 if report.failed else 0


def _counts(report: "Report", *, pruned: bool) -> dict[str, int]:
    removed = {"removed": report.removed} if pruned else {}
    files = {"failed": report.failed_files, "skipped": report.skipped}
    documents = {"added": report.added, "replaced": report.replaced, **removed, "unchanged": report.unchanged}
    return {**documents, "passages": report.passages, **files}


def _format_counts_of(report: "Report", *, pruned: bool) -> str:
    """Documents and their passages, then files: one file may have many documents, and some of its rows may fail."""
    counts = _counts(report, pruned=pruned)
    files = {name: counts.pop(name) for name in ("failed", "skipped")}
    return f"documents: {format_counts(counts)}; files: {format_counts(files)}"


def _remarks(report: "Report") -> Iterator[str]:
    yield from (f"{path}: {why}" for path, why in report.failed[:_LISTED])
    if more := Counter(why for _, why in report.failed[_LISTED:]):
        yield f"and {more.total():,} more that failed: {_format_counts(more.items())}"
    yield from (f"skipped {path} ({why})" for path, why in report.skipped_names[:_NAMED])
    if report.skipped > _NAMED:
        yield f"skipped {report.skipped:,} in all: {_format_counts(report.skipped_why.items())}"
    for name, pages in report.recognised[:_NAMED]:
        yield f"{name}: text of scanned pages recognised (OCR; may have errors or gaps): {pages}"
    if len(report.recognised) > _NAMED:
        yield f"text of scanned pages recognised in {len(report.recognised):,} documents"
    if report.kept:
        yield singular(f"{report.kept:,} documents of files that cannot be read stay as they were")


def _format_counts(counts: Iterable[tuple[str, int]]) -> str:
    most = sorted(counts, key=lambda count: (-count[1], count[0]))
    shown = "; ".join(f"{number:,} × {why}" for why, number in most[:_NAMED])
    return shown + ("; …" if len(most) > _NAMED else "")


_LISTED = 200  # failures that are named one by one
_LOOK_MS = 500  # between two tries of what failed


belonging_options = (
    click.option(
        "--collection",
        metavar="NAME",
        help="Named part of the index [default: where a document is; 'default' for new ones].",
    ),
    click.option(
        "--origin",
        type=click.Choice(get_args(Origin)),
        default="index",
        show_default=True,
        help="Origin of the files: uploads and web pages rank behind your own.",
    ),
)
"""Where new documents belong, and who brought them."""


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@opening(
    index_option,
    *belonging_options,
    click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing."),
    click.option("--allow-empty", is_flag=True, help="Allow an empty folder to empty its part of the index."),
    click.option("--watch", is_flag=True, help="Keep running and sync every change, until Ctrl-C."),
    set_option,
)
@json_option
def sync(selfright: "Selfright", folders: tuple[Path, ...], watch: bool, as_json: bool, **options: Any) -> int:
    """Sync the index with FOLDERs: add new documents, replace changed ones, remove those that are gone.

    Only documents from these folders, with --collection only those in it, are ever removed. Documents of a file that
    cannot be read now stay.
    """
    from selfright.cli.progress import bar
    from selfright.domain.errors import UsageError

    dry_run = options["dry_run"]
    if watch and dry_run:
        raise UsageError("--watch and --dry-run exclude each other; leave one of them out")
    if watch:
        return Watch(selfright, folders, options, as_json).go()
    with bar("Indexing") as progress:
        report = selfright.sync(folders, progress=progress, embed=False, **options)
    tell_report(report, as_json=as_json, pruned=True, dry_run=dry_run)
    if not dry_run:
        make_vectors(selfright)
    return exit_code(report)


@dataclass(frozen=True, slots=True)
class Watch:
    """Synchronises whenever a file of the folders changes; on stdout a line for each document, or JSON for a pass."""

    selfright: "Selfright"
    folders: Sequence[Path]
    options: Mapping[str, Any]
    as_json: bool

    def go(self) -> int:
        """Until Ctrl-C. What cannot be done now is said once and tried again; raises ``MissingExtra``."""
        from selfright.domain.errors import MissingExtra, SelfrightError

        MissingExtra.check("watchfiles, which tells of changes,", "watch", "watchfiles")
        states: dict[str, tuple[int, int]] = {}
        told, pending = "", True
        watched = importlib.import_module("watchfiles").watch(
            *self.folders, watch_filter=None, rust_timeout=_LOOK_MS, yield_on_timeout=True, raise_interrupt=False
        )
        try:
            for changes in watched:
                if not (changes or pending):
                    continue
                try:
                    self._pass(states)
                    told, pending = "", False
                except SelfrightError as error:
                    if not states:
                        raise
                    pending = True
                    if str(error) != told:
                        told = str(error)
                        say(f"{told}; trying again")
        except KeyboardInterrupt:
            return 0
        return 0

    def _pass(self, states: dict[str, tuple[int, int]]) -> None:
        from selfright.cli.progress import bar

        first = not states
        with bar("Indexing") as progress:
            report = self.selfright.sync(self.folders, progress=progress, embed=False, states=states, **self.options)
        self._tell(report, first=first)
        make_vectors(self.selfright)

    def _tell(self, report: "Report", *, first: bool) -> None:
        if self.as_json:
            click.echo(json.dumps(report_form(report, pruned=True), ensure_ascii=False))
            return
        if first:
            tell_report(report, as_json=False, pruned=True)
            say("watching; Ctrl-C ends it")
            return
        for path, why in report.failed:
            say(f"{path}: {why}")
        if report.added or report.replaced or report.removed:
            tell_changes(report)
            click.echo(_format_counts_of(report, pruned=True), err=True)
