"""Those that are to take another plugin's place, each as soon as it has come to life."""

import asyncio
import logging
from collections.abc import Callable, Container, Iterable

from enfilade.admission import Runner
from enfilade.candidate import Candidate
from enfilade.catalog.member import Member
from enfilade_sdk.errors import EnfiladeError

_log = logging.getLogger(__name__)


class Heirs:
    """The heirs of plugins in use. A plugin has one at most; a later one takes the place of one that is under way.

    Args:
        runner_of: Makes what runs a plugin.
        succeed: Puts an heir that has come to life (second) in the place of a plugin (first).
    """

    def __init__(self, runner_of: Callable[[Candidate], Runner], succeed: Callable[[Member, Member], None]) -> None:
        self._runner_of = runner_of
        self._succeed = succeed
        self._wanted: dict[Member, Candidate] = {}
        self._replacing: dict[Member, asyncio.Task[EnfiladeError | None]] = {}
        self._unasked: set[Member] = set()

    def begin(self, member: Member, heir: Candidate, *, unasked: bool = False) -> None:
        """Lets an heir take a plugin's place when it is there.

        Args:
            member: The plugin.
            heir: What is to be there instead: another version, or the same anew.
            unasked: Whether no run is to wait for it.
        """
        self._wanted[member] = heir
        if not unasked:
            self._unasked.discard(member)
        elif member not in self._replacing:
            self._unasked.add(member)
        if member not in self._replacing:
            self._replacing[member] = asyncio.ensure_future(self._replace(member))

    def give_up(self, member: Member) -> None:
        """Says that a plugin needs no heir any more; one that comes to life all the same is stopped."""
        self._wanted.pop(member, None)

    def awaits(self, member: Member) -> bool:
        """Whether an heir of a plugin is under way."""
        return member in self._replacing

    async def restart(self, member: Member) -> EnfiladeError | None:
        """Starts a plugin anew, or waits for the heir that is under way; gives why that failed, if it did."""
        if member not in self._replacing:
            self.begin(member, member.candidate, unasked=True)
        return await asyncio.shield(self._replacing[member])

    async def settled(self, name: str) -> None:
        """Waits until those are there, or are not going to be, that a strategy's name may belong to.

        For one that somebody only wants started anew no run waits: it goes on taking them meanwhile.
        """
        heirs = {member: heir for member, heir in self._wanted.items() if member not in self._unasked}
        waits = [self._replacing[member] for member, heir in heirs.items() if _concerns(name, member, heir)]
        if waits:
            await asyncio.wait(waits)

    def cancel(self) -> Iterable["asyncio.Task[EnfiladeError | None]"]:
        """Gives all of them up; gives what is still to be waited for."""
        tasks = list(self._replacing.values())
        for task in tasks:
            task.cancel()
        return tasks

    async def _replace(self, member: Member) -> EnfiladeError | None:
        """Starts the heir, and puts it in the place; the heir may itself be replaced meanwhile.

        Returns:
            Why the heir cannot take the place, if it cannot.
        """
        try:
            while (candidate := self._wanted.get(member)) is not None:
                heir = Member(candidate, self._runner_of)
                fault = await _fault(heir, member.admitted)
                if self._wanted.get(member) is not candidate:
                    await heir.stop()
                elif fault is not None:
                    await heir.stop()
                    _warn(member, candidate, fault.message)
                    return fault
                else:
                    self.give_up(member)
                    self._succeed(member, heir)
            return None
        finally:
            self._wanted.pop(member, None)
            self._unasked.discard(member)
            del self._replacing[member]


async def _fault(heir: Member, admitted: Container[str]) -> EnfiladeError | None:
    """Why it does not come to life, or does not fit the contract any more where its forerunner did."""
    try:
        for description in await heir.runner.describe():
            if description.name in admitted:
                description.check_admitted()
    except EnfiladeError as error:
        return error
    except BaseException:
        await heir.stop()
        raise
    return None


def _warn(member: Member, heir: Candidate, fault: str) -> None:
    if heir == member.candidate:
        _log.warning("plugin %r does not start anew, so what ran goes on: %s", heir.plugin, fault)
        return
    text = "plugin %r %s does not start, so %s stays in use: %s"
    _log.warning(text, heir.plugin, heir.version, member.candidate.version, fault)


def _concerns(name: str, member: Member, heir: Candidate) -> bool:
    return member.offers(name) or any(offer.name == name for offer in heir.offers)
