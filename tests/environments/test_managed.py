import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from enfilade.candidate import Offer
from enfilade.config import PluginSettings
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.folders import default_root
from enfilade.environments.store import PluginStore
from enfilade.errors import ConfigError
from tests.environments.openers import import_opener
from tests.environments.test_lockfile import entry
from tests.environments.wheels import write_plugin


def test_an_installed_plugin_is_a_candidate_with_its_own_interpreter(tmp_path: Path) -> None:
    installed = entry(tmp_path)
    settings = {"gree_ter": PluginSettings(), "GREETER": PluginSettings(environment={"A": "1"}, start_timeout=3)}
    [candidate] = managed_candidates(settings, [installed])
    assert (candidate.plugin, candidate.version, candidate.isolation) == ("Greeter", "1.0", "process")
    assert candidate.python == f"{installed.folder}/venv/bin/python"
    assert candidate.offers == (Offer("greet", "greeter.strategy:Greet"),)
    assert candidate.origin == f"Greeter 1.0 ({installed.folder}/venv)"
    assert (candidate.environment, candidate.start_timeout) == ({"A": "1"}, 3)


def test_a_disabled_plugin_is_no_candidate(tmp_path: Path) -> None:
    installed = entry(tmp_path)
    assert managed_candidates({}, [replace(installed, enabled=False)]) == []
    assert managed_candidates({"greeter": PluginSettings(enabled=False)}, [installed]) == []


def test_a_plugin_of_its_own_environment_cannot_run_in_the_hosts_process(tmp_path: Path) -> None:
    settings = {"greeter": PluginSettings(isolation="inprocess")}
    with pytest.raises(ConfigError, match=r"\[plugins.Greeter\] isolation: expected 'process', got 'inprocess'"):
        managed_candidates(settings, [entry(tmp_path)])


def test_the_root_is_named_by_a_variable_or_is_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENFILADE_PLUGINS_DIR", str(tmp_path / "x"))
    assert default_root() == tmp_path / "x"
    monkeypatch.delenv("ENFILADE_PLUGINS_DIR")
    monkeypatch.setenv("ENFILADE_DATA_DIR", str(tmp_path / "data"))
    assert default_root() == tmp_path / "data" / "plugins"
    monkeypatch.delenv("ENFILADE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_root() == tmp_path / "enfilade" / "plugins"


LISTING = """
import sys
from pathlib import Path

def forbid(event, arguments):
    if event in ("os.fork", "os.posix_spawn", "os.exec", "subprocess.Popen"):
        raise SystemExit(f"a process was started: {event} {arguments}")
    if event == "open" and isinstance(arguments[1], str) and set("wax+") & set(arguments[1]):
        raise SystemExit(f"a file was written: {arguments}")

from enfilade.discovery.managed import managed_candidates
from enfilade.environments.store import PluginStore
sys.addaudithook(forbid)
store = PluginStore(Path(sys.argv[1]))
for candidate, entry in zip(managed_candidates({}, store.entries()), store.entries()):
    print(candidate.plugin, candidate.version, *[description["name"] for description in entry.descriptions])
"""


async def test_listing_starts_no_process_and_writes_nothing(store: PluginStore, wheelhouse: Path) -> None:
    for name in ("alpha", "beta"):
        await store.add(str(write_plugin(wheelhouse, name)), import_opener)
    assert listed(store) == "alpha 1.0.0 alpha\nbeta 1.0.0 beta\n"


def listed(store: PluginStore) -> str:
    command = [sys.executable, "-B", "-c", LISTING, str(store.root)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("environments.installed", {"pydantic", "grpc", "asyncio", "openai", "importlib_metadata", "zipfile", "uv"}),
        ("cli.plugins.install", {"pydantic", "grpc", "openai", "enfilade.config"}),  # loaded while the installer works
    ],
)
def test_what_lists_and_what_installs_loads_no_more_than_it_needs(module: str, unneeded: set[str]) -> None:
    code = f"import sys, enfilade.{module}; print(*sorted(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(ended.stdout.split()) & unneeded
