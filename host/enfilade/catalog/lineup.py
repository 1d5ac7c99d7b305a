"""The plugins that a host uses, as they come, go and are replaced while it lives; no run notices."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from enfilade.admission import Runner
from enfilade.candidate import Candidate, plugin_key
from enfilade.catalog.heirs import Heirs
from enfilade.catalog.member import Member
from enfilade.catalog.source import Source
from enfilade.isolation.supervision.states import PluginStatus
from enfilade_sdk.errors import EnfiladeError

LOOK_SECONDS = 0.5
"""How often the files of plugins are looked at that are started anew when these change."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Restarted:
    """What came of starting a plugin anew.

    Attributes:
        plugin: Its name.
        version: Its version; empty when unknown.
        result: `restarted`, `not_running` (its next run starts it), `failed` (what ran goes on), `elsewhere` (it has no
            process of this host).
        reason: Why it failed.
        code: The code of that; empty where nothing failed.
    """

    plugin: str
    version: str
    result: Literal["restarted", "not_running", "failed", "elsewhere"]
    reason: str = ""
    code: str = ""


class Lineup:
    """The plugins in use: those that a host was given, and those of a source, which it follows.

    A plugin that is replaced goes on taking runs until its heir has come to life, and ends with the last of them. When
    the heir does not come to life, the plugin stays.

    Args:
        given: Plugins that stay as long as the host lives.
        source: Plugins that may change.
        runner_of: Makes what runs a plugin.

    Raises:
        EnfiladeError: What the source has cannot be used.

    Attributes:
        swaps: How often an heir took its place so far.
    """

    def __init__(self, given: Iterable[Candidate], source: Source, runner_of: Callable[[Candidate], Runner]) -> None:
        self._source = source
        self._runner_of = runner_of
        self._given = [Member(candidate, runner_of) for candidate in given]
        self._revision = source.revision()
        self._followed = [Member(candidate, runner_of) for candidate in source.candidates()]
        self._heirs = Heirs(runner_of, self._swap)
        self.swaps = 0
        self._looking: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._left: set[Member] = set()

    @property
    def members(self) -> list[Member]:
        """Those that new runs may be given to."""
        return self._given + self._followed

    def candidates(self) -> list[Candidate]:
        """What there is now; may be asked from any thread."""
        followed = [member.candidate for member in self._followed]
        if self._source.revision() != self._revision:
            followed = self._source.candidates()
        return [member.candidate for member in self._given] + followed

    def changed(self) -> bool:
        """Whether `renew` would find something."""
        return self._source.revision() != self._revision

    def renew(self) -> None:
        """Looks whether something has changed, and begins to follow."""
        self._renew_reloading()
        revision = self._source.revision()
        if revision == self._revision:
            return
        self._revision = revision
        try:
            fresh = self._source.candidates()
        except EnfiladeError as error:
            _log.warning("plugins were changed and stay as they were here: %s", error.message)
            return
        for member in list(self._followed):
            if member.candidate in fresh:
                fresh.remove(member.candidate)
                self._heirs.give_up(member)
            else:
                self._follow(member, fresh)
        self._followed += [Member(candidate, self._runner_of) for candidate in fresh]

    async def settled(self, name: str) -> None:
        """Waits until replacements are done that a strategy's name may belong to, and that runs wait for."""
        await self._heirs.settled(name)

    async def restart(self, plugin: str) -> list[Restarted]:
        """Starts a plugin anew: what runs goes on where it is, what comes goes to the new process."""
        named = [m for m in self.members if plugin_key(m.candidate.plugin) == plugin_key(plugin)]
        return list(await asyncio.gather(*(self._restart(member) for member in named)))

    def statuses(self) -> list[PluginStatus]:
        """How all stand that have processes of this host."""
        everyone = [*self.members, *sorted(self._left, key=lambda member: member.candidate.version)]
        return [status for member in everyone if (status := member.status()) is not None]

    def let_go(self, member: Member) -> None:
        """To be called when a run on it has ended; a plugin that was replaced is stopped after its last."""
        if member.left and not member.users:
            self._left.discard(member)
            task = asyncio.ensure_future(member.stop())
            self._ending.add(task)
            task.add_done_callback(lambda ended: self._ended(member, ended))

    async def close(self) -> None:
        """Stops whatever was started, all at once."""
        tasks: list[asyncio.Task[Any]] = list(self._heirs.cancel())
        if self._looking is not None:
            self._looking.cancel()
            tasks.append(self._looking)
        await asyncio.gather(*tasks, return_exceptions=True)
        everyone = {*self._given, *self._followed, *self._left}
        await asyncio.gather(*(member.stop() for member in everyone))
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _follow(self, member: Member, fresh: list[Candidate]) -> None:
        """Deals with one that is not there any more, or in another version."""
        heir = next((candidate for candidate in fresh if candidate.plugin == member.candidate.plugin), None)
        if heir is None or not member.used:
            self._leave(member)
            return
        fresh.remove(heir)
        self._heirs.begin(member, heir)

    def _swap(self, member: Member, heir: Member) -> None:
        """Puts an heir that has come to life in the place."""
        place = self._given if member in self._given else self._followed
        place[place.index(member)] = heir
        self.swaps += 1
        self._leave(member)

    async def _restart(self, member: Member) -> Restarted:
        plugin, version = member.candidate.plugin, member.candidate.version
        if not member.used:
            return Restarted(plugin, version, "not_running")
        if member.status() is None:
            return Restarted(plugin, version, "elsewhere")
        fault = await self._heirs.restart(member)
        if fault is None:
            return Restarted(plugin, version, "restarted")
        return Restarted(plugin, version, "failed", fault.message, fault.code.value)

    def _renew_reloading(self) -> None:
        """Starts those anew whose files have changed; begins to look by itself when there is one that may."""
        reloading = [member for member in self.members if member.reloads]
        for member in reloading:
            if not self._heirs.awaits(member) and member.changed() and member.used:
                _log.info("files of plugin %r have changed; it is started anew", member.candidate.plugin)
                self._heirs.begin(member, member.candidate)
        if reloading and self._looking is None:
            self._looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.renew()

    def _leave(self, member: Member) -> None:
        self._heirs.give_up(member)
        if member in self._followed:
            self._followed.remove(member)
        member.leave()
        self._left.add(member)
        self.let_go(member)

    def _ended(self, member: Member, task: "asyncio.Task[None]") -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("stopping plugin %r failed", member.candidate.plugin, exc_info=error)
