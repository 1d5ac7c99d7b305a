"""The ways of a host to bring plugins to life."""

import logging
from collections.abc import Mapping
from dataclasses import replace

from enfilade.admission import Runner
from enfilade.candidate import Candidate, plugin_key
from enfilade.config import Config
from enfilade.errors import ConfigError, near_matches
from enfilade.hookspecs import LauncherKind, Launching
from enfilade.settings.toml_file import toml_key

HERE = "inprocess"
"""The way that is the host's own process."""

_log = logging.getLogger(__name__)


class Launchers:
    """Makes each way when it is first needed, once.

    Args:
        kinds: The ways there are.
        config: The host's configuration.
    """

    def __init__(self, kinds: Mapping[str, LauncherKind], config: Config) -> None:
        self._kinds = kinds
        self._settings = {plugin_key(name): chosen for name, chosen in config.plugins.items()}
        self._config = config
        self._made: dict[str, Launching] = {}

    def runner(self, candidate: Candidate) -> Runner:
        """What runs a plugin's strategies.

        Raises:
            ConfigError: The plugin's settings name a way that there is not, or it is to be confined and to run in this
                process, where nothing can be.
        """
        name = self._name(candidate)
        if name not in self._made:
            kind = self._kinds.get(name)
            if kind is None:
                place = f"[plugins.{candidate.plugin}] launcher"
                raise ConfigError(f"{place}: there is no launcher {name!r}; {near_matches(name, self._kinds)}")
            self._made[name] = kind.make()
        self._warn_of_misplaced(candidate)
        if name == HERE:
            self._check_unconfined(candidate)
        if candidate.sandboxing is None:
            candidate = replace(candidate, sandboxing=self._config.sandboxing(candidate.plugin))
        return self._made[name].guest(candidate)

    async def close(self) -> None:
        """Gives back what they hold, after their guests were stopped."""
        while self._made:
            await self._made.popitem()[1].close()

    def _warn_of_misplaced(self, candidate: Candidate) -> None:
        """Tells of settings, perhaps of a sandbox, that stand under a strategy's name and so hold for nothing of it."""
        for offer in candidate.offers:
            if plugin_key(offer.name) in self._settings.keys() - {plugin_key(candidate.plugin)}:
                _log.warning(
                    "[plugins.%s] holds for a plugin of that name, not for the strategy: it is offered by %s, whose "
                    "settings stand in [plugins.%s]",
                    *(offer.name, candidate.plugin, candidate.plugin),
                )

    def _check_unconfined(self, candidate: Candidate) -> None:
        """Refuses a plugin in this process that somebody wanted confined; notes one that would be by default."""
        plugin, given = candidate.plugin, candidate.sandboxing
        if (given or self._config.sandboxing(plugin)).profile == "none":
            return
        asked = self._config.asked_sandbox(plugin) if given is None else f'its sandbox "{given.profile}"'
        if asked:
            raise ConfigError(
                f"plugin {plugin!r} is to run in the host's own process, where {asked} cannot hold; leave out "
                '`--isolation inprocess` or isolation = "inprocess"; or, where you trust its code as your own, set '
                f'[plugins.{toml_key(plugin)}] sandbox = "none"'
            )
        _log.info("plugin %r runs in the host's own process, where no sandbox confines it", plugin)

    def _name(self, candidate: Candidate) -> str:
        chosen = self._settings.get(plugin_key(candidate.plugin))
        if chosen is not None and chosen.launcher:
            return chosen.launcher
        # A plugin that runs elsewhere has no code here that could be imported.
        return HERE if candidate.isolation == "inprocess" and candidate.offers else "process"
