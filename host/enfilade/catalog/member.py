"""One plugin in use: what runs it, what it offers, how many use it."""

import asyncio
from collections.abc import Callable

from enfilade.admission import Admitted, Runner
from enfilade.candidate import Candidate
from enfilade.discovery.source_files import SourceFiles
from enfilade.isolation.supervision.states import PluginStatus, supervised
from enfilade_sdk.errors import EnfiladeError

Told = tuple[str, ...] | EnfiladeError
"""The names of the strategies that a plugin says it offers, or why it cannot be asked."""


class Member:
    """A plugin in use.

    Attributes:
        candidate: What was found.
        admitted: Its strategies that were opened, by name.
        users: Runs that were given to it and have not ended.
        left: Whether new runs go elsewhere; it is stopped when its last run has ended.
        kept_waiting: Whether it was waited for in vain when it was asked what it offers.
    """

    def __init__(self, candidate: Candidate, runner_of: Callable[[Candidate], Runner]) -> None:
        self.candidate = candidate
        self.admitted: dict[str, Admitted] = {}
        self.users = 0
        self.left = False
        self.kept_waiting = False
        self._runner_of = runner_of
        self._runner: Runner | None = None
        self._asked: asyncio.Task[Told] | None = None
        self._files = SourceFiles(candidate) if candidate.supervision.reload else None
        self._look = self._files.look() if self._files is not None else None

    @property
    def runner(self) -> Runner:
        """What runs it, made when it is first needed."""
        if self._runner is None:
            self._runner = self._runner_of(self.candidate)
        return self._runner

    @property
    def used(self) -> bool:
        """Whether it was ever needed."""
        return self._runner is not None

    def offers(self, name: str) -> bool:
        """Whether it says that it has a strategy of that name, without being asked."""
        return any(offer.name == name for offer in self.candidate.offers)

    @property
    def reloads(self) -> bool:
        """Whether it is started anew when its files change."""
        return self._files is not None

    def changed(self) -> bool:
        """Whether its files have changed since it was last asked, or made."""
        before = self._look
        self._look = self._files.look() if self._files is not None else None
        return self._look != before

    def status(self) -> PluginStatus | None:
        """How its processes stand; None when it has none, or nobody looks after them."""
        care = supervised(self._runner)
        return care.status() if care is not None else None

    def leave(self) -> None:
        """Says that new runs go elsewhere."""
        self.left = True
        if (care := supervised(self._runner)) is not None:
            care.leave()

    def asked(self) -> "asyncio.Task[Told]":
        """What it says it offers, or why it does not say; asked again when it could not be asked the last time."""
        asked = self._asked
        if asked is None or (asked.done() and (asked.cancelled() or isinstance(asked.result(), EnfiladeError))):
            asked = self._asked = asyncio.ensure_future(self._ask())
        return asked

    async def _ask(self) -> Told:
        try:
            names = tuple(description.name for description in await self.runner.describe())
        except EnfiladeError as error:
            return error
        self.kept_waiting = False
        return names

    async def stop(self) -> None:
        """Ends what runs it."""
        if self._asked is not None and self._asked.cancel():
            await asyncio.wait([self._asked])
        if self._runner is not None:
            await self._runner.stop()
