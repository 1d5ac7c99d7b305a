"""Which run gets which place, and who waits."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.isolation.supervision.pool import PATIENCE, Pool, Waiting, again
from enfilade_sdk.errors import BusyError, EnfiladeError, ErrorCode


@dataclass(eq=False)
class Desk:
    runs: int = 0
    slow: bool = False
    usable: bool = True


def pool(workers: int = 2, max_runs: int = 2, queue: int = 3) -> Pool[Desk]:
    return Pool("p", workers * max_runs, max_runs, queue)


def given_place(waiting: Waiting[Desk]) -> Desk | None:
    return waiting.given.result() if waiting.given.done() else None


async def test_the_least_loaded_place_takes_the_next_run() -> None:
    runs = pool()
    runs.places += [Desk(), Desk()]
    asked = [runs.ask() for _ in range(4)]
    assert runs.hand_out(0) is None
    assert [place.runs for place in runs.places] == [2, 2]
    assert given_place(asked[0]) is not given_place(asked[1])


async def test_a_place_that_does_not_answer_is_the_last_choice() -> None:
    runs = pool(max_runs=5)
    quick, slow = Desk(runs=3), Desk(slow=True)
    runs.places += [slow, quick]
    asked = runs.ask()
    runs.hand_out(0)
    assert given_place(asked) is quick


async def test_what_finds_no_place_waits_in_order_and_one_too_many_is_busy() -> None:
    runs = pool(workers=1, max_runs=1, queue=2)
    runs.places.append(Desk())
    asked = [runs.ask() for _ in range(3)]
    runs.hand_out(0)
    with pytest.raises(BusyError, match=r"plugin 'p' is busy: 1 runs are on it, which may have 1, and 2 wait") as busy:
        runs.ask()
    assert (busy.value.code, busy.value.retryable) == (ErrorCode.BUSY, True)
    assert [waiting.given.done() for waiting in asked] == [True, False, False]
    runs.give_back(asked[0].given.result())
    runs.hand_out(0)
    assert [waiting.given.done() for waiting in asked] == [True, True, False]


async def test_a_run_waits_for_a_process_that_starts_rather_than_share_but_not_for_ever() -> None:
    runs = pool()
    runs.places.append(Desk())
    asked = [runs.ask() for _ in range(2)]
    again_in = runs.hand_out(1)
    assert again_in is not None
    assert 0 < again_in <= PATIENCE
    assert [waiting.given.done() for waiting in asked] == [True, False]
    asked[1].since -= PATIENCE
    assert runs.hand_out(1) is None
    assert asked[1].given.done()


async def test_a_run_given_up_in_the_moment_it_got_a_place_gives_it_back() -> None:
    runs = pool(workers=1, max_runs=1)
    runs.places.append(Desk())
    first, second = runs.ask(), runs.ask()
    runs.hand_out(0)
    place = runs.give_up(first)
    assert place is not None
    runs.give_back(place)
    assert runs.give_up(second) is None
    assert (runs.waiting, place.runs, runs.need) == (0, 0, 0)


async def test_everybody_who_waits_gets_an_error_of_his_own() -> None:
    runs = pool()
    asked = [runs.ask() for _ in range(3)]
    runs.refuse(BusyError("no", details={"a": 1}))
    errors = [waiting.given.exception() for waiting in asked]
    assert len({id(error) for error in errors}) == 3
    assert all(isinstance(e, BusyError) and (e.message, e.details) == ("no", {"a": 1}) for e in errors)


def test_an_error_whose_class_takes_other_arguments_is_told_again_too() -> None:
    class OddError(EnfiladeError):
        def __init__(self, number: int, text: str) -> None:
            super().__init__(f"{text} {number}", details={"number": number})

    told = again(OddError(7, "seven is"))
    assert isinstance(told, OddError)
    assert (told.message, str(told), told.details) == ("seven is 7", "seven is 7", {"number": 7})


@given(steps=st.lists(st.sampled_from(["ask", "back", "give up", "add", "lose"]), max_size=60))
def test_no_run_is_lost_and_no_bound_is_passed(steps: list[str]) -> None:
    asyncio.run(_walk(steps))


async def _walk(steps: list[str]) -> None:
    runs = pool(workers=2, max_runs=2, queue=2)
    asked: list[Waiting[Desk]] = []
    placed: list[Desk] = []
    for step in steps:
        if step == "ask":
            try:
                asked.append(runs.ask())
            except BusyError:
                assert len(asked) + len(placed) == 6
        elif step == "back" and placed:
            runs.give_back(placed.pop())
        elif step == "give up" and asked:
            assert runs.give_up(asked.pop()) is None
        elif step == "add" and len(runs.places) < 2:
            runs.places.append(Desk())
        elif step == "lose" and runs.places:
            runs.places.pop(0).usable = False
        runs.hand_out(0)
        placed += [waiting.given.result() for waiting in asked if waiting.given.done()]
        asked = [waiting for waiting in asked if not waiting.given.done()]
        assert runs.waiting == len(asked) <= 6
        assert all(place.runs <= 2 for place in runs.places)
        assert not asked or len(placed) >= 4 or all(place.runs == 2 for place in runs.places)
