"""The plugins that a host uses, as they come, go and are replaced while it lives; no run notices."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from enfilade.admission import Admitted, Runner
from enfilade.candidate import Candidate, plugin_key
from enfilade.discovery.source_files import SourceFiles
from enfilade.isolation.supervision.states import PluginStatus, supervised
from enfilade_sdk.errors import EnfiladeError

LOOK_SECONDS = 0.5
"""How often the files of plugins are looked at that are started anew when these change."""

_log = logging.getLogger(__name__)

Told = tuple[str, ...] | EnfiladeError
"""The names of the strategies that a plugin says it offers, or why it cannot be asked."""


class Source(Protocol):
    """Plugins that somebody may change while a host lives."""

    def revision(self) -> object:
        """A value that is another one when something changed; asked before each run, so it costs next to nothing."""
        ...

    def candidates(self) -> list[Candidate]:
        """What there is now.

        Raises:
            EnfiladeError: It cannot be told, or not be used.
        """
        ...

    def remark(self, name: str) -> str:
        """What there is to say about a strategy that nobody offers; empty when there is nothing."""
        ...


class NothingMore:
    """The source of a host whose plugins were given to it once and for all."""

    def revision(self) -> object:
        """Always the same."""
        return None

    def candidates(self) -> list[Candidate]:
        """None."""
        return []

    def remark(self, name: str) -> str:  # noqa: ARG002 - the protocol's argument
        """Nothing."""
        return ""


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


@dataclass(frozen=True, slots=True)
class Restarted:
    """What came of starting a plugin anew.

    Attributes:
        plugin: Its name.
        version: Its version; empty when unknown.
        result: `restarted`, `not_running` (its next run starts it), `failed` (what ran goes on), `elsewhere` (it has no
            process of this host).
        reason: Why it failed.
    """

    plugin: str
    version: str
    result: Literal["restarted", "not_running", "failed", "elsewhere"]
    reason: str = ""


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
        self._heirs: dict[Member, Candidate] = {}
        self.swaps = 0
        self._replacing: dict[Member, asyncio.Task[str]] = {}
        self._unasked: set[Member] = set()
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
                self._heirs.pop(member, None)
            else:
                self._follow(member, fresh)
        self._followed += [Member(candidate, self._runner_of) for candidate in fresh]

    async def settled(self, name: str) -> None:
        """Waits until replacements are done that a strategy's name may belong to.

        For one that somebody only wants started anew no run waits: it goes on taking them meanwhile.
        """
        heirs = {member: heir for member, heir in self._heirs.items() if member not in self._unasked}
        waits = [self._replacing[member] for member, heir in heirs.items() if _concerns(name, member, heir)]
        if waits:
            await asyncio.wait(waits)

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
        tasks: list[asyncio.Task[Any]] = list(self._replacing.values())
        if self._looking is not None:
            tasks.append(self._looking)
        for task in tasks:
            task.cancel()
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
        self._succeed(member, heir)

    def _succeed(self, member: Member, heir: Candidate, *, unasked: bool = False) -> None:
        """Lets an heir take a plugin's place when it is there."""
        self._heirs[member] = heir
        if not unasked:
            self._unasked.discard(member)
        elif member not in self._replacing:
            self._unasked.add(member)
        if member not in self._replacing:
            self._replacing[member] = asyncio.ensure_future(self._replace(member))

    async def _restart(self, member: Member) -> Restarted:
        plugin, version = member.candidate.plugin, member.candidate.version
        if not member.used:
            return Restarted(plugin, version, "not_running")
        if member.status() is None:
            return Restarted(plugin, version, "elsewhere")
        if member not in self._replacing:
            self._succeed(member, member.candidate, unasked=True)
        fault = await asyncio.shield(self._replacing[member])
        return Restarted(plugin, version, "failed" if fault else "restarted", fault)

    def _renew_reloading(self) -> None:
        """Starts those anew whose files have changed; begins to look by itself when there is one that may."""
        reloading = [member for member in self.members if member.reloads]
        for member in reloading:
            if member not in self._replacing and member.changed() and member.used:
                _log.info("files of plugin %r have changed; it is started anew", member.candidate.plugin)
                self._succeed(member, member.candidate)
        if reloading and self._looking is None:
            self._looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.renew()

    async def _replace(self, member: Member) -> str:
        """Starts the heir, and puts it in the place; the heir may itself be replaced meanwhile.

        Returns:
            Why the heir does not come to life; empty when it does.
        """
        try:
            while (candidate := self._heirs.get(member)) is not None:
                heir = Member(candidate, self._runner_of)
                fault = await self._fault(heir)
                if self._heirs.get(member) is not candidate:
                    await heir.stop()
                elif fault:
                    await heir.stop()
                    self._warn(member, candidate, fault)
                    return fault
                else:
                    place = self._given if member in self._given else self._followed
                    place[place.index(member)] = heir
                    self.swaps += 1
                    self._leave(member)
            return ""
        finally:
            self._heirs.pop(member, None)
            self._unasked.discard(member)
            del self._replacing[member]

    async def _fault(self, heir: Member) -> str:
        """Why it does not come to life; empty when it does."""
        try:
            await heir.runner.describe()
        except EnfiladeError as error:
            return error.message
        except BaseException:
            await heir.stop()
            raise
        return ""

    def _warn(self, member: Member, heir: Candidate, fault: str) -> None:
        if heir == member.candidate:
            _log.warning("plugin %r does not start anew, so what ran goes on: %s", heir.plugin, fault)
            return
        _log.warning(
            "plugin %r %s does not start, so %s stays in use: %s",
            heir.plugin,
            heir.version,
            member.candidate.version,
            fault,
        )

    def _leave(self, member: Member) -> None:
        self._heirs.pop(member, None)
        if member in self._followed:
            self._followed.remove(member)
        member.leave()
        self._left.add(member)
        self.let_go(member)

    def _ended(self, member: Member, task: "asyncio.Task[None]") -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("stopping plugin %r failed", member.candidate.plugin, exc_info=error)


def _concerns(name: str, member: Member, heir: Candidate) -> bool:
    return member.offers(name) or any(offer.name == name for offer in heir.offers)
