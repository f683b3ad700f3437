"""``selfright index sync``: the index is what the folders are, once or from now on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from selfright.domain.passages import Origin
from selfright.entrypoints.commands.index_changes import (
    exit_code,
    one_line_json,
    report_form,
    searched_by_words,
    summary,
    tell_changes,
    tell_report,
    tell_words_only,
)
from selfright.entrypoints.commands.options import index_option, json_option, set_option, values_of

if TYPE_CHECKING:
    from selfright.api import Selfright


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@index_option
@click.option("--collection", metavar="NAME", default="default", show_default=True, help="Named part of the index.")
@click.option(
    "--origin", type=click.Choice(get_args(Origin)), default="index", show_default=True, help="Who brought the files."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option("--allow-empty", is_flag=True, help="Allow an empty folder to empty its part of the index.")
@click.option("--watch", is_flag=True, help="Keep running and sync every change, until Ctrl-C.")
@click.option(
    "--every",
    type=click.FloatRange(0.1, 3_600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often --watch looks.",
)
@set_option
@json_option
def sync(  # noqa: PLR0913, PLR0917 - one parameter for each option
    folders: tuple[Path, ...],
    index: str | None,
    collection: str,
    origin: Origin,
    dry_run: bool,
    allow_empty: bool,
    watch: bool,
    every: float,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Sync the index with FOLDERs: add new documents, replace changed ones, remove those that are gone.

    Only documents from these folders, in this collection, are ever removed. A moved file stays the same document.
    Documents of a file that cannot be read now stay.
    """
    from selfright.api import Selfright
    from selfright.domain.errors import UsageError
    from selfright.entrypoints.progress import bar

    if watch and dry_run:
        raise UsageError("--watch and --dry-run exclude each other; leave one of them out")
    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        if watch:
            return Watch(selfright, folders, collection, origin, allow_empty, as_json).go(every)
        with bar("Indexing") as progress:
            report = selfright.sync(
                folders,
                progress=progress,
                collection=collection,
                origin=origin,
                dry_run=dry_run,
                allow_empty=allow_empty,
            )
        words_only = not dry_run and searched_by_words(selfright)
    tell_report(report, as_json=as_json, pruned=True, dry_run=dry_run)
    if words_only:
        tell_words_only()
    return exit_code(report)


@dataclass(frozen=True, slots=True)
class Watch:
    """Synchronises whenever a file of the folders changes; on stdout a line for each document, or JSON for a pass."""

    selfright: "Selfright"
    folders: Sequence[Path]
    collection: str
    origin: Origin
    allow_empty: bool
    as_json: bool

    def go(self, every: float) -> int:
        """Until Ctrl-C; looks again after ``every`` seconds. What cannot be done now is said once and tried again."""
        from selfright.domain.errors import SelfrightError
        from selfright.ingest.syncing import folder_states

        states: dict[str, tuple[int, int]] = {}
        told, last = "", None
        while True:
            try:
                now = folder_states(self.folders)
                if now != last:
                    self._pass(states)
                    last = dict(now)
                told = ""
            except SelfrightError as error:
                if last is None:
                    raise
                if str(error) != told:
                    told = str(error)
                    click.echo(f"selfright: {told}; trying again every {every:g} s", err=True)
            except KeyboardInterrupt:
                return 0
            try:
                time.sleep(every)
            except KeyboardInterrupt:
                return 0

    def _pass(self, states: dict[str, tuple[int, int]]) -> None:
        from selfright.entrypoints.progress import bar

        first = not states
        with bar("Indexing") as progress:
            report = self.selfright.sync(
                self.folders,
                progress=progress,
                collection=self.collection,
                origin=self.origin,
                allow_empty=self.allow_empty,
                states=states,
            )
        if first and not self.as_json:
            tell_report(report, as_json=False, pruned=True)
            click.echo("selfright: watching; Ctrl-C ends it", err=True)
            return
        if self.as_json:
            click.echo(one_line_json(report_form(report, pruned=True)))
            return
        for path, why in report.failed:
            click.echo(f"selfright: {path}: {why}", err=True)
        if report.added or report.replaced or report.removed:
            tell_changes(report)
            click.echo(summary(report, pruned=True), err=True)
