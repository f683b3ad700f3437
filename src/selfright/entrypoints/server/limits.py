"""The numbers the service lives by; each bounds something that a caller could otherwise grow."""

import math
from dataclasses import dataclass, replace

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings ``serve_*`` and what hangs on them. Times are seconds, sizes bytes.

    ``turns`` run at once, of one key ``turns_each``; ``queue`` more wait, at most ``wait_s``. A turn may take
    ``stretch`` times as long as undisturbed before others are refused, 0 for any time. ``rate`` is how many
    requests a minute a key may make in the long run, ``burst`` how many at once; ``guesses`` and ``guess_burst`` are
    the same of wrong keys from one address. ``spool_bytes`` is what all uploads together may take while they come in
    and wait, None for four of the largest; ``held_bytes`` the same of all other bodies.
    """

    turns: int = 64
    turns_each: int = 16
    queue: int = 64
    wait_s: float = 10.0
    stretch: float = 2.0
    turn_s: float = 300.0
    rate: float = 300.0
    burst: int = 60
    guesses: float = 10.0
    guess_burst: int = 20
    body_bytes: int = 2 * MIB
    upload_bytes: int = 100 * MIB
    upload_files: int = 20
    spool_bytes: int | None = None
    held_bytes: int = 256 * MIB
    body_s: float = 30.0
    head_s: float = 10.0
    send_s: float = 60.0
    heartbeat_s: float = 15.0
    idle_s: int = 30
    connections: int = 2_048
    grace_s: int = 330


def shared(limits: Limits, processes: int) -> Limits:
    """The share of one of several processes in what runs and waits at once. Rates count in each of them."""
    return replace(
        limits,
        turns=math.ceil(limits.turns / processes),
        queue=math.ceil(limits.queue / processes),
        connections=math.ceil(limits.connections / processes),
        held_bytes=math.ceil(limits.held_bytes / processes),
    )
