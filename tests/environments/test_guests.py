"""Installed plugins, with the real SDK, run by a host in guests of their own."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config, PluginSettings
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.drift import check_drift
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.store import PluginStore
from enfilade.host import Host
from tests.environments.conftest import offline_sources
from tests.environments.guest_opener import guest_opener
from tests.environments.processes import until
from tests.environments.wheels import write_installed, write_plugin, write_wheel


@pytest.fixture(scope="module")
def sdk_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the SDK needs, as wheels made of what is installed beside the tests."""
    folder = tmp_path_factory.mktemp("parts")
    for name in ("pydantic", "grpcio", "protobuf"):
        write_installed(folder, name)
    return folder


@pytest.fixture
def real_store(tmp_path: Path, sdk_parts: Path) -> PluginStore:
    return PluginStore(tmp_path / "root", offline_sources(sdk_parts))


async def answers(store: PluginStore, *names: str) -> dict[str, str]:
    """What the strategies say, each asked once by one host."""
    async with Host(Config(), candidates=managed_candidates({}, store.entries())) as host:
        outcomes = {name: await host.ask(AgentConfig(strategy=name), "Who are you?") for name in names}
    return {name: outcome.answer or str(outcome.error) for name, outcome in outcomes.items()}


async def test_a_strategy_without_the_sdk_is_installed_opened_and_run(real_store: PluginStore, tmp_path: Path) -> None:
    entry = await real_store.add(str(write_plugin(tmp_path, "greeter")), guest_opener)
    names = [package.name for package in entry.packages]
    assert {"enfilade-sdk", "enfilade-wire", "grpcio", "protobuf", "pydantic"} <= set(names)
    [description] = entry.descriptions
    assert description["name"] == "greeter"
    assert [parameter["name"] for parameter in description["parameters"]] == ["query"]
    assert json.loads(json.dumps(description)) == description
    check_drift(real_store.entry("greeter"))

    assert await answers(real_store, "greeter") == {"greeter": "hello"}
    check_drift(real_store.entry("greeter"))  # running it leaves its environment as it was


NAMESAKES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "alpha": ("__import__('helper').WHO", {"helper.py": "WHO = 'alpha'"}),
    "beta": ("__import__('helper').WHO + __import__('helper').EXTRA", {"helper.py": "WHO = 'beta'\nEXTRA = '!'"}),
    "gamma": ("__import__('json').SHADOW", {"json.py": "SHADOW = 'gamma own json'"}),
}


async def test_plugins_with_modules_of_the_same_name_each_import_their_own(
    real_store: PluginStore, tmp_path: Path
) -> None:
    for name, (answer, files) in NAMESAKES.items():
        await real_store.add(str(write_plugin(tmp_path, name, answer=answer, files=files)), guest_opener)
    for order in (["alpha", "beta", "gamma"], ["gamma", "beta", "alpha"]):
        said = await answers(real_store, *order)
        assert (said["alpha"], said["beta"]) == ("alpha", "beta!")
        assert "SHADOW" in said["gamma"]  # fails alone, for the standard library's json has none
    assert json.loads("1") == 1


async def test_two_plugins_with_versions_that_exclude_each_other_run_beside_each_other(
    real_store: PluginStore, tmp_path: Path, sdk_parts: Path
) -> None:
    for version in ("1.0", "2.0"):
        write_wheel(sdk_parts, "shared-part", version, {"shared_part.py": f"VERSION = '{version}'"})
    for name, needs in {"old-one": "shared-part<2", "new-one": "shared-part>=2"}.items():
        wheel = write_plugin(tmp_path, name, answer="__import__('shared_part').VERSION", requires=[needs])
        await real_store.add(str(wheel), guest_opener)
    assert await answers(real_store, "old-one", "new-one") == {"old-one": "1.0", "new-one": "2.0"}


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ("import no_such_module", "no_such_module"),
        ("class Strategy:\n    def get_parameters(self):\n        return []\n", "invoke"),
        ("import os\nos._exit(7)", "exit code 7"),
    ],
)
async def test_a_plugin_that_is_no_good_is_refused_with_what_is_wrong_and_leaves_nothing(
    real_store: PluginStore, tmp_path: Path, strategy: str, told: str
) -> None:
    wheel = write_plugin(tmp_path, "broken", files={"broken/strategy.py": strategy})
    with pytest.raises(InstallError) as caught:
        await real_store.add(str(wheel), guest_opener)
    assert caught.value.reason is Reason.NOT_OPENED
    assert told in caught.value.message
    assert list((real_store.root / "environments").iterdir()) == []


WAITING = """
import pathlib, time

class Strategy:
    def get_parameters(self):
        return []

    def invoke(self, *, params):
        folder = pathlib.Path({folder!r})
        (folder / "started").touch()
        end = time.monotonic() + 60
        while not (folder / "go").exists() and time.monotonic() < end:
            time.sleep(0.01)
        yield "one"
"""


async def test_an_update_while_a_run_is_under_way_lets_it_end_on_the_old_version(
    real_store: PluginStore, tmp_path: Path
) -> None:
    module = {"slow/strategy.py": WAITING.format(folder=str(tmp_path))}
    await real_store.add(str(write_plugin(tmp_path, "slow", "1.0.0", files=module)), guest_opener)
    two = str(write_plugin(tmp_path, "slow", "2.0.0", answer="'two'"))
    reaches_out = Config(plugins={"slow": PluginSettings(sandbox="none")})
    async with Host(reaches_out, candidates=managed_candidates({}, real_store.entries())) as host:
        with real_store.lease("slow"):
            first = asyncio.ensure_future(host.ask(AgentConfig(strategy="slow"), "Who are you?"))
            await until((tmp_path / "started").exists, "the run has started")
            await real_store.update("slow", guest_opener, spec=two)
            assert await answers(real_store, "slow") == {"slow": "two"}
            (tmp_path / "go").touch()
            assert (await first).answer == "one"
    real_store.sweep()
    assert len(list((real_store.root / "environments").iterdir())) == 1
