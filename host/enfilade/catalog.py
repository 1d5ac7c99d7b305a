"""Names to strategies: which plugin offers what, each opened once."""

import asyncio
from collections.abc import Callable, Iterable

from enfilade.admission import Admitted, Runner, admit
from enfilade.candidate import Candidate
from enfilade.errors import NameConflictError, StrategyNotFoundError, near_matches
from enfilade_sdk.errors import EnfiladeError


class Catalog:
    """The plugins of a host. `runner_of` makes what runs a plugin; it is made once and kept."""

    def __init__(self, candidates: Iterable[Candidate], runner_of: Callable[[Candidate], Runner]) -> None:
        self._candidates = list(candidates)
        self._runner_of = runner_of
        self._runners: dict[int, Runner] = {}
        self._admitted: dict[str, Admitted] = {}

    @property
    def candidates(self) -> list[Candidate]:
        """Every plugin that was found."""
        return list(self._candidates)

    async def admitted(self, name: str) -> Admitted:
        """The strategy of that name, opened.

        Raises:
            StrategyNotFoundError: No plugin offers it; the text lists near matches.
            NameConflictError: Two plugins offer it; both are named.
            NotAdmittedError: It does not fit the contract.
            EnfiladeError: Its plugin could not be opened.
        """
        known = self._admitted.get(name)
        if known is None:
            candidate = await self._offering(name)
            known = self._admitted[name] = await admit(candidate, self.runner(candidate), name)
        return known

    async def names(self) -> list[str]:
        """The names of all strategies, as far as plugins can be asked."""
        found = {offer.name for candidate in self._candidates for offer in candidate.offers}
        for candidate in self._unknown():
            found.update(await self._asked(candidate))
        return sorted(found)

    def check_name(self, name: str, plugin: str | None = None) -> None:
        """Refuses a name that no plugin can offer, as far as that is known without asking them.

        Raises:
            StrategyNotFoundError: The text lists near matches.
        """
        asked = [c for c in self._candidates if plugin in (None, c.plugin)]
        if plugin is not None and not asked:
            plugins = [candidate.plugin for candidate in self._candidates]
            raise StrategyNotFoundError(f"there is no plugin {plugin!r}; {near_matches(plugin, plugins)}")
        known = {offer.name for candidate in asked for offer in candidate.offers}
        if name not in known and not any(not candidate.offers for candidate in asked):
            raise StrategyNotFoundError(f"there is no strategy {name!r}; {near_matches(name, known)}")

    async def close(self) -> None:
        """Stops whatever was started, all at once."""
        await asyncio.gather(*(runner.stop() for runner in self._runners.values()))

    async def _offering(self, name: str) -> Candidate:
        offering = [c for c in self._candidates if any(offer.name == name for offer in c.offers)]
        offering += [candidate for candidate in self._unknown() if name in await self._asked(candidate)]
        if not offering:
            known = await self.names()
            raise StrategyNotFoundError(f"there is no strategy {name!r}; {near_matches(name, known)}")
        if len(offering) > 1:
            origins = " and ".join(candidate.origin for candidate in offering)
            raise NameConflictError(
                f"the strategy {name!r} is offered by {origins}; disable one of them ([plugins.NAME] enabled = false)"
            )
        return offering[0]

    def _unknown(self) -> list[Candidate]:
        return [candidate for candidate in self._candidates if not candidate.offers]

    async def _asked(self, candidate: Candidate) -> list[str]:
        try:
            return [description.name for description in await self.runner(candidate).describe()]
        except EnfiladeError:
            return []

    def runner(self, candidate: Candidate) -> Runner:
        """What runs a plugin of this catalog, made when it is first needed."""
        key = id(candidate)
        if key not in self._runners:
            self._runners[key] = self._runner_of(candidate)
        return self._runners[key]
