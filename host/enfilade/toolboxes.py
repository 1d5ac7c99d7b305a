"""The tool engines of a host: one for each set of tools, loaded when it is first used."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceKind, SourceRegistry
from enfilade.tools.threads import Threads

KEPT = 64
"""Engines that are kept; the one unused for longest goes first."""


class Toolboxes:
    """Keeps an engine for each tuple of entries.

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
        self.registry = SourceRegistry(Path.cwd(), Threads(limits.threads), kinds=kinds, sections=sections)
        self._engines: OrderedDict[int, tuple[tuple[ToolEntry, ...], ToolEngine]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def engine(self, entries: tuple[ToolEntry, ...]) -> ToolEngine:
        """The engine of these entries; what could not be loaded is in its report. Made anew where tools have changed.

        Raises:
            EnfiladeError: A name is unknown (near matches are named), two tools have one name, or a tool that is
                `required` cannot be had.
        """
        if (engine := self._current(entries)) is not None:
            return engine
        async with self._lock:
            if (engine := self._current(entries)) is not None:  # another one has made it meanwhile
                return engine
            engine = await load_tools([self._meant(entry) for entry in entries], self.registry, self._limits)
            await self._keep(entries, engine)
        return engine

    async def close(self) -> None:
        """Closes every engine."""
        while self._engines:
            _, (_, engine) = self._engines.popitem()
            with contextlib.suppress(Exception):  # a tool's clean-up must not keep the others from theirs
                await engine.aclose()
        self.registry.close()

    def _current(self, entries: tuple[ToolEntry, ...]) -> ToolEngine | None:
        kept = self._engines.get(id(entries))
        return kept[1] if kept is not None and kept[0] is entries and not kept[1].outdated else None

    async def _keep(self, entries: tuple[ToolEntry, ...], engine: ToolEngine) -> None:
        """Keeps the engine in the place of an older one. Runs that have the older one go on with its tools."""
        before = self._engines.pop(id(entries), None)
        self._engines[id(entries)] = (entries, engine)
        if before is not None:
            await before[1].aclose()  # only now, so that what both use is never given up in between
        while len(self._engines) > KEPT:
            _, (_, oldest) = self._engines.popitem(last=False)
            await oldest.aclose()

    def _meant(self, entry: ToolEntry) -> ToolEntry:
        """The entry with what the configuration says of its name; an unknown name is refused here."""
        named = self._named.get(entry.tool) if isinstance(entry.tool, str) else None
        if named is not None:
            said = {name: getattr(entry, name) for name in entry.model_fields_set - {"tool"}}
            return named.model_copy(update=said)
        if entry.enabled:
            self.registry.source(entry.tool)
        return entry
