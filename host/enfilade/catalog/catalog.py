"""Names to strategies: which plugin offers what, each opened once."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from enfilade.admission import Admitted, Runner, admit
from enfilade.candidate import Candidate
from enfilade.catalog.inquiry import PATIENCE, Answers, ask
from enfilade.catalog.lineup import Lineup, Restarted
from enfilade.catalog.member import Member
from enfilade.catalog.source import NothingMore, Source
from enfilade.errors import NameConflictError, StrategyNotFoundError, near_matches
from enfilade.isolation.supervision.states import PluginStatus
from enfilade_sdk.errors import EnfiladeError

_TRIES = 3
"""How often a plugin may be replaced in the very moment in which it is opened."""


class Catalog:
    """The plugins of a host.

    Args:
        candidates: Plugins that stay as long as the host lives.
        runner_of: Makes what runs a plugin; called once for each.
        source: Plugins that may change meanwhile.
        patience: Seconds that a strategy which one plugin is known to offer waits for others to say what they offer.

    Raises:
        EnfiladeError: What the source has cannot be used.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        runner_of: Callable[[Candidate], Runner],
        source: Source | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._patience = patience
        self._source = source or NothingMore()
        self._lineup = Lineup(candidates, self._source, runner_of)

    @property
    def candidates(self) -> list[Candidate]:
        """Every plugin that was found."""
        return self._lineup.candidates()

    async def admitted(self, name: str) -> Admitted:
        """The strategy of that name, opened.

        Raises:
            StrategyNotFoundError: No plugin offers it; the text lists near matches.
            NameConflictError: Two plugins offer it; both are named.
            NotAdmittedError: It does not fit the contract.
            EnfiladeError: Its plugin could not be opened.
        """
        async with self.pinned(name) as admitted:
            return admitted

    @asynccontextmanager
    async def pinned(self, name: str) -> AsyncIterator[Admitted]:
        """The strategy of that name, opened, for one run: as long as the block lasts, its plugin is not given up.

        Raises:
            EnfiladeError: As `admitted`.
        """
        member, admitted = await self._pin(name)
        try:
            yield admitted
        finally:
            self._unpin(member)

    async def names(self) -> list[str]:
        """The names of all strategies, as far as plugins can be asked."""
        self._lineup.renew()
        members = self._lineup.members
        return _names(members, await ask(members, ""))

    def statuses(self) -> list[PluginStatus]:
        """How all plugins stand that have processes of this host."""
        return self._lineup.statuses()

    @property
    def swaps(self) -> int:
        """How often a plugin's process was replaced so far, by another version or for its files have changed."""
        return self._lineup.swaps

    async def restart(self, plugin: str) -> list[Restarted]:
        """Starts a plugin anew, without a gap; see `Restarted`. Empty when there is none of that name."""
        self._lineup.renew()
        return await self._lineup.restart(plugin)

    def check_name(self, name: str, plugin: str | None = None) -> None:
        """Refuses a name that no plugin can offer, as far as that is known without asking them.

        Raises:
            StrategyNotFoundError: The text lists near matches.
        """
        candidates = self._lineup.candidates()
        asked = [c for c in candidates if plugin in (None, c.plugin)]
        if plugin is not None and not asked:
            near = near_matches(plugin, [candidate.plugin for candidate in candidates])
            raise StrategyNotFoundError(f"there is no plugin {plugin!r}; {near}{self._source.remark(name)}")
        known = {offer.name for candidate in asked for offer in candidate.offers}
        if name not in known and not any(not candidate.offers for candidate in asked):
            raise self._unknown(name, known)

    def runner(self, candidate: Candidate) -> Runner:
        """What runs a plugin of this catalog, made when it is first needed.

        Raises:
            KeyError: It is none of this catalog's.
        """
        self._lineup.renew()
        for member in self._lineup.members:
            if member.candidate == candidate:
                return member.runner
        raise KeyError(candidate.plugin)

    async def close(self) -> None:
        """Stops whatever was started, all at once."""
        await self._lineup.close()

    async def _pin(self, name: str) -> tuple[Member, Admitted]:
        for left in reversed(range(_TRIES)):
            member = await self._offering(name)
            member.users += 1
            try:
                if name not in member.admitted:
                    member.admitted[name] = await admit(member.candidate, member.runner, name)
            except EnfiladeError:
                self._unpin(member)
                if not (left and self._lineup.changed()):
                    raise
            except BaseException:
                self._unpin(member)
                raise
            else:
                return member, member.admitted[name]
        raise AssertionError("the last try returns or raises")

    def _unpin(self, member: Member) -> None:
        member.users -= 1
        self._lineup.let_go(member)

    async def _offering(self, name: str) -> Member:
        self._lineup.renew()
        await self._lineup.settled(name)
        members = self._lineup.members
        answers = await ask(members, name, self._patience)
        offering = [m for m in members if m.offers(name) or name in answers.names.get(m, ())]
        if not offering:
            raise self._unknown(name, _names(members, answers), answers.remark())
        if len(offering) > 1:
            raise _conflict(name, [member.candidate for member in offering])
        return offering[0]

    def _unknown(self, name: str, known: Iterable[str], remark: str = "") -> StrategyNotFoundError:
        near = near_matches(name, known)
        return StrategyNotFoundError(f"there is no strategy {name!r}; {near}{self._source.remark(name)}{remark}")


def _names(members: Iterable[Member], answers: Answers) -> list[str]:
    """All strategies that are known of."""
    told = {offer.name for member in members for offer in member.candidate.offers}
    return sorted(told.union(*answers.names.values()))


def _conflict(name: str, candidates: list[Candidate]) -> NameConflictError:
    origins = " and ".join(candidate.origin for candidate in candidates)
    remedies = " or ".join(dict.fromkeys(_without(candidate, candidates) for candidate in candidates))
    return NameConflictError(f"the strategy {name!r} is offered by {origins}; leave one of them out: {remedies}")


def _without(candidate: Candidate, rivals: list[Candidate]) -> str:
    """How an operator leaves a plugin out and keeps the others."""
    if candidate.own_environment is not None:
        return f"`enfilade plugins disable {candidate.plugin}`"
    if [rival.plugin for rival in rivals].count(candidate.plugin) > 1:
        return f"`pip uninstall {candidate.plugin}`"
    return f"[plugins.{candidate.plugin}] enabled = false"
