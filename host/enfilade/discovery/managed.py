"""Plugins in environments of their own: plugins.lock is read, no process is started."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from functools import partial

from enfilade.candidate import Candidate, OwnEnvironment, plugin_key
from enfilade.config import PluginSettings
from enfilade.environments.drift import check_drift
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError
from enfilade.environments.installed import InstalledPlugins
from enfilade.errors import ConfigError

_log = logging.getLogger(__name__)


class ManagedPlugins:
    """The installed plugins as a host follows them (`enfilade.lineup.Source`).

    When plugins.lock cannot be read, what was read last goes on counting: a host does not lose its other plugins over
    it.

    Args:
        settings: The operator's settings by plugin name.
        installed: What is installed.
    """

    def __init__(self, settings: Mapping[str, PluginSettings], installed: InstalledPlugins) -> None:
        self._settings = settings
        self._installed = installed
        self._entries: list[PluginEntry] = []
        self._fault = ""

    def revision(self) -> object:
        """A value that changes whenever what is installed does; costs one look at a file."""
        return self._installed.revision()

    def candidates(self) -> list[Candidate]:
        """What is installed and enabled.

        Raises:
            ConfigError: One is set to run in process, which its environment forbids.
        """
        try:
            self._entries, self._fault = self._installed.entries(), ""
        except InstallError as error:
            self._fault = error.message
            _log.warning("the installed plugins cannot be listed: %s", error.message)
        return managed_candidates(self._settings, self._entries)

    def remark(self, name: str) -> str:
        """Says of a strategy that nobody offers that an installed plugin would, or that these cannot be read."""
        for entry in self._entries:
            if any(offer.name == name for offer in entry.offers):
                where = " in the configuration" if entry.enabled else f": `enfilade plugins enable {entry.key}`"
                return f"; {entry.name} {entry.version}, which offers it, is disabled{where}"
        return f"; installed plugins cannot be listed: {self._fault}" if self._fault else ""

    async def sweep(self) -> None:
        """Removes environments that nobody uses any more, in a thread; what keeps it from that is only logged."""
        try:
            if self._installed.root.is_dir():
                await asyncio.to_thread(self._installed.sweep)
        except (InstallError, OSError) as error:
            _log.debug("plugins' environments were not swept: %s", error)


def managed_candidates(settings: Mapping[str, PluginSettings], entries: Iterable[PluginEntry]) -> list[Candidate]:
    """The enabled plugins among what is installed.

    Args:
        settings: The operator's settings by plugin name, however it is written.
        entries: What is installed (`InstalledPlugins.entries`).

    Raises:
        ConfigError: One is set to run in process, which its environment forbids.
    """
    by_key: dict[str, PluginSettings] = {plugin_key(name): chosen for name, chosen in settings.items()}
    found = []
    for entry in entries:
        chosen = by_key.get(entry.key, PluginSettings())
        if entry.enabled and chosen.enabled:
            found.append(_candidate(entry, chosen))
    return found


def _candidate(entry: PluginEntry, chosen: PluginSettings) -> Candidate:
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
        python=str(entry.python),
        own_environment=OwnEnvironment(entry.folder, entry.site_packages, partial(check_drift, entry)),
        environment=chosen.environment,
        start_timeout=chosen.start_timeout,
    )
