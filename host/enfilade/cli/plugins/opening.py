"""Plugins opened for a look, within the command's signals."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from enfilade.candidate import Candidate
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.screen import Screen
from enfilade.cli.signals import Signals
from enfilade.config import Config
from enfilade.host import Host
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError


@dataclass(frozen=True, slots=True)
class OpenedPlugin:
    """What a plugin says of itself, or why it could not be asked."""

    candidate: Candidate
    descriptions: tuple[StrategyDescription, ...] = ()
    error: EnfiladeError | None = None


def open_plugins(
    config: Config, candidates: Sequence[Candidate], screen: Screen, *, verbose: bool, isolated: bool = False
) -> list[OpenedPlugin]:
    """Opens plugins, all at once, lets them describe themselves, and ends them.

    Args:
        config: The host's configuration.
        candidates: The plugins.
        screen: Where logs go.
        verbose: Whether there are any.
        isolated: Whether each gets a process of its own, whatever the configuration says.

    Raises:
        Interrupted: A signal came; all has ended.
    """
    if isolated:
        candidates = [replace(candidate, isolation="process") for candidate in candidates]
    show_logs(screen, verbose=verbose)
    with Signals() as signals, LoopThread() as loop:
        return loop.finish(_opened(config, candidates), signals)


async def _opened(config: Config, candidates: Sequence[Candidate]) -> list[OpenedPlugin]:
    if config.telemetry is not None:  # nothing runs here that anybody would want to be told of
        silent = config.telemetry.model_copy(update={"export": False, "prometheus": ""})
        config = config.model_copy(update={"telemetry": silent})
    async with Host(config, candidates=candidates) as host:
        return await asyncio.gather(*(_described(host, candidate) for candidate in host.catalog.candidates))


async def _described(host: Host, candidate: Candidate) -> OpenedPlugin:
    try:
        descriptions = await host.catalog.runner(candidate).describe()
    except EnfiladeError as error:
        return OpenedPlugin(candidate, error=error)
    return OpenedPlugin(candidate, tuple(descriptions))
