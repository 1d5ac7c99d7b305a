"""What opens a plugin that is just being installed, loaded while the installer's tools are at work."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from enfilade.candidate import Candidate
from enfilade.environments.entry import PluginEntry
from enfilade.environments.order import Opener, Progress, Step, StepName

if TYPE_CHECKING:
    from enfilade.cli.plugins.opener import PluginOpener
    from enfilade_sdk.contract import StrategyDescription

_T = TypeVar("_T")

_ELSEWHERE: frozenset[StepName] = frozenset({"build", "create", "resolve"})
"""Steps in which other processes work and this one waits."""


class LaterOpener:
    """Loads the configuration, and what opens a plugin by it, no sooner than there is time for it."""

    def __init__(self) -> None:
        self._loading: asyncio.Task[PluginOpener] | None = None

    async def along_with(self, work: Callable[[Opener, Progress], Coroutine[Any, Any, _T]], progress: Progress) -> _T:
        """Does the work. When the configuration cannot be read, the work is cancelled.

        Args:
            work: Is given what opens the plugin, and whom to tell its steps.
            progress: Told each step too.

        Raises:
            EnfiladeError: The work failed, or the configuration is at fault.
        """
        try:
            async with asyncio.TaskGroup() as both:

                def told(step: Step) -> None:
                    if self._loading is None and step.name in _ELSEWHERE:
                        self._loading = both.create_task(asyncio.to_thread(_load))
                    progress(step)

                working = both.create_task(work(self._open, told))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return working.result()

    async def _open(self, candidate: Candidate) -> "Sequence[StrategyDescription]":
        return await (await self._loaded())(candidate)

    async def _loaded(self) -> "PluginOpener":
        return await self._loading if self._loading is not None else await asyncio.to_thread(_load)

    def rivals(self, entry: PluginEntry) -> list[str]:
        """What to tell of plugins that offer the same names as one that was installed; hosts refuse to choose."""
        return self._loading.result().rivals(entry) if self._loading is not None else []


def _load() -> "PluginOpener":
    opener: PluginOpener = import_module("enfilade.cli.plugins.opener").PluginOpener.configured()
    return opener
