"""Tools loaded from files, as the tests of the loader do it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceRegistry
from enfilade_sdk.errors import EnfiladeError

Write = Callable[[str, str], Path]


async def load(folder: Path, *entries: ToolEntry | str, limits: ToolLimits | None = None, **setting: Any) -> ToolEngine:
    """Loads entries that need not be there."""
    registry = SourceRegistry(folder, Threads(), **setting)
    wanted = [entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry) for entry in entries]
    return await load_tools(wanted, registry, limits)


async def reason(folder: Path, entry: ToolEntry | str, **setting: Any) -> str:
    """Why an entry could not be had: the same words in the report as in the error of one that is required."""
    engine = await load(folder, "calculator", entry, **setting)
    assert engine.names == ["calculator"]
    [refusal] = engine.report.refusals
    wanted = entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry)
    with pytest.raises(EnfiladeError) as caught:
        await load(folder, "calculator", wanted.model_copy(update={"required": True}), **setting)
    assert refusal.reason in caught.value.message
    assert refusal.code == caught.value.code.value
    assert refusal.origin in str(refusal)
    return caught.value.message


TOOLS = """
    def weather(city: str) -> str:
        "Tells the weather."
        return f"rain in {city}"

    async def tide(port: str) -> dict[str, str]:
        return {"port": port, "high": "06:10"}

    def _hidden() -> None: ...

    LIMIT = 3
"""
