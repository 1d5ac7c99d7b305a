"""Opening a plugin that is just being installed, as a host would."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Self

from enfilade.candidate import Candidate, plugin_key
from enfilade.cli.candidates import discovered
from enfilade.config import Config, PluginSettings, load_config
from enfilade.environments.entry import PluginEntry
from enfilade.environments.held import HeldRunner
from enfilade.errors import ConfigError, near_matches
from enfilade.hookspecs import Launching
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.sandbox.machine import this_machine
from enfilade_sdk.contract import StrategyDescription


class PluginOpener:
    """Starts a plugin with the operator's settings for it, and stops it again (`enfilade.environments.order.Opener`).

    Args:
        config: The host's configuration.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._settings = {plugin_key(name): chosen for name, chosen in config.plugins.items()}

    @classmethod
    def configured(cls) -> Self:
        """One with the operator's configuration, who knows already what this machine's sandbox can do; blocking.

        Raises:
            ConfigError: The configuration is at fault.
        """
        opener = cls(load_config())
        this_machine()
        return opener

    def rivals(self, entry: PluginEntry) -> list[str]:
        """What to tell of strategies that another plugin offers too: hosts will refuse to choose."""
        names = {offer.name for offer in entry.offers}
        told = []
        for rival in discovered(self._config):
            own = rival.own_environment
            both = sorted(names & {offer.name for offer in rival.offers})
            if both and (own is None or own.folder != entry.folder):
                told.append(f"{rival.origin} offers {', '.join(both)} too; disable one of the two")
        return told

    async def __call__(self, candidate: Candidate) -> Sequence[StrategyDescription]:
        """What the plugin says of its strategies.

        Raises:
            EnfiladeError: It could not be opened.
        """
        chosen = self._settings.get(plugin_key(candidate.plugin), PluginSettings())
        candidate = replace(
            candidate,
            environment=chosen.environment,
            start_timeout=chosen.start_timeout,
            sandboxing=self._config.sandboxing(candidate.plugin),
        )
        launching = _launching(chosen.launcher)
        runner = launching.guest(candidate)
        if candidate.own_environment is not None:
            runner = HeldRunner(runner, candidate.plugin, candidate.own_environment)
        try:
            return await runner.describe()
        finally:
            await runner.stop()
            await launching.close()


def _launching(name: str) -> Launching:
    """The way to bring a plugin to life that its settings name; the host's own does not need the extensions loaded.

    Raises:
        ConfigError: There is no such way.
    """
    if name in ("", "process"):
        return Launcher()
    kinds = import_module("enfilade.extensions.loading").Extensions.installed().offer.launchers
    if name not in kinds:
        raise ConfigError(f"launcher: there is no launcher {name!r}; {near_matches(name, kinds)}")
    made: Launching = kinds[name].make()
    return made
