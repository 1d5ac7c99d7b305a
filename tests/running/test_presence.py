"""A host that runs, as other processes see it, and what they ask of it: with the real command."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate
from enfilade.config import Config
from enfilade.host import Host
from enfilade.running.asking import restart
from enfilade.running.folder import living_hosts
from enfilade.running.places import hosts_folder
from tests.support.elsewhere import Elsewhere
from tests.support.enfilade_command import Enfilade
from tests.support.faulty_guest import offering
from tests.support.leftovers import alive, gone, nothing_left
from tests.support.states import BOUND

WORKS, WAITS = AgentConfig(strategy="Works"), AgentConfig(strategy="Waits")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("ENFILADE_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def enfilade(tmp_path: Path, data: Path) -> Enfilade:
    runtime, home = tmp_path / "runtime", tmp_path / "home"
    runtime.mkdir()
    home.mkdir()
    return Enfilade(home, runtime, {"ENFILADE_DATA_DIR": str(data)})


@pytest_asyncio.fixture
async def host(data: Path) -> AsyncIterator[Host]:
    async with nothing_left(), hosting(offering("at_run:Works", "at_run:Waits", "at_run:Dies")) as opened:
        yield opened


def hosting(*candidates: Candidate) -> Host:
    return Host(Config(), candidates=candidates)


async def answer(host: Host) -> str:
    outcome = await host.ask(WORKS, "x")
    assert outcome.error is None, outcome.error
    return outcome.answer.strip()


async def shown(enfilade: Enfilade, **wanted: object) -> list[dict[str, object]]:
    """The rows of `plugins status`, as soon as one of them is as wanted."""
    async with asyncio.timeout(BOUND):
        while True:
            rows: list[dict[str, object]] = json.loads((await enfilade("plugins", "status", "--json")).out)
            if any(all(row[name] == value for name, value in wanted.items()) for row in rows):
                return rows


async def test_a_host_shows_how_its_plugins_stand_as_long_as_it_lives(
    enfilade: Enfilade, host: Host, data: Path
) -> None:
    assert living_hosts(data / "hosts") == []  # it has started nothing
    pid = await answer(host)
    (row,) = await shown(enfilade, state="ready")
    assert (row["plugin"], row["host"], row["waiting"], row["crashes"]) == ("harm", os.getpid(), 0, 0)
    assert [process["pid"] for process in row["processes"]] == [int(pid)]  # type: ignore[attr-defined]
    told = await enfilade("plugins", "status")
    assert told.code == 0
    assert f"{pid} ready" in told.text
    await host.aclose()
    none = await enfilade("plugins", "status")
    assert (none.code, none.text, none.err) == (0, "", "no host of this user has started a plugin\n")
    assert list((data / "hosts").iterdir()) == []


async def test_two_hosts_are_shown_and_each_starts_the_plugin_anew(enfilade: Enfilade, host: Host) -> None:
    async with hosting(offering("at_run:Works")) as other:
        before = {await answer(host), await answer(other)}
        assert len(await shown(enfilade, state="ready")) == 2
        done = await enfilade("plugins", "restart", "HARM")
        assert done.code == 0, done.err
        assert done.text == f"harm in the host {os.getpid()} was started anew\n" * 2
        after = {await answer(host), await answer(other)}
        assert before.isdisjoint(after)


async def test_a_restart_leaves_no_gap_and_lets_runs_end_where_they_are(enfilade: Enfilade, host: Host) -> None:
    run = host.run(WAITS, "x")
    first = (await anext(aiter(run))).to_json()["message"]["text"]
    await shown(enfilade, state="ready")
    done = await enfilade("plugins", "restart", "harm", "--json")
    assert done.code == 0
    (told,) = json.loads(done.out)
    assert told["results"] == [{"plugin": "harm", "version": "", "result": "restarted", "reason": "", "code": ""}]
    second = await answer(host)
    assert second != first
    assert alive(int(first))
    rows = await shown(enfilade, state="draining")
    assert {row["state"] for row in rows} == {"ready", "draining"}
    await run.aclose()
    await gone(int(first))


async def test_a_plugin_that_crashed_too_often_runs_again_when_it_is_asked_for(enfilade: Enfilade, host: Host) -> None:
    for _ in range(3):
        async with asyncio.timeout(BOUND):
            outcome = await host.ask(AgentConfig(strategy="Dies"), "x")
        assert outcome.error is not None
    (row,) = await shown(enfilade, state="disabled")
    assert "crashed 3 times within five minutes" in str(row["reason"])
    refused = await host.ask(WORKS, "x")
    assert refused.error is not None
    assert "`enfilade plugins restart harm` starts it again" in refused.error.message
    healthy = await asyncio.to_thread(restart, hosts_folder(), "harm", lambda shown: shown["state"] == "ready")
    assert healthy == []  # nobody is asked where it runs, as `plugins enable` does
    disabled = await asyncio.to_thread(restart, hosts_folder(), "harm", lambda shown: shown["state"] == "disabled")
    assert [result["result"] for told in disabled for result in told.results] == ["restarted"]
    assert (await answer(host)).isdigit()
    logs = (await enfilade("plugins", "logs", "harm")).text
    for part in (" last words\n", " [crashed]: signal 9 (SIGKILL", " [backing_off]: ", " [disabled]: "):
        assert part in logs
    assert "its last lines" not in logs


async def test_a_restart_that_fails_leaves_what_ran(enfilade: Enfilade, data: Path, tmp_path: Path) -> None:
    code = tmp_path / "fragile.py"
    code.write_text("class Works:\n    def get_parameters(self): return []\n    def invoke(self): yield 'old'\n")
    plugin = Candidate(plugin="fragile", command=(), offers=offering("fragile:Works").offers, paths=(str(tmp_path),))
    async with hosting(plugin) as host:
        assert (await host.ask(WORKS, "x")).answer == "old"
        await shown(enfilade, state="ready")
        code.write_text("import os; os._exit(9)")
        done = await enfilade("plugins", "restart", "fragile")
        assert done.code == 1
        assert "does not start anew, so what ran goes on: plugin 'fragile' ended before its handshake" in done.err
        assert "(code: guest_died)" in done.err
        code.write_text("class Works:\n    def get_parameters(self): return []\n    def invoke(self, x): yield 'new'\n")
        [told] = await asyncio.to_thread(restart, hosts_folder(), "fragile")
        [result] = told.results
        assert (result["result"], result["code"]) == ("failed", "not_admitted")
        assert result["reason"].startswith("strategy 'Works' does not fit the contract:\n  - expected invoke to ")
        assert (await host.ask(WORKS, "x")).answer == "old"


async def test_a_plugin_at_an_address_is_shown_and_connected_to_anew(data: Path, tmp_path: Path) -> None:
    plugin = Elsewhere(tmp_path / "s")

    async def restarted() -> tuple[str, str]:
        [told] = await asyncio.to_thread(restart, hosts_folder(), "far")
        return told.results[0]["result"], told.results[0]["code"]

    async with hosting(Candidate(plugin="far", address=plugin.address)) as host:
        async with plugin.there():
            await host.open("Far")
            plugin.offers = ["Far", "Farther"]
            assert await restarted() == ("restarted", "")
            await host.open("Farther")
            [folder] = living_hosts(data / "hosts")
            [shown] = folder.status()["plugins"]
            assert (shown["state"], shown["address"], shown["processes"]) == ("ready", plugin.address, [])
        assert await restarted() == ("failed", "guest_died")


async def test_what_nobody_runs_cannot_be_started_anew(enfilade: Enfilade) -> None:
    done = await enfilade("plugins", "restart", "nothing")
    assert done.code == 1
    said = "no host that runs has started a plugin 'nothing'; see `enfilade plugins status`"
    assert done.err == f"error: {said} (code: invalid_params)\n"
    form = json.loads((await enfilade("plugins", "restart", "nothing", "--json")).out)
    assert form == {"error": {"code": "invalid_params", "message": said, "details": {}}}


async def test_a_name_that_is_not_quite_right_is_told_with_those_that_run(enfilade: Enfilade, host: Host) -> None:
    await answer(host)
    await shown(enfilade, state="ready")
    done = await enfilade("plugins", "restart", "harn")
    assert "a plugin 'harn'; did you mean 'harm'? there are: harm (code: invalid_params)" in done.err


async def test_a_log_is_followed_until_ctrl_c(enfilade: Enfilade, host: Host) -> None:
    await answer(host)
    async with enfilade.running("plugins", "logs", "harm", "-f", "--json") as following:
        await following.until(lambda: b"[ready]" in following.out)
        await host.ask(AgentConfig(strategy="Dies"), "x")
        await following.until(lambda: b"last words" in following.out and b"[crashed]" in following.out)
        following.signal(signal.SIGINT)
        done = await following.finished()
    assert done.code == 130
    assert {"[starting]", "[ready]", "last words"} <= {line["text"] for line in done.lines}


async def test_a_log_that_is_not_there_is_told_with_those_that_are(enfilade: Enfilade, host: Host) -> None:
    await answer(host)
    done = await enfilade("plugins", "logs", "harn")
    assert (done.code, done.text) == (1, "")
    assert (
        "error: there is no log of a plugin 'harn'; did you mean 'harm'? there are: harm (code: invalid_params)"
        in done.err
    )
    form = json.loads((await enfilade("plugins", "logs", "harn", "--json")).out)
    assert form["error"]["code"] == "invalid_params"


async def test_a_host_without_a_data_folder_runs_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ENFILADE_DATA_DIR", __file__)  # a file is in the way
    async with hosting(offering("at_run:Works")) as host:
        assert (await answer(host)).isdigit()
        await asyncio.sleep(0)
    assert (
        f"other processes cannot see this host's plugins: cannot use {__file__}/hosts: Not a directory" in caplog.text
    )
    assert "name another data folder with ENFILADE_DATA_DIR" in caplog.text
    assert "Errno" not in caplog.text
