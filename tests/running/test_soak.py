"""The soak (`python -m benchmarks.soak`), as short as a suite can bear: it finds nothing, and is able to."""

import pytest

from benchmarks.soak import LONGEST, Tally, many_runs, many_starts, soak
from enfilade.outcome import Outcome, Status
from enfilade_sdk.errors import EnfiladeError


@pytest.mark.timeout(240)
async def test_every_run_ends_once_in_the_right_state_while_processes_are_killed() -> None:
    tally = await soak(6, seed=11)
    assert tally.faults == []
    assert sum(tally.harm.values()) > 0
    assert tally.ends["succeeded"] > 0
    assert tally.slowest_end < LONGEST


@pytest.mark.timeout(240)
async def test_many_runs_on_one_process_let_nothing_grow() -> None:
    tally = await many_runs(600)
    assert tally.faults == []
    assert tally.ends == {"succeeded": 601}


@pytest.mark.timeout(240)
async def test_many_starts_and_stops_let_nothing_grow() -> None:
    tally = await many_starts(10)
    assert tally.faults == []
    assert tally.ends == {"succeeded": 10}


@pytest.mark.parametrize(
    ("outcome", "calls"),
    [
        (Outcome(Status.SUCCEEDED, answer="... run-2"), 1),
        (Outcome(Status.SUCCEEDED, answer="... run-1"), 0),
        (Outcome(Status.FAILED, error=EnfiladeError("x")), 1),
        (Outcome(Status.CANCELLED), 1),
    ],
)
def test_what_is_not_as_it_must_be_is_a_fault(outcome: Outcome, calls: int) -> None:
    tally = Tally()
    tally.calls["run-1"] = calls
    tally.judge("run-1", "shared", outcome)
    assert len(tally.faults) == 1
