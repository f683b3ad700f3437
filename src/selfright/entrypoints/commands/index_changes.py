"""What ``selfright index add`` and ``sync`` say of their work."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from selfright.entrypoints.commands.options import print_json

if TYPE_CHECKING:
    from selfright.api import Selfright
    from selfright.ingest.pipeline import Report

_NAMED = 10
_WORDS_ONLY = (
    "selfright: this index is searched by words alone, for the encoder's weights are not installed here; name their "
    "file with '--set embedder=e5:FILE' (docs/models.md says where it is), then run 'selfright index reembed'"
)


def searched_by_words(selfright: "Selfright") -> bool:
    """Whether the index has no vectors though nobody asked for that."""
    return selfright.settings.embedder == "auto" and selfright.info().embedder == "none"


def tell_words_only() -> None:
    """Says so, and what to do."""
    click.echo(_WORDS_ONLY, err=True)


def tell_report(report: "Report", *, as_json: bool, pruned: bool = False, dry_run: bool = False) -> None:
    """Counts on stdout; on stderr the files that failed, and the first ten that were passed over, with reasons."""
    _tell_failed(report)
    _tell_skipped(report)
    _tell_recognised(report)
    if report.kept:
        click.echo(f"selfright: {report.kept:,} documents of files that cannot be read stay as they were", err=True)
    if as_json:
        print_json(report_form(report, pruned=pruned, dry_run=dry_run))
    else:
        if dry_run:
            tell_changes(report)
        click.echo(summary(report, pruned=pruned, dry_run=dry_run))


def summary(report: "Report", *, pruned: bool, dry_run: bool = False) -> str:
    """The counts in one line."""
    counts = ", ".join(f"{name} {number:,}" for name, number in _counts(report, pruned=pruned).items())
    return f"{counts} (nothing was changed: --dry-run)" if dry_run else counts


def report_form(report: "Report", *, pruned: bool, dry_run: bool = False) -> dict[str, object]:
    """The report as a JSON value."""
    form: dict[str, object] = {
        **_counts(report, pruned=pruned),
        "errors": [{"path": path, "error": why} for path, why in report.failed],
        "passed_over": [{"path": path, "why": why} for path, why in report.skipped_names],
        "recognised": [{"document_id": name, "pages": pages} for name, pages in report.recognised],
    }
    if pruned:
        changes = [{"change": kind, "document_id": name, "source": source} for kind, name, source in report.changes]
        form |= {"kept": report.kept, "dry_run": dry_run, "changes": changes}
    return form


def one_line_json(form: dict[str, object]) -> str:
    """A report on one line, for a command that goes on reporting."""
    return json.dumps(form, ensure_ascii=False)


def tell_changes(report: "Report") -> None:
    """A line for each document that was added, replaced, moved or removed."""
    for kind, document_id, source in report.changes:
        beside = f"\t{source}" if source and not source.endswith(f"/{document_id}") else ""
        click.echo(f"{kind}\t{document_id}{beside}")
    more = report.added + report.replaced + report.removed - len(report.changes)
    if more > 0:
        click.echo(f"and {more:,} more")


def exit_code(report: "Report") -> int:
    """1 when something failed and nothing at all was read."""
    return 1 if report.failed and not (report.added or report.replaced or report.unchanged) else 0


def _counts(report: "Report", *, pruned: bool) -> dict[str, int]:
    counts = {"added": report.added, "replaced": report.replaced}
    if pruned:
        counts |= {"replaced": report.replaced - report.moved, "moved": report.moved, "removed": report.removed}
    counts |= {"unchanged": report.unchanged, "failed": len(report.failed), "skipped": report.skipped}
    return counts | {"passages": report.passages}


def _tell_failed(report: "Report") -> None:
    for path, why in report.failed[:_LISTED]:
        click.echo(f"selfright: {path}: {why}", err=True)
    more = Counter(why for _, why in report.failed[_LISTED:])
    if more:
        click.echo(f"selfright: and {sum(more.values()):,} more that failed: {_listed(more.items())}", err=True)


def _tell_skipped(report: "Report") -> None:
    for path, why in report.skipped_names[:_NAMED]:
        click.echo(f"selfright: passed over {path} ({why})", err=True)
    if report.skipped > _NAMED:
        click.echo(f"selfright: passed over {report.skipped:,} in all: {_listed(report.skipped_why)}", err=True)


def _tell_recognised(report: "Report") -> None:
    for name, pages in report.recognised[:_NAMED]:
        click.echo(
            f"selfright: {name}: text of scanned pages recognised (OCR; may have errors or gaps): {pages}", err=True
        )
    if len(report.recognised) > _NAMED:
        click.echo(f"selfright: text of scanned pages recognised in {len(report.recognised):,} documents", err=True)


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    most = sorted(counts, key=lambda count: -count[1])
    shown = "; ".join(f"{number:,} × {why}" for why, number in most[:_NAMED])
    return shown + ("; …" if len(most) > _NAMED else "")


_LISTED = 200  # failures that are named one by one
