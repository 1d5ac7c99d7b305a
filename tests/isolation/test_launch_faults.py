"""Every way in which a plugin fails to start ends in its own error, soon, and leaves nothing."""

import asyncio
from time import monotonic

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.errors import LaunchError
from enfilade.isolation.launcher import Launcher
from enfilade.sandboxing import UNCONFINED
from enfilade_sdk.errors import EnfiladeError, ErrorCode, NotAdmittedError, ProtocolError
from tests.support.faulty_guest import by_hand, offering, started
from tests.support.leftovers import belongings

SOON = 15.0
"""Seconds that stand for `at once` where nothing else would end it: a machine may have much else to do."""


async def refusal(launcher: Launcher, candidate: Candidate) -> EnfiladeError:
    before = belongings().directories
    async with started(launcher, candidate) as guest:
        with pytest.raises(EnfiladeError) as caught:
            await guest.describe()
        assert guest.pid is None
        assert belongings().directories == before  # at once, not only when it is stopped
    return caught.value


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("garbage", "expected the handshake line '1|PROTOCOL|unix|PATH|grpc|' on stdout, read 'Hello, I am"),
        ("endless_line", "expected the handshake line '1|PROTOCOL|unix|PATH|grpc|' on stdout, read 'xxxxx"),
        ("bad_version", "the plugin speaks protocol 99, this host speaks 1; update the older of the two"),
        ("bad_core", "expected handshake version 1, the plugin said 7"),
        ("other_transport", "expected a unix socket with grpc, the plugin offers tcp with netrpc"),
        ("no_socket", "nothing.sock', but there is no such socket"),
        ("no_path", "the plugin names a socket that cannot be: a socket's path has 1 to 107 bytes"),
        ("plain_file", "p.sock', but that is no socket"),
        ("exits_early", "ended before its handshake: exit code 3; its last lines:\n  I have\n  changed my mind"),
        ("exits_in_mid_line", "ended before its handshake after '1|1|un' on stdout: exit code 0; it printed nothing"),
        ("killed", "ended before its handshake: signal 9 (SIGKILL: killed, perhaps for want of memory)"),
        ("describe_raises", "did not say what it offers: INTERNAL: I do not know who I am"),
        ("describe_dies", "died before it said what it offers: exit code 9"),
    ],
)
async def test_a_plugin_that_cannot_start_says_why(launcher: Launcher, mode: str, text: str) -> None:
    error = await refusal(launcher, by_hand(mode))
    assert isinstance(error, LaunchError)
    assert error.message.startswith("plugin 'faulty' ")
    assert text in error.message


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("silent", "did not start: no handshake line within 1.5 s"),
        ("closes_stdout", "did not start: no handshake line within 1.5 s"),
        ("describe_hangs", "did not say what it offers: no answer within 1.5 s"),
        ("deaf_socket", "did not say what it offers: no answer within 1.5 s"),
    ],
)
async def test_a_plugin_that_keeps_its_host_waiting_is_given_up(launcher: Launcher, mode: str, text: str) -> None:
    error = await refusal(launcher, by_hand(mode, seconds=1.5))
    assert isinstance(error, LaunchError)
    assert text in error.message


@pytest.mark.parametrize("mode", ["foreign_socket", "linked_socket"])
async def test_a_socket_elsewhere_is_refused(
    launcher: Launcher, mode: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    foreign = tmp_path_factory.mktemp("f") / "s"
    error = await refusal(launcher, by_hand(mode, sandboxing=UNCONFINED, FOREIGN=str(foreign)))
    assert "did not start: expected a socket in /" in error.message
    assert "the plugin names " in error.message


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("describe_newer", "plugin 'faulty' speaks protocol 2, this host speaks 1; update the older of the two"),
        ("describe_garbage", "field parameters_json: expected JSON text, got '{['"),
    ],
)
async def test_a_description_that_cannot_be_read_is_a_protocol_error(launcher: Launcher, mode: str, text: str) -> None:
    error = await refusal(launcher, by_hand(mode))
    assert isinstance(error, ProtocolError)
    assert text in error.message


async def test_a_plugin_that_offers_nothing_is_refused(launcher: Launcher) -> None:
    error = await refusal(launcher, by_hand("describe_nothing"))
    assert isinstance(error, NotAdmittedError)
    assert error.message == "plugin 'faulty' offers no strategy"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("/no/such/program",), "could not be started: /no/such/program: No such file or directory"),
        (("/etc/passwd",), "could not be started: /etc/passwd: Permission denied"),
        (("/bin/true",), "ended before its handshake: exit code 0; it printed nothing"),
        (("/bin/sh", "-c", "exit \0"), "could not be started: /bin/sh: embedded null byte"),
    ],
)
async def test_a_command_that_is_no_plugin_says_why(launcher: Launcher, command: tuple[str, ...], text: str) -> None:
    error = await refusal(launcher, Candidate(plugin="p", command=command))
    assert error.message == f"plugin 'p' {text}"


