"""Sandboxes of guests: what is in force is told, what is missing is refused or named, guests live and die as ever."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.errors import SandboxError
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.sandbox import machine, plan
from enfilade.isolation.sandbox.machine import Machine, bubblewrap, this_machine
from enfilade.sandboxing import UNCONFINED, Sandboxing
from enfilade_sdk.errors import EnfiladeError, GuestDiedError
from tests.support import stock_plugin
from tests.support.faulty_guest import NO_FORK_HANDLERS, by_hand, offering, started
from tests.support.leftovers import gone
from tests.support.sandbox_marks import needs_standard, needs_strict
from tests.support.trial_hatch import TrialHatch, says
from tests.support.trial_run import texts

STANDARD = Sandboxing()
STRICT = Sandboxing("strict", required=True, subprocess=False)
PROFILES = [pytest.param(STANDARD, marks=needs_standard), pytest.param(STRICT, marks=needs_strict)]
BOTH = pytest.mark.parametrize("sandboxing", PROFILES, ids=["standard", "strict"])


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(machine, "BUBBLEWRAP", "no-such-bwrap")
    bubblewrap.cache_clear()
    yield
    bubblewrap.cache_clear()


def strategy(tmp_path: Path, body: str, **more: object) -> Candidate:
    """A plugin whose strategy `act` yields what a body gives."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    (tmp_path / "acting.py").write_text(
        "import os, pathlib, resource, socket, subprocess, sys\n\n\nclass Act:\n    def get_parameters(self):\n"
        f"        return []\n\n    def invoke(self):\n{lines}"
    )
    candidate = Candidate(
        plugin="acting",
        offers=(Offer("act", "acting:Act"),),
        paths=(str(tmp_path),),
        environment=NO_FORK_HANDLERS,
        start_timeout=20,
    )
    return replace(candidate, **more)  # type: ignore[arg-type]  # whichever fields a test sets


@needs_standard
async def test_an_interpreter_that_finds_its_library_by_a_variable_confines_itself_too(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = tmp_path / "python"
    needy.write_text(f'#!/bin/sh\n[ -n "$LD_LIBRARY_PATH" ] || exit 127\nexec {sys.executable} "$@"\n')
    needy.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(needy))
    assert this_machine.__wrapped__().missing == {}
    async with started(launcher, strategy(tmp_path, "yield os.environ['LD_LIBRARY_PATH']")) as guest:
        assert await texts(guest, "act") == [str(tmp_path)]


@needs_standard
async def test_plugins_are_confined_when_nobody_says_otherwise_and_it_is_told(
    launcher: Launcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="enfilade.isolation.process")
    async with started(launcher, offering("at_run:Works")) as guest:
        assert guest.confined.active == ()
        await guest.describe()
        told = guest.confined
    assert told.profile == "standard"
    assert [layer.split()[0] for layer in told.active] == ["limits", "privileges", "host", "landlock", "seccomp"]
    assert told.missing == {}
    assert f"plugin 'harm' is confined by {told}" in [record.getMessage() for record in caplog.records]


async def test_without_a_sandbox_nothing_is_in_force(launcher: Launcher) -> None:
    async with started(launcher, offering("at_run:Works", sandboxing=UNCONFINED)) as guest:
        await guest.describe()
        assert (guest.confined.profile, guest.confined.active) == ("none", ())


@needs_standard
async def test_a_layer_that_is_required_and_missing_refuses_with_its_cause_and_the_next_best(
    launcher: Launcher, no_bubblewrap: None
) -> None:
    async with started(launcher, offering("at_run:Works", sandboxing=STRICT)) as guest:
        with pytest.raises(SandboxError) as caught:
            await guest.describe()
    assert caught.value.message == (
        "plugin 'harm' is not started: its sandbox 'strict' is required and not to be had here (bubblewrap: bwrap was "
        "not found on the PATH; install bubblewrap); the next best here is sandbox = 'standard', or "
        "sandbox_required = false to go on with what there is"
    )


