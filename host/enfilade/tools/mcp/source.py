"""Tools of an MCP server as a source."""

from collections.abc import Sequence

from enfilade.tools.functions.importing import ToolLoadError
from enfilade.tools.mcp.message import JsonObject
from enfilade.tools.mcp.server import Server
from enfilade.tools.mcp.servers import Servers
from enfilade.tools.mcp.tool import McpTool
from enfilade.tools.names import did_you_mean
from enfilade.tools.tool import Tool
from enfilade_sdk.errors import ToolNotFoundError


class McpSource:
    """All tools of a server, or those that were chosen.

    Args:
        servers: The servers of the host.
        name: The server's name.
        chosen: Names of tools; none chooses all.
    """

    def __init__(self, servers: Servers, name: str, chosen: Sequence[str] = ()) -> None:
        self.origin = f"mcp:{name}:{','.join(chosen)}" if chosen else f"mcp:{name}"
        self._servers = servers
        self._settings = servers.settings_of(name)
        self._name = name
        self._chosen = chosen
        self._server: Server | None = None
        self._edition: int | None = None

    @property
    def outdated(self) -> bool:
        """Whether loading it again may bring other tools: they have changed, or a server that failed may be tried."""
        if self._server is None:
            return False
        return self._server.may_start if self._edition is None else self._edition != self._server.edition

    async def load(self) -> list[Tool]:
        """Asks the server for its tools, and starts it where it does not run.

        Raises:
            EnfiladeError: It cannot be had, or lacks a tool that was chosen.
        """
        if self._server is None:
            self._server = self._servers.acquire(self._name)
        self._edition, described = await self._server.tools()
        if not described:
            raise ToolLoadError(f"the MCP server {self._name!r} has no tools")
        server, prefix, timeout = self._server, self._settings.prefix, self._settings.timeout
        return [McpTool(server, one, prefix, timeout) for one in self._wanted(described)]

    async def aclose(self) -> None:
        """Lets go of the server; it ends when nobody uses it."""
        server, self._server = self._server, None
        if server is not None:
            await self._servers.release(server)

    def _wanted(self, described: list[JsonObject]) -> list[JsonObject]:
        if not self._chosen:
            return described
        by_name = {one["name"]: one for one in described}
        for name in self._chosen:
            if name not in by_name:
                meant = did_you_mean(name, by_name) or f" It has: {', '.join(by_name)}"
                raise ToolNotFoundError(f"the MCP server {self._name!r} has no tool {name!r}.{meant}")
        return [by_name[name] for name in self._chosen]
