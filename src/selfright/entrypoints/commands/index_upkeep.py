"""``selfright index verify``, ``compact`` and ``reembed``."""

from dataclasses import asdict

import click

from selfright.entrypoints.commands.options import index_option, json_option, print_json, set_option, values_of


@click.command()
@click.option("--repair", is_flag=True, help="Repair what can be repaired; documents that cannot be saved are named.")
@index_option
@set_option
@json_option
def verify(repair: bool, index: str | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Check every record, vector and file of the index."""
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        findings = selfright.verify(repair=repair)
    open_findings = [finding for finding in findings if not finding.mended]
    if as_json:
        print_json({"sound": not open_findings, "findings": [asdict(finding) for finding in findings]})
        return 1 if open_findings else 0
    for finding in findings:
        click.echo(f"{'mended' if finding.mended else 'damaged'}\t{finding.file}\t{finding.problem}")
    if not findings:
        click.echo("the index is sound")
    elif open_findings and not repair:
        click.echo("selfright: put right what can be with: selfright index verify --repair", err=True)
    return 1 if open_findings else 0


@click.command()
@index_option
@set_option
@json_option
def compact(index: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Free the space of replaced and removed documents, and rebuild the search indexes."""
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        before = selfright.info().bytes
        selfright.compact()
        after = selfright.info().bytes
    if as_json:
        print_json({"bytes_before": before, "bytes_after": after})
    else:
        click.echo(f"{before:,} bytes before, {after:,} bytes after")


@click.command()
@click.option("--to", metavar="LOCATION", help="Build the index with new vectors there, and leave this one unchanged.")
@index_option
@set_option
@json_option
def reembed(to: str | None, index: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Embed every passage again with the configured embedder. Run it again to resume.

    Until all vectors are ready, the index is searched and changed as before. An index on a server needs --to.
    """
    from selfright.api import Selfright
    from selfright.entrypoints.progress import bar

    with Selfright.open(**values_of(assignments, index=index)) as selfright, bar("Embedding") as progress:
        report = selfright.reembed(to, progress=progress)
    if as_json:
        print_json(asdict(report))
        return
    if to is None and report.before == report.embedder:
        click.echo(f"{report.location} has vectors of {report.embedder} already")
    else:
        click.echo(f"{report.location}: {report.before} → {report.embedder}")
        click.echo("the same as before: documents with their ids, texts, passages, collections and facts")
    counts = {"documents": report.documents, "passages": report.passages, "vectors": report.vectors}
    click.echo(", ".join(f"{name} {number:,}" for name, number in counts.items()))
    lacking = report.passages - report.vectors
    if lacking and report.vectors:
        click.echo(f"selfright: {lacking:,} passages are in no language that {report.embedder} knows", err=True)
    for name in report.dropped:
        click.echo(
            f"selfright: {name} was made for {report.before} and is gone: run 'selfright calibrate' again", err=True
        )
    if to is not None:
        click.echo("selfright: calibrations stay with the old index: run 'selfright calibrate' for this one", err=True)
