"""Where there is no uv: the same with venv and pip."""

import subprocess
import sys
from pathlib import Path

import pytest

from enfilade.environments.drift import check_drift
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.pip_installer import PipInstaller
from enfilade.environments.sdk import Sdk
from enfilade.environments.store import PluginStore
from tests.environments.conftest import offline_sources
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin, write_wheel

BASE = getattr(sys, "_base_executable", sys.executable)


@pytest.fixture
def pip_store(tmp_path: Path, wheelhouse: Path, tiny_sdk: Sdk) -> PluginStore:
    asked = subprocess.run([BASE, "-I", "-m", "pip", "--version"], capture_output=True, check=False)
    if asked.returncode:
        pytest.skip(f"{BASE} has no pip")
    sources = offline_sources(wheelhouse)
    return PluginStore(tmp_path / "root", sources, sdk=tiny_sdk, installer=PipInstaller(sources))


async def test_a_plugin_is_installed_with_its_dependencies_and_their_hashes(
    pip_store: PluginStore, wheelhouse: Path
) -> None:
    write_plugin(wheelhouse, "greeter", requires=["part<2"])
    for version in ("1.0", "2.0"):
        write_wheel(wheelhouse, "part", version, {"part.py": ""})
    entry = await pip_store.add("greeter", import_opener)
    assert [(p.name, p.version) for p in entry.packages] == [
        ("enfilade-sdk", "0.1.0"),
        ("greeter", "1.0.0"),
        ("part", "1.0"),
    ]
    assert all(len(package.hashes[0]) == 64 for package in entry.packages)
    assert entry.installer == "pip"
    check_drift(pip_store.entry("greeter"))
    assert len(list(entry.venv.rglob("greeter/__pycache__/*.pyc"))) == 2


async def test_a_missing_dependency_is_a_failure_with_pips_last_lines(pip_store: PluginStore, wheelhouse: Path) -> None:
    wheel = write_plugin(wheelhouse, "needs-missing", requires=["no-such-package-zzz==9.9.9"])
    with pytest.raises(InstallError, match=r"(?s)pip could not find what needs-missing needs.*no-such-package-zzz"):
        await pip_store.add(str(wheel), import_opener)
    assert pip_store.entries() == []
    assert list((pip_store.root / "environments").iterdir()) == []


async def test_without_uv_and_without_pip_the_error_says_what_to_install(
    pip_store: PluginStore, wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"  # a Python that has no module pip
    bare.write_text(f'#!/bin/sh\nexec "{BASE}" -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(bare))
    with pytest.raises(
        InstallError, match=r"there is neither uv nor pip: expected the package uv beside the host"
    ) as told:
        await pip_store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    assert told.value.reason is Reason.NO_INSTALLER
