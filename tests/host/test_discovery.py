"""Plugins beside the host, found by their metadata."""

import pytest

from enfilade.config import PluginSettings
from enfilade.discovery.entry_points import installed_candidates


@pytest.mark.parametrize("name", ["enfilade-fc", "Enfilade_FC", "enfilade.fc"])
def test_settings_count_however_the_name_is_written(name: str) -> None:
    off = installed_candidates({name: PluginSettings(enabled=False)}, "process")
    assert "enfilade-fc" not in [candidate.plugin for candidate in off]
    slow = installed_candidates({name: PluginSettings(start_timeout=3)}, "process")
    assert {candidate.start_timeout for candidate in slow if candidate.plugin == "enfilade-fc"} == {3}
