"""``selfright trace``: list, show, forget, and replay with other settings."""

from typing import TYPE_CHECKING

import click

from selfright.cli.commands.options import format_counts, index_option, json_option, say, set_option, tell, values_of

if TYPE_CHECKING:
    from selfright.domain.traces import Replay

_NOT_RECORDED = (
    "selfright: to run a turn again ('selfright trace replay ID'), record it: ask with --record, or set traces=full"
)


@click.group()
def trace() -> None:
    """Show the traces of turns, and replay recorded turns with other settings."""


@trace.command("list")
@click.option(
    "-n", "limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many, the newest first."
)
@click.option("--user", metavar="ID", help="Only this user's.")
@json_option
def list_(limit: int, user: str | None, as_json: bool) -> None:
    """List the stored traces: id, time, preset, quality, stop reason, cost."""
    from selfright.api.selfright import Selfright
    from selfright.schemas import trace_form
    from selfright.telemetry.outline import draw_list

    with Selfright.open() as selfright:
        traces = selfright.traces(limit, user)
    tell([trace_form(one) for one in traces], [draw_list(traces)] if traces else (), as_json=as_json)
    if not traces:
        whose = "" if user is None else f" of user '{user}'"
        say(f"no traces{whose} are kept; each answered question leaves one, unless traces=off is set")
    if traces and all(one.kind != "full" for one in traces):
        click.echo(_NOT_RECORDED, err=True)


@trace.command()
@click.argument("trace_id", metavar="ID")
@json_option
def show(trace_id: str, as_json: bool) -> None:
    """Draw the turn ID: its path with loops, verdicts, scores by pass, times. The first digits of an id are enough."""
    from selfright.api.selfright import Selfright
    from selfright.schemas import trace_form
    from selfright.telemetry.outline import draw_trace

    with Selfright.open() as selfright:
        found = selfright.trace(trace_id)
    tell(trace_form(found), [draw_trace(found)], as_json=as_json)
    if found.kind != "full":
        click.echo(_NOT_RECORDED, err=True)


@trace.command()
@click.argument("trace_id", metavar="ID")
@click.option(
    "--from", "start_at", metavar="NODE", help="Apply the changes from this node on; NODE:2 is its second visit."
)
@click.option("--preset", metavar="NAME", help="Which graph to run [default: the recorded one].")
@click.option("--live", is_flag=True, help="Call models, and the web, for what was not recorded.")
@index_option
@set_option
@json_option
def replay(
    trace_id: str,
    start_at: str | None,
    preset: str | None,
    live: bool,
    index: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Replay the recorded turn ID with other flags or another preset, without model calls.

    Recorded replies of judges and models are used; offline roles do the rest. Only turns with --record, or with the
    setting traces = "full", are recorded.
    """
    from selfright.api.selfright import Selfright
    from selfright.domain.flags import by_their_names
    from selfright.schemas import replay_view
    from selfright.settings import FLAG_NAMES

    values = by_their_names(values_of(assignments, index=index))
    flags = {name: value for name, value in values.items() if name in FLAG_NAMES}
    settings = {name: value for name, value in values.items() if name not in FLAG_NAMES}
    with Selfright.open(**settings) as selfright:
        replayed = selfright.replay(trace_id, preset=preset, flags=flags, start_at=start_at, live=live)
    tell(replay_view(replayed), [_cost_line(replayed)], as_json=as_json)


@trace.command()
@click.argument("trace_id", metavar="[ID]", required=False)
@click.option("--user", metavar="ID", help="All traces of this user.")
@click.option("--all", "everything", is_flag=True, help="All traces.")
def forget(trace_id: str | None, user: str | None, everything: bool) -> None:
    """Delete the trace ID, a user's traces, or all of them."""
    from selfright.api.selfright import Selfright

    if sum(one is not None for one in (trace_id, user)) + everything != 1:
        raise click.UsageError("give the ID of a trace, --user ID, or --all")
    with Selfright.open() as selfright:
        count = selfright.forget_traces(user, trace_id)
    click.echo(f"{count} deleted", err=True)


def _cost_line(replayed: "Replay") -> str:
    from selfright.cli.render_answer import account
    from selfright.telemetry.outline import plain

    before = replayed.of.answer or {}
    reused, asked = (
        format_counts(dict(sorted(counts.items()))) or "nothing" for counts in (replayed.reused, replayed.asked)
    )
    same = before.get("answer") == replayed.answer.answer
    rows = [
        f"answer: {'as before' if same else 'another one'}; "
        f"stopped {before.get('stop_reason', '?')} before, {replayed.answer.stop_reason.value} now",
        f"reused: {reused}; asked anew: {asked}; "
        f"model calls: {replayed.answer.cost.llm_calls} (a fresh run: {replayed.fresh.llm_calls})",
        *(f"missing: {one}; this is not what a fresh run gives (--live asks for it)" for one in replayed.missing),
        *(f"note: {note}" for note in replayed.notes),
    ]
    told = plain("\n".join(f"  {row}" for row in rows))
    return "\n".join([account(replayed.answer), "", f"Replay of {replayed.of.id}:", told])
