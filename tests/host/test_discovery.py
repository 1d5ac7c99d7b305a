"""Plugins beside the host and in environments of their own, found by their metadata."""

from pathlib import Path

import pytest

from enfilade.config import PluginSettings
from enfilade.discovery.entry_points import installed_candidates
from enfilade.discovery.followed import FollowedPlugins
from enfilade.environments.installed import InstalledPlugins


@pytest.mark.parametrize("name", ["enfilade-fc", "Enfilade_FC", "enfilade.fc"])
def test_settings_count_however_the_name_is_written(name: str) -> None:
    off = installed_candidates({name: PluginSettings(enabled=False)}, "process")
    assert "enfilade-fc" not in [candidate.plugin for candidate in off]
    slow = installed_candidates({name: PluginSettings(start_timeout=3)}, "process")
    assert {candidate.start_timeout for candidate in slow if candidate.plugin == "enfilade-fc"} == {3}


def test_a_folder_of_installed_plugins_that_cannot_be_reached_takes_no_other_plugin_along(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    followed = FollowedPlugins({}, InstalledPlugins(tmp_path / "file" / "plugins"))
    assert followed.revision() == followed.revision()
    assert followed.candidates() == []
    assert caplog.messages[0].startswith("the installed plugins cannot be listed: cannot read ")
    assert followed.remark("tides").endswith("plugins.lock: Not a directory")