async def test_a_plugin_that_leaves_the_process_at_import_says_how(launcher: Launcher) -> None:
    error = await refusal(launcher, offering("dies_at_import:X"))
    assert error.message == "plugin 'harm' ended before its handshake: exit code 7; its last lines:\n  no way on"
    assert error.code is ErrorCode.GUEST_DIED


async def test_a_plugin_that_hangs_at_import_is_given_up(launcher: Launcher) -> None:
    error = await refusal(launcher, offering("hangs_at_import:X", seconds=1.5))
    assert "no handshake line within 1.5 s" in error.message


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("import_error:X", "importing import_error:X raised RuntimeError: boom at import ("),
        ("syntax_error:X", "importing syntax_error:X raised SyntaxError: invalid syntax (broken.py, line 1)"),
        ("missing_module:X", "raised ModuleNotFoundError: No module named 'a_module_that_nobody_has' ("),
        ("exits_at_import:X", "importing exits_at_import:X raised SystemExit: 0 ("),
        ("wrong_signature:Nobody", "importing wrong_signature:Nobody raised AttributeError: module 'wrong_signature'"),
        ("no_such_file:X", "importing no_such_file:X raised ModuleNotFoundError: No module named 'no_such_file'"),
        ("wrong_signature:NeedsArguments", "expected a class that can be made without arguments"),
    ],
)
async def test_a_strategy_that_cannot_be_opened_says_why_and_costs_only_itself(
    launcher: Launcher, target: str, text: str
) -> None:
    async with started(launcher, offering("wrong_signature:Fits", target)) as guest:
        fits, bad = await guest.describe()
    assert fits.faults == []
    (fault,) = bad.faults
    assert text in fault.found
    if ".py" not in text and "line" not in text and text.endswith("("):
        assert "/offers/" in fault.found
        assert ", line " in fault.found


async def test_all_faults_of_a_strategy_are_told_at_once(launcher: Launcher) -> None:
    async with started(launcher, offering("wrong_signature:Everything")) as guest:
        (described,) = await guest.describe()
    found = " | ".join(str(fault) for fault in described.faults)
    for text in (
        "meta_version to be str",
        "nothing_gives_this",
        "an async function that yields nothing",
        "no such type",
    ):
        assert text in found


async def test_a_start_given_up_by_its_caller_leaves_nothing(launcher: Launcher) -> None:
    async with started(launcher, by_hand("silent", seconds=60)) as guest:
        task = asyncio.ensure_future(guest.describe())
        await asyncio.sleep(0.3)
        task.cancel()
        started_at = monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert monotonic() - started_at < SOON


async def test_a_start_given_up_by_a_stop_says_so(launcher: Launcher) -> None:
    async with started(launcher, by_hand("silent", seconds=60)) as guest:
        task = asyncio.ensure_future(guest.describe())
        await asyncio.sleep(0.3)
        started_at = monotonic()
        await guest.stop()
        with pytest.raises(LaunchError, match="plugin 'faulty' was stopped while it started"):
            await task
        assert monotonic() - started_at < SOON


async def test_plugins_start_side_by_side_and_a_bad_one_holds_up_nobody(launcher: Launcher) -> None:
    slow = by_hand("silent", seconds=30)
    async with started(launcher, slow) as bad, started(launcher, offering("wrong_signature:Fits")) as good:
        waiting = asyncio.ensure_future(bad.describe())
        assert [d.name for d in await asyncio.wait_for(good.describe(), 20)] == ["Fits"]
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_failed_start_can_be_tried_again(launcher: Launcher) -> None:
    async with started(launcher, by_hand("exits_early")) as guest:
        for _ in range(3):
            with pytest.raises(LaunchError, match="exit code 3"):
                await guest.describe()


async def test_several_who_ask_at_once_share_one_process(launcher: Launcher) -> None:
    async with started(launcher, offering("wrong_signature:Fits")) as guest:
        before = belongings().processes
        await asyncio.gather(*(guest.describe() for _ in range(10)))
        new = belongings().processes - before
    assert sum("serving/doorway.py" in name for name in new) == 1


def test_an_offer_is_named_by_its_target() -> None:
    assert offering("module:Class").offers == (Offer("Class", "module:Class"),)
