"""How long a plugin that crashed waits, and when it is started no more."""

from hypothesis import given
from hypothesis import strategies as st

from enfilade.isolation.supervision.backoff import Backoff, CrashPolicy


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def backoff(limit: int = 3, chance: float = 0.0) -> tuple[Backoff, Clock]:
    clock = Clock()
    return Backoff(CrashPolicy(), limit, clock, lambda: chance), clock


def test_the_wait_doubles_from_half_a_second_up_to_thirty() -> None:
    counted, clock = backoff(limit=0)
    waits = []
    for _ in range(9):
        counted.crashed(0)
        waits.append(counted.left)
        clock.now += counted.left
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert not counted.given_up


def test_ten_stable_seconds_begin_anew() -> None:
    counted, clock = backoff(limit=0)
    for seconds, wait in [(0.0, 0.5), (9.9, 1.0), (10.0, 0.5), (3.0, 1.0)]:
        counted.crashed(seconds)
        assert counted.left == wait
        clock.now += 40


def test_the_third_crash_within_five_minutes_is_the_last() -> None:
    counted, clock = backoff()
    for _ in range(3):
        assert not counted.given_up
        counted.crashed(100)
        clock.now += 149
    assert counted.given_up


def test_crashes_that_are_far_apart_never_add_up() -> None:
    counted, clock = backoff()
    for _ in range(10):
        counted.crashed(100)
        clock.now += 151
    assert not counted.given_up


def test_what_crashes_during_the_wait_counts_as_one() -> None:
    counted, clock = backoff()
    for _ in range(8):
        counted.crashed(50)
        clock.now += 0.01
    assert (counted.crashes, counted.given_up) == (1, False)


@given(
    crashes=st.lists(st.tuples(st.floats(0, 20), st.floats(0, 400)), max_size=40), chance=st.floats(0, 0.999), limit=...
)
def test_whatever_happens_the_wait_is_bounded_and_only_asking_ends_a_disabling(
    crashes: list[tuple[float, float]], chance: float, limit: bool
) -> None:
    counted, clock = backoff(3 if limit else 0, chance)
    was_given_up = False
    for uptime, pause in crashes:
        waited = counted.left == 0
        counted.crashed(uptime)
        if waited:
            assert 0.4 <= counted.left <= 30
        assert counted.given_up >= was_given_up
        was_given_up = counted.given_up
        clock.now += pause
    assert limit or not was_given_up
