"""What is told of a uv that is not there, is no uv, or dies."""

import sys
from pathlib import Path

import pytest

from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.sdk import Sdk
from enfilade.environments.store import PluginStore
from enfilade.environments.uv_installer import UvInstaller, find_uv
from tests.environments.conftest import offline_sources
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin


@pytest.mark.parametrize(
    ("text", "told", "reason"),
    [
        ("#!/bin/sh\nexit 0\n", "so nothing was changed; install uv anew", Reason.INSTALLER_FAILED),
        ("#!/no/such/shell\n", "it is not there or no program; install it anew", Reason.NO_INSTALLER),
        ("#!/bin/sh\nkill -SEGV $$\n", "SIGSEGV", Reason.INSTALLER_FAILED),
        ("", "it is not there or no program; install it anew", Reason.NO_INSTALLER),
    ],
)
async def test_a_uv_that_does_not_work_is_told_as_such_and_nothing_is_changed(
    tmp_path: Path, wheelhouse: Path, tiny_sdk: Sdk, text: str, told: str, reason: Reason
) -> None:
    binary = tmp_path / "uv"
    if text:
        binary.write_text(text)
        binary.chmod(0o755)
    sources = offline_sources(wheelhouse)
    store = PluginStore(tmp_path / "root", sources, sdk=tiny_sdk, installer=UvInstaller(binary, sources))
    with pytest.raises(InstallError) as caught:
        await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    assert told in caught.value.message
    assert caught.value.reason is reason
    assert (store.entries(), list((store.root / "environments").iterdir())) == ([], [])


@pytest.mark.parametrize(
    "text", ["raise ImportError('damaged')", "", "def find_uv_bin(): raise FileNotFoundError('not for this platform')"]
)
def test_a_package_of_uv_that_cannot_be_used_is_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "uv.py").write_text(text)
    monkeypatch.delitem(sys.modules, "uv", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert find_uv() is None
    finally:
        sys.modules.pop("uv", None)
