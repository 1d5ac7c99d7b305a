"""A plugin that breaks a rule of the wire ends its run with an error that names the rule, and leaves nothing."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import monotonic

import pytest

from enfilade.candidate import Candidate
from enfilade.isolation.calls import GuestCalls
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.run import MOST_FAILURE
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade_sdk.errors import EnfiladeError, GuestDiedError, LimitExceededError
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.outbox import Outbox
from enfilade_sdk.prompts import ToolRequest, ToolResult
from enfilade_wire.v1 import strategy_pb2 as pb
from tests.support.faulty_guest import by_hand, liar, started
from tests.support.trial_hatch import TrialHatch, hang, says
from tests.support.trial_run import begin, text_of, texts

LONG = 15.0
"""Seconds that no fault may take; a machine under load included."""


OVER_LINK = {
    "aborts": "broke the stream off while its process lives: the stream ended without a terminal item",
    "raises": "broke the stream off while its process lives: the stream ended without a terminal item",
    "oversized_frame": "rule 'a frame is within the limit' was broken: 22020147 bytes, the limit is 16777216",
}
"""What is told otherwise than over gRPC, which has a status of its own for the end of a call."""


@pytest.fixture(params=["grpc", "link"])
def plugin(request: pytest.FixtureRequest) -> Candidate:
    """The plugin that does everything wrong, over each transport."""
    return by_hand("serves") if request.param == "grpc" else liar()


def granted() -> TrialHatch:
    return TrialHatch(tool=says("done"), hang=hang)


async def fault_of(guest: StartedGuest, mode: str) -> tuple[list[str], EnfiladeError]:
    hatch = granted()
    got: list[str] = []
    run = begin(guest, mode, hatch)
    with pytest.raises(EnfiladeError) as caught:
        async with asyncio.timeout(LONG):
            while True:
                got.append(text_of(await anext(run)))
    assert hatch.open == 0
    return got, caught.value


@pytest.mark.parametrize(
    ("mode", "code", "text"),
    [
        (
            "two_terminals",
            "protocol",
            "rule 'exactly one terminal item, and nothing after it' was broken: got 'finished'",
        ),
        ("after_end", "protocol", "rule 'exactly one terminal item, and nothing after it' was broken: got 'message'"),
        ("failed_after_end", "protocol", "nothing after it' was broken: got 'failed'"),
        ("no_terminal", "protocol", "while its process lives: the stream ended without a terminal item"),
        ("unknown_call", "protocol", "rule 'a call id names a call that was opened' was broken: got 7"),
        ("unknown_cancel", "protocol", "rule 'a call id names a call that was opened' was broken: got 7"),
        ("reused_call", "protocol", "rule 'a call id is new and not 0' was broken: got 1"),
        ("zero_call", "protocol", "rule 'a call id is new and not 0' was broken: got 0"),
        ("too_many_calls", "protocol", "rule 'at most 256 calls are open at once' was broken"),
        ("huge_window", "protocol", "rule 'a window is at most 1048576 units' was broken: got 2147483648"),
        ("too_much_credit", "protocol", "rule 'credit is at most 1048576 units' was broken"),
        ("bad_json", "protocol", "field message.payload_json: expected the payload of a log message, got '{not json'"),
        ("bad_payload", "protocol", "expected the payload of a variable message"),
        ("bad_type", "protocol", "field message.type: expected one of the known kinds, got 99"),
        ("empty_item", "protocol", "rule 'an item is one of the known kinds' was broken: got None"),
        ("oversized", "limit_exceeded", "a message of 9437"),
        ("oversized_frame", "protocol", "rule 'a frame is within gRPC's limit' was broken"),
        ("odd_failure", "protocol", "field failed.details_json: expected "),
        ("long_failure", "internal", f" ... ({3 * 2**20 - MOST_FAILURE} characters more)"),
        ("new_code", "internal", "from the future (unknown error code 'no_such_code')"),
        ("aborts", "protocol", "broke the stream off while its process lives: INTERNAL: the handler fell over"),
        ("raises", "protocol", "broke the stream off while its process lives: UNKNOWN: "),
        ("dies_midway", "guest_died", "died in the middle of the run: signal 9 (SIGKILL: killed, perhaps for want of "),
        ("exits_midway", "guest_died", "died in the middle of the run: exit code 0"),
        ("floods_calls", "protocol", "rule 'at most 256 calls are open at once' was broken"),
    ],
)
async def test_a_broken_rule_ends_the_run_with_its_name(
    launcher: Launcher, plugin: Candidate, mode: str, code: str, text: str
) -> None:
    if plugin.offers:
        text = OVER_LINK.get(mode, text)
    async with started(launcher, plugin) as guest:
        await guest.describe()
        started_at = monotonic()
        _, error = await fault_of(guest, mode)
        assert text in error.message
        assert error.code == code
        assert monotonic() - started_at < LONG
        assert await texts(guest, "well") == ["hello"]  # in the same process, or in a new one


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("unknown_stream", "rule 'a block is of a stream that is open' was broken: kind 1 of 1000000"),
        ("unknown_kind", "rule 'a block is of a stream that is open' was broken: kind 99 of 2"),
        ("garbage_frame", "rule 'a block of data is a frame' was broken: 100 other bytes"),
        ("huge_block", "rule 'a frame is within the limit' was broken: 1073741824 bytes, the limit is 16777216"),
        ("hangs_up", "broke the stream off while its process lives: the connection was closed"),
    ],
)
async def test_a_broken_rule_of_the_link_ends_the_run_with_its_name(launcher: Launcher, mode: str, text: str) -> None:
    async with started(launcher, liar()) as guest:
        _, error = await fault_of(guest, mode)
        assert text in error.message
        assert error.code == "protocol"
        assert await texts(guest, "well") == ["hello"]  # in the same process, or in a new one


async def test_a_guest_that_sends_more_than_its_reader_let_it_is_cut_off(launcher: Launcher) -> None:
    async with started(launcher, liar()) as guest, aclosing(begin(guest, "beyond_window")) as run:
        await anext(run)
        pid = guest.pid
        async with asyncio.timeout(LONG):
            while guest.pid == pid:  # noqa: ASYNC110 - nobody reads on, so only the broken rule can end it
                await asyncio.sleep(0.02)
        with pytest.raises(EnfiladeError, match="rule 'a stream sends within its window' was broken"):
            async with asyncio.timeout(LONG):
                while True:
                    await anext(run)


@pytest.mark.parametrize("mode", ["ends_twice", "unasked_pongs", "too_much_of_a_good_thing"])
async def test_a_link_bears_what_harms_nobody(launcher: Launcher, mode: str) -> None:
    async with started(launcher, liar()) as guest:
        assert await texts(guest, mode) == ["hello"]
        assert await texts(guest, "well") == ["hello"]


async def test_a_death_is_told_with_the_last_lines_and_the_exit_code(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest:
        got, error = await fault_of(guest, "dies_midway")
    assert got == ["hello"]
    assert error.message.endswith("its last lines:\n  out of patience")
    assert error.details == {"exit_code": -9}


async def test_what_was_not_granted_is_refused_and_the_run_goes_on(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest:
        got = await texts(guest, "wrong_grant", granted())
    assert sorted(got) == [
        "model_failed: this run was not granted that model",
        "tool_not_found: there is not a tool named forbidden",
    ]


async def test_a_call_that_cannot_be_read_is_answered_with_what_is_wrong(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest:
        (got,) = await texts(guest, "bad_request", granted())
    assert got.startswith("protocol: expected a prompt message as JSON, got '{not json'")


async def test_calls_opened_and_given_up_in_one_breath_leave_room_for_others(
    launcher: Launcher, plugin: Candidate
) -> None:
    hatch = granted()
    async with started(launcher, plugin) as guest:
        assert await texts(guest, "call_and_cancel", hatch) == ["done"]
    assert hatch.open == 0


async def test_frames_without_items_mean_nothing(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest:
        assert await texts(guest, "empty_frames") == ["hello"]


@pytest.mark.parametrize("mode", ["deaf", "stands_still"])
async def test_a_guest_that_does_not_end_a_cancelled_run_is_stopped_and_its_other_runs_are_told(
    launcher: Launcher, plugin: Candidate, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with started(launcher, plugin) as guest:
        async with aclosing(begin(guest, "deaf")) as other:
            assert text_of(await anext(other)) == "hello"
            pid = guest.pid
            async with aclosing(begin(guest, mode)) as run:
                await anext(run)
                await asyncio.sleep(0.1)
                started_at = monotonic()
            assert monotonic() - started_at < LONG
            with pytest.raises(
                GuestDiedError, match="was stopped under this run: a cancelled run did not end within 1 s"
            ):
                await asyncio.wait_for(anext(other), 3)
        assert await texts(guest, "well") == ["hello"]
        assert guest.pid not in (None, pid)
    assert (
        "plugin 'faulty' is stopped: a cancelled run did not end within 1 s; the next run starts it again"
        in caplog.text
    )


async def test_a_run_whose_task_is_cancelled_twice_is_still_seen_to_end(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest:
        task = asyncio.ensure_future(texts(guest, "deaf"))
        await asyncio.sleep(0.7)
        pid = guest.pid
        task.cancel()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(LONG):
            while guest.pid == pid:  # noqa: ASYNC110 - the guest sets no event for it
                await asyncio.sleep(0.02)
        assert await texts(guest, "well") == ["hello"]


async def test_a_flood_of_messages_is_slowed_by_its_reader_and_stopped_with_it(
    launcher: Launcher, plugin: Candidate
) -> None:
    async with started(launcher, plugin) as guest:
        count = 0
        async with aclosing(begin(guest, "floods_messages")) as run:
            async for _ in run:
                count += 1
                if count == 5000:
                    break
        assert await texts(guest, "well") == ["hello"]


async def test_a_plugin_that_ignores_every_request_to_end_is_killed(launcher: Launcher) -> None:
    async with started(launcher, by_hand("ignores_sigterm")) as guest:
        await guest.describe()
        started_at = monotonic()
        await guest.stop()
        assert monotonic() - started_at < LONG
        assert guest.pid is None


async def test_a_run_under_which_the_host_stops_its_guest_is_told_so(launcher: Launcher, plugin: Candidate) -> None:
    async with started(launcher, plugin) as guest, aclosing(begin(guest, "deaf")) as run:
        await anext(run)
        stopping = asyncio.ensure_future(guest.stop())
        with pytest.raises(GuestDiedError, match="was stopped under this run: the host stops it"):
            await asyncio.wait_for(anext(run), 5)
        await stopping


async def test_a_call_that_does_not_let_go_holds_up_nobody(
    launcher: Launcher, plugin: Candidate, caplog: pytest.LogCaptureFixture
) -> None:
    release = asyncio.Event()

    async def stubborn(_: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        yield ToolResult("at last")

    hatch = TrialHatch(tool=stubborn)
    async with started(launcher, plugin) as guest:
        task = asyncio.ensure_future(texts(guest, "reused_call", hatch))
        await asyncio.wait_for(hatch.opened.wait(), 10)
        task.cancel()
        started_at = monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert monotonic() - started_at < LONG
        assert "1 calls of a run that is over have not ended" in caplog.text
        release.set()


async def test_a_run_makes_a_bounded_number_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enfilade.isolation.calls.ALL_CALLS", 3)
    outbox: Outbox[pb.HostItem] = Outbox()
    calls = GuestCalls(TrialHatch(), outbox, 1024)
    for number in range(1, 4):
        call = pb.StorageCall(call_id=number, verb=pb.STORAGE_VERB_GET, key="k")
        calls.handle("storage_call", pb.PluginItem(storage_call=call))
        assert [item.storage_value.call_id for item in await outbox.take()] == [number]
    with pytest.raises(LimitExceededError, match="the run made more than 3 calls"):
        calls.handle("storage_call", pb.PluginItem(storage_call=pb.StorageCall(call_id=4)))
    await calls.close()
