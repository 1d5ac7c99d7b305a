"""The tool engines of a host: one for each set of tools, loaded when it is first used."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from enfilade.config import Config
from enfilade.settings.current_folder import current_folder
from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceKind, SourceRegistry

KEPT = 64
"""Engines that are kept; the one that was made first goes first, when nobody works with it."""


@dataclass(slots=True, eq=False)
class _Box:
    """An engine, and how many runs work with it."""

    entries: tuple[ToolEntry, ...]
    engine: ToolEngine
    users: int = 0


class Toolboxes:
    """Keeps an engine for each tuple of entries. One that is lent is not closed before it is given back.

    Args:
        limits: What calls may cost.
        named: Entries of the configuration, by the name that agents use.
        given: Python functions or `Tool`s that agents may use by name.
        kinds: The kinds of tool sources; the built-in ones by default.
        sections: What the configuration holds for kinds of tool sources, by the kind's name.
    """

    def __init__(
        self,
        limits: ToolLimits,
        named: Mapping[str, ToolEntry],
        given: Sequence[Any] = (),
        kinds: Iterable[SourceKind] | None = None,
        sections: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._limits = limits
        self._named = dict(named)
        for tool in given:
            entry = ToolEntry(tool=tool)
            self._named.setdefault(entry.label, entry)
        self.registry = SourceRegistry(current_folder(), Threads(limits.threads), kinds=kinds, sections=sections)
        self._boxes: OrderedDict[int, _Box] = OrderedDict()
        self._retired: set[_Box] = set()  # no longer in their places; the last one to give one back closes it
        self._lock = asyncio.Lock()

    @classmethod
    def of(cls, config: Config, given: Sequence[Any], kinds: Iterable[SourceKind]) -> Self:
        """The toolboxes of a configuration."""
        sections: dict[str, Mapping[str, Any]] = {
            "mcp": config.mcp,
            "openapi": config.openapi,
            "knowledge": config.knowledge,
        }
        return cls(config.tool_limits, config.tools, given, kinds, sections)

    @asynccontextmanager
    async def lent(self, entries: tuple[ToolEntry, ...]) -> AsyncIterator[ToolEngine]:
        """The engine of these entries; what could not be loaded is in its report. Made anew where tools have changed.

        It stays what it is until the block is left, whatever is made or closed meanwhile, save the host itself.

        Raises:
            EnfiladeError: A name is unknown (near matches are named), two tools have one name, or a tool that is
                `required` cannot be had.
        """
        box = await self._taken(entries)
        try:
            yield box.engine
        finally:
            box.users -= 1
            if not box.users and box in self._retired:
                await self._close(box)

    async def engine(self, entries: tuple[ToolEntry, ...]) -> ToolEngine:
        """The same without a hold on it: to look at it, or to have it loaded before it is needed.

        Raises:
            EnfiladeError: As `lent`.
        """
        async with self.lent(entries) as engine:
            return engine

    async def close(self) -> None:
        """Closes every engine."""
        for box in [*self._boxes.values(), *self._retired]:
            with contextlib.suppress(Exception):  # a tool's clean-up must not keep the others from theirs
                await self._close(box)
        self._boxes.clear()
        self.registry.close()

    async def _taken(self, entries: tuple[ToolEntry, ...]) -> _Box:
        """The box of these entries, with one more user."""
        if (box := self._current(entries)) is None:
            async with self._lock:
                if (box := self._current(entries)) is None:  # else another one has made it meanwhile
                    made = await load_tools([self._meant(entry) for entry in entries], self.registry, self._limits)
                    box = _Box(entries, made, users=1)
                    await self._keep(box)
                    return box
        box.users += 1
        return box

    def _current(self, entries: tuple[ToolEntry, ...]) -> _Box | None:
        box = self._boxes.get(id(entries))
        return box if box is not None and box.entries is entries and not box.engine.outdated else None

    async def _keep(self, box: _Box) -> None:
        """Keeps a box in the place of an older one. Runs that have the older one go on with its tools."""
        gone = [self._boxes.pop(id(box.entries), None)]
        self._boxes[id(box.entries)] = box
        while len(self._boxes) > KEPT:
            gone.append(self._boxes.popitem(last=False)[1])
        for each in gone:
            if each is not None:
                await self._retire(each)  # only now, so that what both use is never given up in between

    async def _retire(self, box: _Box) -> None:
        if box.users:
            self._retired.add(box)
        else:
            await self._close(box)

    async def _close(self, box: _Box) -> None:
        self._retired.discard(box)
        await box.engine.aclose()

    def _meant(self, entry: ToolEntry) -> ToolEntry:
        """The entry with what the configuration says of its name; an unknown name is refused here."""
        named = self._named.get(entry.tool) if isinstance(entry.tool, str) else None
        if named is not None:
            said = {name: getattr(entry, name) for name in entry.model_fields_set - {"tool"}}
            return named.model_copy(update=said)
        if entry.enabled:
            self.registry.source(entry.tool)
        return entry
