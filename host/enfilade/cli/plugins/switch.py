"""`enfilade plugins remove`, `enable`, `disable`: what takes a moment and starts nothing."""

from collections.abc import Callable

from enfilade.cli.exit_code import DONE
from enfilade.cli.failure import tell
from enfilade.cli.plugins.entry import entry_json
from enfilade.cli.plugins.name import explained
from enfilade.cli.screen import Screen
from enfilade.environments.entry import PluginEntry
from enfilade.environments.installed import InstalledPlugins
from enfilade.running.asking import restart
from enfilade.running.places import hosts_folder
from enfilade_sdk.errors import EnfiladeError


def remove(name: str, as_json: bool) -> int:
    """Removes a plugin."""
    return _changed(InstalledPlugins().remove, name, _removed, as_json=as_json)


def enable(name: str, as_json: bool) -> int:
    """Lets hosts use a plugin, those too in which it crashed too often."""
    code = _changed(InstalledPlugins().enable, name, lambda e: f"{e.name} {e.version} is enabled", as_json=as_json)
    if code == DONE:
        restart(hosts_folder(), name, lambda shown: shown.get("state") == "disabled")
    return code


def disable(name: str, as_json: bool) -> int:
    """Lets no host use a plugin."""
    return _changed(InstalledPlugins().disable, name, lambda e: f"{e.name} {e.version} is disabled", as_json=as_json)


def _changed(
    change: Callable[[str], PluginEntry], name: str, told: Callable[[PluginEntry], str], *, as_json: bool
) -> int:
    screen = Screen.claim()
    try:
        entry = change(name)
    except EnfiladeError as error:
        return tell(screen, explained(error, name), as_json=as_json)
    screen.say(entry_json(entry) if as_json else f"{told(entry)}\n")
    return DONE


def _removed(entry: PluginEntry) -> str:
    in_use = entry.folder.exists()
    last = "; a host uses it and ends its runs first, then its files go" if in_use else ""
    return f"{entry.name} {entry.version} is removed{last}"
