"""Plugins in environments of their own: plugins.lock is read, no process is started."""

from collections.abc import Iterable, Mapping
from functools import partial

from enfilade.candidate import Candidate, Isolation, OwnEnvironment, plugin_key
from enfilade.config import PluginSettings
from enfilade.environments.drift import check_drift
from enfilade.environments.entry import PluginEntry
from enfilade.errors import ConfigError


def managed_candidates(
    settings: Mapping[str, PluginSettings], entries: Iterable[PluginEntry], isolation: Isolation = "process"
) -> list[Candidate]:
    """The enabled plugins among what is installed.

    Args:
        settings: The operator's settings by plugin name, however it is written.
        entries: What is installed (`InstalledPlugins.entries`).
        isolation: How plugins without a setting shall run; one that cannot is refused when it is asked for.

    Raises:
        ConfigError: One is set to run in process, which its environment forbids.
    """
    by_key: dict[str, PluginSettings] = {plugin_key(name): chosen for name, chosen in settings.items()}
    found = []
    for entry in entries:
        chosen = by_key.get(entry.key, PluginSettings())
        if entry.enabled and chosen.enabled:
            found.append(_candidate(entry, chosen, chosen.isolation or isolation))
    return found


def _candidate(entry: PluginEntry, chosen: PluginSettings, isolation: Isolation) -> Candidate:
    if chosen.isolation == "inprocess":
        raise ConfigError(
            f"[plugins.{entry.name}] isolation: expected 'process', got 'inprocess': {entry.name} has an environment "
            "of its own, which cannot be loaded into the host; install it beside the host with pip for that"
        )
    return Candidate(
        plugin=entry.name,
        version=entry.version,
        origin=f"{entry.name} {entry.version} ({entry.venv})",
        offers=entry.offers,
        isolation=isolation,
        python=str(entry.python),
        own_environment=OwnEnvironment(entry.folder, entry.site_packages, partial(check_drift, entry)),
        environment=chosen.environment,
        start_timeout=chosen.start_timeout,
        supervision=chosen.supervision,
    )
