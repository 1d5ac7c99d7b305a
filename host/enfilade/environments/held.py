"""What runs a plugin from an environment of its own."""

from collections.abc import AsyncGenerator

from enfilade.admission import Runner
from enfilade.candidate import OwnEnvironment, plugin_key
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.hold import Hold, take_hold
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage


class HeldRunner:
    """Holds the environment from the first use to the stop: no update or removal takes it away meanwhile.

    Args:
        runner: What runs the plugin.
        plugin: The plugin's name, for texts.
        environment: Its environment.
    """

    def __init__(self, runner: Runner, plugin: str, environment: OwnEnvironment) -> None:
        self._runner = runner
        self._plugin = plugin
        self._environment = environment
        self._hold: Hold | None = None

    @property
    def wrapped(self) -> Runner:
        """What runs the plugin."""
        return self._runner

    async def describe(self) -> list[StrategyDescription]:
        """See `Runner`.

        Raises:
            InstallError: The environment is gone.
            EnfiladeError: The plugin could not be opened.
        """
        self._take()
        return await self._runner.describe()

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """See `Runner`.

        Raises:
            InstallError: The environment is gone.
        """
        self._take()
        return self._runner.run(invocation, hatch)

    async def stop(self) -> None:
        """Ends it, and lets the environment go."""
        try:
            await self._runner.stop()
        finally:
            hold, self._hold = self._hold, None
            if hold is not None:
                hold.release()

    def _take(self) -> None:
        if self._hold is None:
            self._hold, fault = shared_hold(self._environment)
            if self._hold is None:
                raise InstallError(
                    Reason.DRIFT,
                    f"the environment of {self._plugin!r}, {self._environment.folder}, cannot be used: {fault}; "
                    f"`enfilade plugins update {plugin_key(self._plugin)}` installs it anew",
                )


def shared_hold(environment: OwnEnvironment) -> tuple[Hold | None, str]:
    """A hold on an environment that keeps it from being removed, or why there is none."""
    try:
        return take_hold(environment.folder, exclusive=False), "it is being removed"
    except OSError as error:
        return None, error.strerror or str(error)
