"""The simulation of the turn queue, on cases whose answers are known."""

import pytest

from benchmarks.queueing import (
    Load,
    Outcome,
    Service,
    Simulation,
    Work,
    constant,
    erlang_b,
    erlang_c,
    exponential,
    lognormal,
)

ROOMY = 10**6


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize(("servers", "rate"), [(1, 6.0), (4, 28.0)])
def test_waits_as_in_a_queue_with_c_servers(servers: int, rate: float) -> None:
    service = Service(1, cores=servers, turns=ROOMY, patience_s=1e9)
    found = Simulation(Load(rate), service, Work(exponential(0.1), 0, constant(0)), 1_000, 3, warm_s=50).run()
    assert found.served == found.arrived
    assert mean(found.waits) == pytest.approx(erlang_c(rate, 0.1, servers), rel=0.12)
    assert mean(found.times) == pytest.approx(mean(found.waits) + 0.1, rel=0.03)


@pytest.mark.parametrize("call", [exponential(2.0), constant(2.0), lognormal(2.0, 1.0)])
def test_turns_away_as_in_erlangs_loss_formula_whatever_the_time_of_a_call(call: object) -> None:
    service = Service(1, cores=ROOMY, turns=10, queue=0)
    found = Simulation(Load(4.0), service, Work(constant(0), 1, call), 3_000, 5, warm_s=100).run()
    assert found.refused / found.arrived == pytest.approx(erlang_b(8.0, 10), rel=0.1)


def whole(found: Outcome) -> bool:
    return found.arrived == found.served + found.refused + found.expired + found.lost


def test_every_turn_ends_in_one_way_and_a_seed_repeats() -> None:
    service = Service(4, turns=8, queue=4, patience_s=1.0, mtbf_s=40.0, restart_s=5.0)
    work = Work(exponential(0.05), 2, lognormal(0.5, 0.5), call_fails=0.2)
    runs = [Simulation(Load(20, burst=3), service, work, 400, seed).run() for seed in (1, 1, 2)]
    assert all(map(whole, runs))
    assert runs[0] == runs[1] != runs[2]
    assert min(runs[0].refused, runs[0].expired, runs[0].lost, runs[0].degraded) > 0
    down = runs[0].down_s / (4 * 400)
    assert 0.05 < down < 0.2  # 5 of every 45 seconds


def test_the_share_that_is_degraded_is_that_of_calls_that_fail_every_time() -> None:
    service = Service(1, cores=ROOMY, turns=ROOMY)
    work = Work(constant(0), 1, constant(0.1), call_fails=0.3, backoff_s=0.0)
    found = Simulation(Load(50), service, work, 400, 4).run()
    assert found.degraded / found.served == pytest.approx(0.3**3, rel=0.15)
