"""The plugins that a host uses, as they come, go and are replaced while it lives; no run notices."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from enfilade.admission import Admitted, Runner
from enfilade.candidate import Candidate
from enfilade_sdk.errors import EnfiladeError

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
    """

    def __init__(self, given: Iterable[Candidate], source: Source, runner_of: Callable[[Candidate], Runner]) -> None:
        self._source = source
        self._runner_of = runner_of
        self._given = [Member(candidate, runner_of) for candidate in given]
        self._revision = source.revision()
        self._followed = [Member(candidate, runner_of) for candidate in source.candidates()]
        self._heirs: dict[Member, Candidate] = {}
        self._replacing: dict[Member, asyncio.Task[None]] = {}
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
        """Looks whether the source has changed, and begins to follow."""
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
        """Waits until replacements are done that a strategy's name may belong to."""
        waits = [self._replacing[member] for member, heir in self._heirs.items() if _concerns(name, member, heir)]
        if waits:
            await asyncio.wait(waits)

    def let_go(self, member: Member) -> None:
        """To be called when a run on it has ended; a plugin that was replaced is stopped after its last."""
        if member.left and not member.users:
            self._left.discard(member)
            task = asyncio.ensure_future(member.stop())
            self._ending.add(task)
            task.add_done_callback(lambda ended: self._ended(member, ended))

    async def close(self) -> None:
        """Stops whatever was started, all at once."""
        tasks = list(self._replacing.values())
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
        self._heirs[member] = heir
        if member not in self._replacing:
            self._replacing[member] = asyncio.ensure_future(self._replace(member))

    async def _replace(self, member: Member) -> None:
        """Starts the heir, and puts it in the place; the heir may itself be replaced meanwhile."""
        try:
            while (candidate := self._heirs.get(member)) is not None:
                heir = Member(candidate, self._runner_of)
                fault = await self._fault(heir)
                if self._heirs.get(member) is not candidate:
                    await heir.stop()
                elif fault:
                    await heir.stop()
                    self._warn(member, candidate, fault)
                    return
                else:
                    self._followed[self._followed.index(member)] = heir
                    self._leave(member)
        finally:
            self._heirs.pop(member, None)
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
        member.left = True
        self._left.add(member)
        self.let_go(member)

    def _ended(self, member: Member, task: "asyncio.Task[None]") -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("stopping plugin %r failed", member.candidate.plugin, exc_info=error)


def _concerns(name: str, member: Member, heir: Candidate) -> bool:
    return member.offers(name) or any(offer.name == name for offer in heir.offers)
