"""The plugins of one host: found, brought to life when they are needed, shown to other processes, stopped."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from enfilade.admission import Runner
from enfilade.candidate import Candidate
from enfilade.catalog.catalog import Catalog
from enfilade.config import Config
from enfilade.discovery.configured import configured_candidates
from enfilade.discovery.entry_points import installed_candidates
from enfilade.discovery.followed import FollowedPlugins
from enfilade.environments.held import HeldRunner
from enfilade.environments.installed import InstalledPlugins
from enfilade.errors import ConfigError
from enfilade.extensions.launchers import Launchers
from enfilade.hookspecs import LauncherKind
from enfilade.isolation.directory import sweep
from enfilade.isolation.supervision.states import StateChange, supervised
from enfilade.running.presence import Presence


class Plugins:
    """What a host has of plugins.

    Args:
        config: The host's configuration.
        launchers: The ways to bring plugins to life.
        candidates: The plugins; None discovers them, and follows those that are installed, updated and removed.
        further: Plugins beside those.

    Raises:
        ConfigError: A plugin's settings cannot be used.

    Attributes:
        catalog: Which strategy is whose.
    """

    def __init__(
        self,
        config: Config,
        launchers: Mapping[str, LauncherKind],
        candidates: Iterable[Candidate] | None,
        further: Iterable[Candidate],
    ) -> None:
        self._followed = FollowedPlugins(config.plugins, InstalledPlugins(), config.isolation)
        if candidates is None:
            self.catalog = Catalog([*_discovered(config), *further], self._runner_of, self._followed)
        else:
            self.catalog = Catalog([*candidates, *further], self._runner_of)
        self._presence = Presence(self.catalog.statuses, self._restart)
        self._launchers = Launchers(launchers, config)
        self._listeners: list[Callable[[StateChange], None]] = []
        self._sweeping: asyncio.Future[None] | None = None

    def report_to(self, listener: Callable[[StateChange], None]) -> None:
        """Tells of the states of plugins that are brought to life from now on."""
        self._listeners.append(listener)

    def open(self) -> None:
        """Begins to remove what dead hosts and former plugins left behind."""
        sweep()
        self._sweeping = asyncio.ensure_future(self._followed.sweep())

    async def close(self) -> None:
        """Stops every guest, and shows nothing any more."""
        await self.catalog.close()
        await self._presence.close()
        await self._launchers.close()
        if self._sweeping is not None:
            await self._sweeping
            self._sweeping = None
            await self._followed.sweep()

    def _runner_of(self, candidate: Candidate) -> Runner:
        own = candidate.own_environment
        if own is not None and candidate.isolation == "inprocess":
            raise ConfigError(
                f"{candidate.plugin} has an environment of its own, which cannot be loaded into the host; leave out "
                f'`--isolation inprocess`, or set [plugins.{candidate.plugin}] isolation = "process", or install it '
                "beside the host with pip"
            )
        runner = self._launchers.runner(candidate)
        if (care := supervised(runner)) is not None:
            for listener in self._listeners:
                care.report_to(listener)
            self._presence.attend(care)
        return runner if own is None else HeldRunner(runner, candidate.plugin, own)

    async def _restart(self, plugin: str) -> dict[str, Any]:
        return {"results": [asdict(result) for result in await self.catalog.restart(plugin)]}


def _discovered(config: Config) -> list[Candidate]:
    return installed_candidates(config.plugins, config.isolation) + configured_candidates(config.plugins)
