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
    """

    def __init__(
        self,
        limits: ToolLimits,
        named: Mapping[str, ToolEntry],
        given: Sequence[Any] = (),
        kinds: Iterable[SourceKind] | None = None,
    ) -> None:
        self._limits = limits
        self._named = dict(named)
        for tool in given:
            entry = ToolEntry(tool=tool)
            self._named.setdefault(entry.label, entry)
        self.registry = SourceRegistry(Path.cwd(), Threads(limits.threads), kinds=kinds)
        self._engines: OrderedDict[int, tuple[tuple[ToolEntry, ...], ToolEngine]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def engine(self, entries: tuple[ToolEntry, ...]) -> ToolEngine:
        """The engine of these entries; what could not be loaded is in its report.

        Raises:
            EnfiladeError: A name is unknown (near matches are named), two tools have one name, or a tool that is
                `required` cannot be had.
        """
        kept = self._engines.get(id(entries))
        if kept is not None and kept[0] is entries:
            return kept[1]
        async with self._lock:
            engine = await load_tools([self._meant(entry) for entry in entries], self.registry, self._limits)
            self._engines[id(entries)] = (entries, engine)
            while len(self._engines) > KEPT:
                _, (_, oldest) = self._engines.popitem(last=False)
                await oldest.aclose()
        return engine

    async def close(self) -> None:
        """Closes every engine."""
        while self._engines:
            _, (_, engine) = self._engines.popitem()
            with contextlib.suppress(Exception):  # a tool's clean-up must not keep the others from theirs
                await engine.aclose()
        self.registry.close()

    def _meant(self, entry: ToolEntry) -> ToolEntry:
        """The entry with what the configuration says of its name; an unknown name is refused here."""
        named = self._named.get(entry.tool) if isinstance(entry.tool, str) else None
        if named is not None:
            said = {name: getattr(entry, name) for name in entry.model_fields_set - {"tool"}}
            return named.model_copy(update=said)
        if entry.enabled:
            self.registry.source(entry.tool)
        return entry
