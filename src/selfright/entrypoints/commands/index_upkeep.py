"""``selfright index verify`` and ``compact``."""

from dataclasses import asdict

import click

from selfright.entrypoints.commands.options import index_option, json_option, print_json, set_option, values_of


@click.command()
@click.option("--repair", is_flag=True, help="Put right what can be; documents that cannot be saved are named.")
@index_option
@set_option
@json_option
def verify(repair: bool, index: str | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Read and check every record, vector and file of the index."""
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
    """Free the space of replaced and removed documents, and make the search indexes anew."""
    from selfright.api import Selfright

    with Selfright.open(**values_of(assignments, index=index)) as selfright:
        before = selfright.info().bytes
        selfright.compact()
        after = selfright.info().bytes
    if as_json:
        print_json({"bytes_before": before, "bytes_after": after})
    else:
        click.echo(f"{before:,} bytes before, {after:,} bytes after")
