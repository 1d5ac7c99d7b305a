"""Opening a plugin that is just being installed, as a host would."""

from collections.abc import Sequence
from dataclasses import replace

from enfilade.candidate import Candidate
from enfilade.config import Config, PluginSettings
from enfilade.environments.entry import plugin_key
from enfilade.environments.held import HeldRunner
from enfilade.extensions.launchers import Launchers
from enfilade.extensions.loading import Extensions
from enfilade_sdk.contract import StrategyDescription


class PluginOpener:
    """Starts a plugin with the operator's settings for it, and stops it again (`enfilade.environments.order.Opener`).

    Args:
        config: The host's configuration.
    """

    def __init__(self, config: Config) -> None:
        self._settings = {plugin_key(name): chosen for name, chosen in config.plugins.items()}

    async def __call__(self, candidate: Candidate) -> Sequence[StrategyDescription]:
        """What the plugin says of its strategies.

        Raises:
            EnfiladeError: It could not be opened.
        """
        chosen = self._settings.get(plugin_key(candidate.plugin), PluginSettings())
        candidate = replace(candidate, environment=chosen.environment, start_timeout=chosen.start_timeout)
        launchers = Launchers(Extensions.installed().offer.launchers, {candidate.plugin: chosen})
        runner = launchers.runner(candidate)
        if candidate.own_environment is not None:
            runner = HeldRunner(runner, candidate.plugin, candidate.own_environment)
        try:
            return await runner.describe()
        finally:
            await runner.stop()
            await launchers.close()
