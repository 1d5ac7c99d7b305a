"""Sets MCP servers up as a host does, and looks at what they were sent."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enfilade.isolation.companion import Companions
from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.mcp.kind import mcp_kind
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.registry import SourceRegistry, builtin_kinds
from enfilade.tools.tool import Changing, ToolSource

SCRIPT = str(Path(__file__).parent / "mcp_server")


def server(way: str, record: Path | None = None, **more: Any) -> McpSettings:
    """The settings of a server of our own that goes wrong in that way."""
    args = ("-u", SCRIPT, way, *([str(record)] if record is not None else []))
    return McpSettings(command=sys.executable, args=args, **more)


@asynccontextmanager
async def mcp_engine(
    servers: Mapping[str, McpSettings],
    *entries: ToolEntry | str,
    limits: ToolLimits | None = None,
    folder: Path | None = None,
) -> AsyncIterator[ToolEngine]:
    """An engine with the tools of servers; without entries, with all of each, and each is required."""
    with mcp_registry(servers, folder) as registry:
        wanted = [entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry, required=True) for entry in entries]
        wanted = wanted or [ToolEntry(tool=f"mcp:{name}", required=True) for name in servers]
        engine = await load_tools(wanted, registry, limits)
        try:
            yield engine
        finally:
            await engine.aclose()


class mcp_registry:  # noqa: N801 - used as a function
    """A registry that knows MCP servers; closed at the end of a block."""

    def __init__(self, servers: Mapping[str, McpSettings], folder: Path | None = None) -> None:
        kinds = [*builtin_kinds(), mcp_kind(Companions)]
        self._registry = SourceRegistry(folder or Path.cwd(), Threads(), kinds=kinds, sections={"mcp": servers})

    def __enter__(self) -> SourceRegistry:
        return self._registry

    def __exit__(self, *_: object) -> None:
        self._registry.close()


async def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Waits until something holds that another process brings about, such as a line in a file."""
    async with asyncio.timeout(seconds):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


def outdated(source: ToolSource) -> bool:
    """Whether a source says that its tools have changed."""
    assert isinstance(source, Changing)
    return source.outdated


@dataclass(frozen=True, slots=True)
class Record:
    """The file in which a server keeps what it was sent."""

    path: Path

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What it was sent so far."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def of(self, method: str) -> list[dict[str, Any]]:
        """Those of one method."""
        return [message for message in self.messages if message.get("method") == method]
