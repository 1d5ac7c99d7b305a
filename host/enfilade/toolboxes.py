"""The tool engines of a host: one for each set of tools, loaded when it is first used."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.loader import load_engine

KEPT = 64
"""Engines that are kept; the one unused for longest goes first."""


class Toolboxes:
    """Keeps an engine for each tuple of entries.

    Args:
        named: Entries of the configuration, by the name that agents use.
        given: Python functions or `Tool`s that agents may use by name.
    """

    def __init__(self, named: Mapping[str, ToolEntry], given: Sequence[Any] = ()) -> None:
        self._named = named
        self._given = given
        self._engines: OrderedDict[int, tuple[tuple[ToolEntry, ...], ToolEngine]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def engine(self, entries: tuple[ToolEntry, ...]) -> ToolEngine:
        """The engine of these entries.

        Raises:
            EnfiladeError: A tool that was asked for cannot be had.
        """
        kept = self._engines.get(id(entries))
        if kept is not None and kept[0] is entries:
            return kept[1]
        async with self._lock:
            engine = await load_engine(entries, named=self._named, given=self._given)
            self._engines[id(entries)] = (entries, engine)
            while len(self._engines) > KEPT:
                _, (_, oldest) = self._engines.popitem(last=False)
                await oldest.aclose()
        return engine

    async def close(self) -> None:
        """Closes every engine."""
        while self._engines:
            _, (_, engine) = self._engines.popitem()
            await engine.aclose()
