"""``selfright profile``: what is remembered of a user, to see, correct, take along and erase."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from selfright.cli.commands.options import json_option, opening, print_json, say, set_option, tell
from selfright.domain.turns import DEFAULT_USER

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.domain.slots import Profile, Slot

on_profiles = opening(set_option)
user_argument = click.argument("user", default=DEFAULT_USER)


@click.group()
def profile() -> None:
    """Show, correct, export and erase the profile of a user."""


@profile.command()
@user_argument
@on_profiles
@json_option
def show(selfright: "Selfright", user: str, as_json: bool) -> None:
    """Show the current profile of USER ('local' by default), and contradictions in it."""
    known, summary = selfright.profile(user), selfright.profile_summary(user)
    _print_profile(user, known, summary, as_json)


@profile.command("set")
@click.argument("facts", nargs=-1, required=True, metavar="[USER] NAME=VALUE...")
@on_profiles
@json_option
def put(selfright: "Selfright", facts: tuple[str, ...], as_json: bool) -> None:
    """Correct the profile of USER ('local' by default): age=60 products=FxStore products=FxSync.

    The values replace all current ones of a kind; "NAME=" removes them.
    """
    user, *pairs = (DEFAULT_USER, *facts) if "=" in facts[0] else facts
    given = _facts(pairs)
    known, summary = selfright.set_profile(given, user), selfright.profile_summary(user)
    _print_profile(user, known, summary, as_json)


@profile.command()
@click.argument("user", required=False)
@click.option("--name", metavar="NAME", help="Only facts of this kind.")
@click.option("--value", metavar="VALUE", help="Only facts with this value.")
@on_profiles
@json_option
def forget(selfright: "Selfright", user: str | None, name: str | None, value: str | None, as_json: bool) -> None:
    """Erase all data of USER: profile with its history, conversations, traces.

    With --name or --value, only facts of the profile, of 'local' by default.
    """
    from selfright.domain.errors import UsageError
    from selfright.domain.turns import Erased

    if user is None and name is None and value is None:
        raise UsageError(f"expected whose data to erase; for all of your own: selfright profile forget {DEFAULT_USER}")
    user = user or DEFAULT_USER
    if name is None and value is None:
        gone = selfright.erase(user)
    else:
        gone = Erased(0, selfright.forget_profile(user, name, value), 0)
    form = {"user": user, "erased": gone.facts, "sessions": gone.sessions, "traces": gone.traces}
    counts = {"current or past fact": gone.facts, "conversation": gone.sessions, "trace": gone.traces}
    told = [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items() if count]
    tell(form, [f"{', '.join(told) or 'nothing'} of '{user}' erased"], as_json=as_json)


@profile.command()
@user_argument
@on_profiles
@click.option("--json", "as_json", is_flag=True, help="Print JSON; this is always on.")
def export(selfright: "Selfright", user: str, as_json: bool) -> None:
    """Write the profile of USER ('local' by default) as JSON: current, superseded and contradicted facts."""
    from selfright.schemas import history_view

    del as_json
    print_json(history_view(user, selfright.profile_history(user)))


def _facts(pairs: Sequence[str]) -> dict[str, object]:
    from selfright.domain.errors import UsageError

    if not pairs:
        raise UsageError("expected at least one NAME=VALUE; for example: selfright profile set ana age=60")
    facts: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"expected NAME=VALUE, but got '{pair}'; for example: selfright profile set ana age=60")
        facts.setdefault(name.strip(), []).extend([value.strip()] if value.strip() else [])
    return dict(facts)


def _print_profile(user: str, known: "Profile", summary: str, as_json: bool) -> None:
    from selfright.schemas import profile_view

    if not (as_json or known.slots):
        say(f"nothing is known of '{user}'")
        return
    slots = [f"  {_line(slot)}" for slot in known.slots]
    disputed = [f"  {_line(slot)}  (said otherwise since)" for slot in known.disputed]
    tell(profile_view(user, known, summary), [summary, *slots, *disputed], as_json=as_json)


def _line(slot: "Slot") -> str:
    remarks = ["not so"] * slot.negated + ["in the past"] * (slot.time == "past")
    remarks += [slot.subject] * (slot.subject != "user") + [f"turn {slot.turn + 1}" if slot.start >= 0 else "by hand"]
    said = [slot.value, slot.unit or "", *(value for name, value in slot.details if name != "key")]
    return f"{slot.name}: {' '.join(part for part in said if part)} ({', '.join(remarks)})"
