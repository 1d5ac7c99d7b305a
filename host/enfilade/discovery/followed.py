"""The installed plugins as a host follows them while they change."""

import asyncio
import logging
from collections.abc import Mapping

from enfilade.candidate import Candidate, Isolation
from enfilade.config import PluginSettings
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError
from enfilade.environments.installed import InstalledPlugins

_log = logging.getLogger(__name__)


class FollowedPlugins:
    """The source (`enfilade.catalog.source.Source`) of plugins with environments of their own.

    When plugins.lock cannot be read, what was read last goes on counting: a host does not lose its other plugins over
    it.

    Args:
        settings: The operator's settings by plugin name.
        installed: What is installed.
        isolation: How plugins without a setting shall run; one that cannot is refused when it is asked for.
    """

    def __init__(
        self,
        settings: Mapping[str, PluginSettings],
        installed: InstalledPlugins,
        isolation: Isolation = "process",
    ) -> None:
        self._settings = settings
        self._isolation = isolation
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
        return managed_candidates(self._settings, self._entries, self._isolation)

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