@needs_standard
async def test_a_layer_that_is_missing_and_not_required_is_named_and_the_rest_is_in_force(
    launcher: Launcher, no_bubblewrap: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with started(launcher, offering("at_run:Works", sandboxing=replace(STRICT, required=False))) as guest:
        assert len(await texts(guest, "Works")) == 1
        assert "seccomp" in guest.confined.active
        assert set(guest.confined.missing) - {"control group"} == {"bubblewrap"}
    (warning,) = [record for record in caplog.records if record.name == "enfilade.isolation.process"]
    assert warning.levelname == "WARNING"
    assert "without bubblewrap: bwrap was not found on the PATH" in warning.getMessage()


async def test_a_machine_without_landlock_and_seccomp_goes_on_with_limits(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"landlock": "the kernel has none", "seccomp": "no tables"}
    monkeypatch.setattr(plan, "this_machine", lambda: Machine(missing=missing))
    async with started(launcher, offering("at_run:Works", sandboxing=STANDARD)) as guest:
        assert len(await texts(guest, "Works")) == 1
        assert guest.confined.active[0] == "limits"
        assert guest.confined.missing == missing


async def test_a_child_that_cannot_confine_itself_does_not_run(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "steps", lambda *_: "filter 00")
    async with started(launcher, offering("at_run:Works", sandboxing=STANDARD)) as guest:
        with pytest.raises(EnfiladeError) as caught:
            await guest.describe()
    assert "ended before its handshake: exit code 70" in caught.value.message
    assert "the sandbox cannot be set up: prctl PR_SET_SECCOMP: " in caught.value.message


@BOTH
async def test_a_program_of_the_plugins_own_is_confined_and_ends_as_ever(
    launcher: Launcher, sandboxing: Sandboxing
) -> None:
    command = (sys.executable, str(Path(stock_plugin.__file__)))
    async with started(launcher, Candidate(plugin="stock", command=command, sandboxing=sandboxing)) as guest:
        assert await texts(guest, "greeter", TrialHatch(tool=says("told")), query="hello") == ["hello: told"]
        pid = guest.pid
        assert pid is not None
        begun = monotonic()
        await guest.stop()
        assert monotonic() - begun < 15
        await gone(pid)


@BOTH
async def test_sigterm_reaches_a_plugin_that_hears_nothing_else(
    launcher: Launcher, sandboxing: Sandboxing, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="enfilade.plugin.faulty")
    async with started(launcher, by_hand("hears_sigterm", sandboxing=sandboxing)) as guest:
        await guest.describe()
    assert "heard SIGTERM" in [record.getMessage() for record in caplog.records]


@BOTH
@pytest.mark.parametrize(
    ("deed", "how"),
    [
        ("Dies", "signal 9 (SIGKILL: killed, perhaps for want of memory); its last lines:\n  last words"),
        ("Segfaults", "signal 11 (SIGSEGV: a segmentation fault in native code)"),
        ("Exits", "exit code 0; it printed nothing"),
    ],
)
async def test_a_death_is_told_in_the_same_words(
    launcher: Launcher, sandboxing: Sandboxing, deed: str, how: str
) -> None:
    async with started(launcher, offering(f"at_run:{deed}", sandboxing=sandboxing)) as guest:
        with pytest.raises(GuestDiedError) as caught:
            await texts(guest, deed)
    assert caught.value.message.startswith(f"plugin 'harm' died in the middle of the run: {how}")


@BOTH
async def test_processor_time_that_is_used_up_ends_it_with_the_reason(
    launcher: Launcher, sandboxing: Sandboxing, tmp_path: Path
) -> None:
    busy = strategy(tmp_path, "while True:\n    pass\nyield ''", sandboxing=replace(sandboxing, cpu_seconds=3))
    async with started(launcher, busy) as guest:
        with pytest.raises(GuestDiedError, match=r"signal 24 \(SIGXCPU: its CPU time was used up\)"):
            await texts(guest, "act")


@BOTH
async def test_each_measure_is_what_was_asked_for(launcher: Launcher, sandboxing: Sandboxing, tmp_path: Path) -> None:
    kinds = "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_STACK"
    body = f"yield ' '.join(str(resource.getrlimit(getattr(resource, k))[1]) for k in {kinds})"
    asked = replace(sandboxing, memory=700 * 2**20, file_size=2**20, open_files=100)
    async with started(launcher, strategy(tmp_path, body, sandboxing=asked)) as guest:
        assert await texts(guest, "act") == [f"{700 * 2**20} {2**20} 100 0 {64 * 2**20}"]


@BOTH
async def test_a_readable_path_can_be_read_and_not_written(
    launcher: Launcher, sandboxing: Sandboxing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("given")
    (folder / "data").write_text("given")
    body = (
        f"yield pathlib.Path({str(folder / 'data')!r}).read_text()\n"
        f"try:\n    pathlib.Path({str(folder / 'data')!r}).write_text('changed')\n"
        "except OSError as error:\n    yield type(error).__name__"
    )
    asked = replace(sandboxing, readable=(str(folder),))
    async with started(launcher, strategy(tmp_path, body, sandboxing=asked)) as guest:
        first, second = await texts(guest, "act")
    assert first == "given"
    assert second in ("PermissionError", "OSError")  # Landlock's EACCES, or a file system that is read-only
    assert (folder / "data").read_text() == "given"


@BOTH
@pytest.mark.parametrize("network", [True, False])
async def test_a_plugin_connects_where_it_may(
    launcher: Launcher, sandboxing: Sandboxing, network: bool, tmp_path: Path
) -> None:
    body = (
        "try:\n    with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "        socket.create_connection(server.getsockname()).close()\n    yield 'connected'\n"
        "except PermissionError as error:\n    yield f'{error.errno} {error.strerror}'"
    )
    asked = replace(sandboxing, network=network)
    async with started(launcher, strategy(tmp_path, body, sandboxing=asked)) as guest:
        said = await texts(guest, "act")
    assert said == ["connected" if network else "1 Operation not permitted"]


@BOTH
@pytest.mark.parametrize("allowed", [True, False])
async def test_a_plugin_starts_processes_where_it_may_and_threads_always(
    launcher: Launcher, sandboxing: Sandboxing, allowed: bool, tmp_path: Path
) -> None:
    body = (
        "import threading\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()\n"
        "try:\n    yield subprocess.run(['/bin/echo', 'hi'], capture_output=True, text=True).stdout\n"
        "except PermissionError as error:\n    yield f'{error.errno} {error.strerror}'"
    )
    asked = replace(sandboxing, subprocess=allowed)
    async with started(launcher, strategy(tmp_path, body, sandboxing=asked)) as guest:
        assert await texts(guest, "act") == ["hi\n" if allowed else "1 Operation not permitted"]


@BOTH
async def test_a_run_that_fails_for_want_of_a_right_is_told_which_settings_give_it(
    launcher: Launcher, sandboxing: Sandboxing, tmp_path: Path
) -> None:
    candidate = strategy(tmp_path, "socket.create_connection(('127.0.0.1', 9))\nyield ''", sandboxing=sandboxing)
    async with started(launcher, candidate) as guest:
        with pytest.raises(EnfiladeError) as caught:
            await texts(guest, "act")
    assert str(caught.value) == caught.value.message
    assert caught.value.message == (
        "the strategy failed with PermissionError: [Errno 1] Operation not permitted (its sandbox "
        f"{sandboxing.profile!r} may have refused that; `network`, `readable` and `subprocess` in [plugins.acting] "
        "open it, see docs/isolation.md)"
    )


async def test_without_a_sandbox_nothing_is_blamed_on_one(launcher: Launcher, tmp_path: Path) -> None:
    body = "raise PermissionError(1, 'Operation not permitted')\nyield ''"
    candidate = strategy(tmp_path, body, sandboxing=UNCONFINED)
    async with started(launcher, candidate) as guest:
        with pytest.raises(EnfiladeError) as caught:
            await texts(guest, "act")
    assert caught.value.message.endswith("Operation not permitted")
