"""An update while the plugin is in use: no run fails, each ends on the version that it began on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config, PluginSettings
from enfilade.host import Host
from enfilade.outcome import Status
from tests.environments.processes import until
from tests.operating.operator import Operator, version_of

STRATEGY = """
import os, pathlib, time

class Strategy:
    def get_parameters(self):
        return [{{"name": "query", "type": "string"}}]

    def invoke(self, *, params):
        if params["query"] == "wait":
            folder = pathlib.Path({folder!r})
            (folder / "started").touch()
            end = time.monotonic() + 50
            while not (folder / "go").exists() and time.monotonic() < end:
                time.sleep(0.01)
        yield {version!r} + " " + os.environ.get("UNIT", "")
"""
BROKEN = "import os\nos._exit(3)\n"
SLOW = AgentConfig(strategy="slow")


def write(operator: Operator, version: str, strategy: str | None = None) -> Path:
    folder = str(operator.command.folder)
    text = STRATEGY.format(folder=folder, version=version) if strategy is None else strategy
    return operator.write("slow", version, files={"slow/strategy.py": text})


@asynccontextmanager
async def waiting(host: Host, folder: Path) -> AsyncIterator["asyncio.Future[str]"]:
    """A run that waits until the block is left."""

    async def answer() -> str:
        outcome = await host.ask(SLOW, "wait")
        return outcome.answer or str(outcome.error)

    run = asyncio.ensure_future(answer())
    await until((folder / "started").exists, "the run has started")
    try:
        yield run
    finally:
        (folder / "go").touch()
        await run


@asynccontextmanager
async def asked_all_the_time(host: Host) -> AsyncIterator[list[str]]:
    """Asks again and again as long as the block lasts; gives what was answered."""
    answers: list[str] = []
    over = asyncio.Event()

    async def ask() -> None:
        while not over.is_set():
            outcome = await host.ask(SLOW, "now")
            answers.append(outcome.answer if outcome.status is Status.SUCCEEDED else str(outcome.error))
            await asyncio.sleep(0.1)  # as often as the operator's users ask

    asking = asyncio.ensure_future(ask())
    try:
        yield answers
    finally:
        over.set()
        await asking


@pytest.fixture
def hosts(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Host]:
    """Makes hosts in this process that see what the operator installs."""
    monkeypatch.setenv("ENFILADE_PLUGINS_DIR", str(operator.root))
    monkeypatch.setenv("ENFILADE_RUNTIME_DIR", str(operator.command.runtime))
    config = Config(plugins={"slow": PluginSettings(environment={"UNIT": "metric"}, sandbox="none")})
    return lambda: Host(config)


@pytest.mark.timeout(180)
async def test_no_run_fails_during_an_update_and_a_failed_one_changes_nothing(
    operator: Operator, hosts: Callable[..., Host]
) -> None:
    folder = operator.command.folder
    assert (await operator.add(write(operator, "1.0.0"))).code == 0
    async with hosts() as host:
        async with waiting(host, folder) as first, asked_all_the_time(host) as answers:
            updated = await operator.update(write(operator, "2.0.0"))
            assert updated.text.startswith("slow 1.0.0 is now 2.0.0")
            assert (await host.ask(SLOW, "now")).answer == "2.0.0 metric"  # its settings are kept
            assert not first.done()
            assert len(operator.environments()) == 2
        assert first.result() == "1.0.0 metric"
        assert set(answers) <= {"1.0.0 metric", "2.0.0 metric"}
        assert answers[-1] == "2.0.0 metric"

        failed = await operator.update(write(operator, "3.0.0", BROKEN))
        assert failed.code == 1
        assert "slow 3.0.0 could be installed but not opened, so nothing was changed" in failed.err
        assert "exit code 3" in failed.err
        assert (await host.ask(SLOW, "now")).answer == "2.0.0 metric"
    assert operator.environments() == operator.recorded()
    assert (await operator.listed())["slow"]["version"] == "2.0.0"


@pytest.mark.timeout(180)
async def test_the_same_holds_of_commands_that_run_beside_each_other(operator: Operator) -> None:
    operator.command.environment["ENFILADE_SANDBOX"] = "none"  # the plugin tells by files of the test where it is
    await operator.add(write(operator, "1.0.0"))
    async with operator.command.running("run", "wait", "-s", "slow") as old:
        await until((operator.command.folder / "started").exists, "the run has started")
        update = asyncio.ensure_future(operator.update(write(operator, "2.0.0")))
        versions = [version_of(await operator.ask("slow"))]
        while not update.done():
            versions.append(version_of(await operator.ask("slow")))
        assert (await update).code == 0
        assert version_of(await operator.ask("slow")) == "2.0.0"
        assert set(versions) <= {"1.0.0", "2.0.0"}
        (operator.command.folder / "go").touch()
        old.stdin.close()
        assert version_of(await old.finished()) == "1.0.0"
    assert len(operator.environments()) == 1  # the last of its users has swept


async def test_a_plugin_that_is_removed_or_disabled_takes_no_new_run_and_ends_those_it_has(
    operator: Operator, hosts: Callable[..., Host]
) -> None:
    await operator.add(write(operator, "1.0.0"))
    async with hosts() as host:
        async with waiting(host, operator.command.folder) as first:
            assert (await operator.plugins("disable", "slow")).code == 0
            refused = await host.ask(SLOW, "now")
            assert "is disabled: `enfilade plugins enable slow`" in str(refused.error)
            assert (await operator.plugins("enable", "slow")).code == 0
            assert (await host.ask(SLOW, "now")).answer == "1.0.0 metric"
            removed = await operator.plugins("remove", "slow")
            assert removed.text == "slow 1.0.0 is removed; a host uses it and ends its runs first, then its files go\n"
            assert "there is no strategy 'slow'" in str((await host.ask(SLOW, "now")).error)
            assert not first.done()
        assert first.result() == "1.0.0 metric"
    assert operator.environments() == set()


async def test_what_is_installed_while_a_host_lives_can_be_asked_at_once(
    operator: Operator, hosts: Callable[..., Host]
) -> None:
    async with hosts() as host:
        assert (await host.ask(SLOW, "now")).status is Status.FAILED
        await operator.add(write(operator, "1.0.0"))
        assert host.resolve("slow").name == "slow"
        assert (await host.ask(SLOW, "now")).answer == "1.0.0 metric"


async def test_a_version_that_does_not_start_here_leaves_the_old_one_in_use(
    operator: Operator, hosts: Callable[..., Host], caplog: pytest.LogCaptureFixture
) -> None:
    await operator.add(write(operator, "1.0.0"))
    async with hosts() as host:
        assert (await host.ask(SLOW, "now")).answer == "1.0.0 metric"
        await operator.update(write(operator, "2.0.0"))
        [folder] = operator.recorded()
        [module] = (operator.root / "environments" / folder).glob("venv/lib/python3*/site-packages/slow/strategy.py")
        module.write_text(module.read_text() + "# changed\n")
        assert (await host.ask(SLOW, "now")).answer == "1.0.0 metric"
        assert "plugin 'slow' 2.0.0 does not start, so 1.0.0 stays in use" in caplog.text
        assert "slow/strategy.py was changed" in caplog.text
        await operator.update(write(operator, "2.0.1"))
        assert (await host.ask(SLOW, "now")).answer == "2.0.1 metric"


@pytest.mark.timeout(180)
async def test_a_host_that_has_not_used_a_plugin_yet_holds_nothing_and_loses_nothing(
    operator: Operator, hosts: Callable[..., Host]
) -> None:
    """Its hold begins with the first use: what is updated or removed before that may go, and is found anew."""
    assert (await operator.add(write(operator, "1.0.0"))).code == 0
    async with hosts() as host, hosts() as other:
        for opened in (host, other):
            assert "slow" in await opened.catalog.names()
        assert (await operator.update(write(operator, "2.0.0"))).code == 0
        assert len(operator.environments()) == 1  # the old one went, for nobody held it
        assert (await host.ask(SLOW, "now")).answer == "2.0.0 metric"
        assert (await operator.plugins("remove", "slow")).code == 0
        outcome = await other.ask(SLOW, "now")
        assert outcome.error is not None
        assert outcome.error.message.startswith("there is no strategy 'slow'")
        assert len(operator.environments()) == 1  # the one that the first host holds
    assert operator.environments() == set()


@pytest.mark.timeout(180)
async def test_isolation_in_process_is_refused_for_it_with_what_to_do(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await operator.add(write(operator, "1.0.0"))).code == 0
    done = await operator.command("run", "now", "-s", "slow", "--isolation", "inprocess")
    assert (done.code, done.text) == (1, "")
    assert done.err.startswith(
        "error: slow has an environment of its own, which cannot be loaded into the host; leave out "
        '`--isolation inprocess`, or set [plugins.slow] isolation = "process", or install it beside the host with pip'
    )
    operator.command.write("enfilade.toml", 'isolation = "inprocess"\n[plugins.slow]\nisolation = "process"\n')
    assert (await operator.command("run", "now", "-s", "slow")).text.strip() == "1.0.0"
